"""Every stage touches the tables that it declares, all of them and no others."""

import json
import re
from collections import defaultdict

import pytest

from medhelm_spark.cli import main
from medhelm_spark.config.resources import conf_path
from medhelm_spark.domain.stages import (
    ASSIGN_GROUPS,
    GC,
    INFER,
    PUBLISH,
    PURGE,
    RECORD_PROVENANCE,
    STAGES,
    TRACK,
    WATCH,
    Stage,
)
from medhelm_spark.errors import LakeError
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.tables import TABLES
from tests.exports import instance, write_export
from tests.helm_folder import run_spec, state, values, write_run
from tests.spark.conftest import PUBLIC, Site, questions

RUBRIC = '<rubric_criteria>{"clarity": ["score"]}</rubric_criteria>\n{RESPONSE} to {QUESTION}'
JURY = {
    "name": "jury_score",
    "prompt_file": "judge.txt",
    "judges": [{"name": "acme/judge", "model_name": "acme/judge"}],
}


METRICS = ["exact_match", JURY]
PUBMED = "pubmed_qa"
UNREACHABLE = "http://127.0.0.1:9/data.json"
KINDS = ("reads", "writes")


@pytest.mark.core
@pytest.mark.long
def test_the_tables_of_every_stage(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    touched: dict[tuple[str, str], set[str]] = defaultdict(set)
    refuse = Lake._refuse_undeclared

    def refuse_and_note(lake: Lake, table: str, does: str, declared: str) -> None:
        if lake._stage:
            touched[lake._stage.name, declared].add(table)
        refuse(lake, table, does, declared)

    monkeypatch.setattr(Lake, "_refuse_undeclared", refuse_and_note)
    site.deploy("acme/judge", mode="judge", score=4)
    model = site.deploy("acme/yes", text="yes")
    rows = [*questions(4), {"id": "", "question": "Bad?", "correct_answer": "yes"}]
    rows = [{**row, "ward": "north"} for row in rows]
    bench = site.benchmark("bench", rows, metrics=METRICS, judge_prompt=RUBRIC, groups=["ward"])
    absent = "ward@medhelm-0.8:model=acme/yes"
    entry = f"{bench},model={model},data_augmentation=misspelling_mild"
    assert site.run("-r", entry, absent) in (3, 6)
    card = conf_path("scenarios", "pubmed_qa.yaml").read_text()
    cards = site.folder / "prod_env" / "scenarios"
    cards.mkdir()
    general = "metrics:\n  - name: general_information\n"
    (cards / "pubmed_qa.yaml").write_text(card.replace("metrics:\n", general))
    pubmed = str(conf_path("demos", "pubmed_style", "ori_pqal_demo.json"))
    elsewhere = re.sub(
        r"url: .*\n\s*sha256: .*", f"url: {UNREACHABLE}", card.replace(PUBMED, "elsewhere")
    )
    (cards / "elsewhere.yaml").write_text(elsewhere)
    assert site.run("-r", f"elsewhere:model={model}") == 1, "it has an address, and no hash"
    assert site.run("-r", f"pubmed_qa:model={model}", "-m", "2", "--source", pubmed, *PUBLIC) == 0
    outside = site.deploy("acme/outside", locality="tenant", text="no")
    assert site.run("-r", f"pubmed_qa:model={outside}", "-m", "1", command="infer") == 0
    answers = site.folder / "answers.jsonl"
    answers.write_text(json.dumps({"source_id": "q1", "completion": "yes"}) + "\n")
    site.run("-r", f"{bench},model=team/m", "--file", str(answers), command="import-responses")
    flags = ["-o", str(site.lake_path), "--local-path", str(site.folder / "prod_env")]
    check = ["judge", "check", "--scenario", "bench", "--items", "2", "--suite", "s"]
    assert main([*check, "-r", entry, *flags]) in (8, 9)
    export = write_export(site.folder / "ward.jsonl", [instance(0)])
    assert main(["import-scenario", "--file", str(export), *flags]) == 0
    judged = {"bench": {"acme/judge": {"clarity": {"score": 3, "explanation": ""}}}}
    results = site.folder / "helm"
    write_run(
        results,
        name="bench:model=team_m",
        spec=run_spec("bench:model=team_m", groups=["bench"]),
        states=[state("id0", annotations=judged)],
        per_instance_stats=[values("id0", exact_match=1.0)],
    )
    for _ in range(2):
        assert site.run(str(results), command="import-helm") == 0
    assert site.run("for_helm", command="export-helm") == 0
    lower = ["level", "lower", "--scenario", "ward@medhelm-0.8", "--to", "gated", "--reason", "r"]
    assert main([*lower, *flags]) == 0
    release = ["publish", "--suites", "s", "--release", "r", "--no-tracking", *flags]
    assert main(release) == 0
    assert main(["release", "submit", "r", *flags]) == 0
    # gc touches what was made again long ago (test_maintenance.py), track what was logged to MLflow
    # (test_three_places.py); purge, watch and provenance have tests of their own, and a lake with a
    # path stores its leases in files.
    elsewhere_run = (GC, TRACK, PURGE, WATCH, RECORD_PROVENANCE)
    stages = [stage for stage in STAGES if stage not in elsewhere_run]
    declared = {(stage.name, kind): set(getattr(stage, kind)) for stage in stages for kind in KINDS}
    declared[INFER.name, "reads"].remove("leases")
    declared[INFER.name, "writes"].remove("leases")
    declared[PUBLISH.name, "reads"].remove("purges")  # nothing is purged here
    # What an address without a hash gave is asked where data with groups came from one.
    declared[ASSIGN_GROUPS.name, "reads"].remove("pins")
    # The ledger of all stages is read from `runs` once, before any of them.
    for name, kind in declared:
        if kind == "reads" and "runs" in declared[name, kind]:
            touched[name, kind].add("runs")
    assert {key: touched[key] for key in declared} == declared


def test_a_table_that_is_not_declared_is_refused(site: Site) -> None:
    stage = Stage(name="probe", version="1", about="Reads runs.", reads=("runs",), writes=())
    lake = site.lake.within(stage)
    assert lake.read("runs").isEmpty()
    with pytest.raises(LakeError, match="stage 'probe' reads 'instances' and does not declare it"):
        lake.read("instances")
    with pytest.raises(LakeError, match="stage 'probe' writes 'runs'"):
        lake.append_rows("runs", [], "w")


def test_stages_name_tables_that_there_are() -> None:
    assert {table for stage in STAGES for table in (*stage.reads, *stage.writes)} <= set(TABLES)
