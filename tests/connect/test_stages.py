"""All stages but vLLM's through Spark Connect: the tables and stats of a classic session."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from deltalake import write_deltalake

from medhelm_spark.config.resources import conf_path
from medhelm_spark.domain.ids import canonical_json
from medhelm_spark.lake.reader import FileReader
from medhelm_spark.lake.tables import TABLES
from tests.connect.conftest import program, typed
from tests.exports import instance, write_export
from tests.helm_folder import run_spec, state, values, write_run
from tests.spark.conftest import PUBLIC, Site, questions
from tests.spark.many_writes import UNITS
from tests.unit.scenarios.histories import ehrshot

pytestmark = pytest.mark.timeout(2600)
"""For two processes, each of `conftest.SECONDS` at most."""

RUBRIC = '<rubric_criteria>{"clarity": ["score"]}</rubric_criteria>\n{RESPONSE} to {QUESTION}'
JURY = {
    "name": "jury_score",
    "prompt_file": "judge.txt",
    "judges": [{"name": "acme/judge", "model_name": "acme/judge"}],
}
# What no two runs have alike: times, and names that are drawn or made of those. Versions count
# commits, of which Spark makes others than the driver does.
DRAWN = re.compile(
    r".*_at|(stats_)?write_id|writes|request_time|executor|holder|engine_start|fingerprint"
    r"|manifest_hash|delta_versions"
)
# In a map: hashes of rows that contain a time, and times themselves.
DRAWN_KEYS = re.compile(r"run_specs|request_results|(.*_)?milliseconds")
WHEN_ASKED = re.compile(r'"request_datetime": \d+')


def letters(folder: Path) -> str:
    """A benchmark on a Delta folder beside it; returns its run entry."""
    rows = {"letter_id": [1, 2, 3], "note": ["One.", "Two.", "Three."], "urgent": [True] * 3}
    write_deltalake(folder / "letters", pa.table(rows))
    (folder / "prompt.txt").write_text("{note}\nUrgent?")
    config = {
        "name": "LETTERS",
        "description": "Made for a test.",
        "prompt_file": "prompt.txt",
        "dataset_file": "table:./letters",
        "columns": {"id": "letter_id", "correct_answer": "urgent"},
        "access_level": "public",
        "metrics": [{"name": "exact_match"}],
    }
    (folder / "benchmark.yaml").write_text(yaml.safe_dump(config))
    return f"medhelm_configurable_benchmark:config_path={folder / 'benchmark.yaml'}"


def prepared(site: Site) -> dict[str, str]:
    """Models, data and files of the site; entries by what they are."""
    site.deploy("acme/judge", mode="judge", score=4)
    site.deploy("acme/yes", text="yes")
    site.deploy("acme/choice", mode="choice", choices=["yes", "no"])
    rows = questions(9, lambda i: "yes" if i % 3 else "no")
    rows.append({"id": "", "question": "Bad?", "correct_answer": "yes"})
    bench = site.benchmark("bench", rows, metrics=["exact_match", JURY], judge_prompt=RUBRIC)
    ehrshot(site.folder / "ehrshot", 5)
    (site.folder / "tables").mkdir()
    answers = [{"source_id": f"q{i}", "completion": "yes"} for i in range(9)]
    lines = (f"{json.dumps(answer)}\n" for answer in answers)
    (site.folder / "answers.jsonl").write_text("".join(lines))
    write_export(site.folder / "ward.jsonl", [instance(number) for number in range(3)])
    judged = {"bench": {"acme/judge": {"clarity": {"score": 3, "explanation": ""}}}}
    write_run(
        site.folder / "helm",
        name="bench:model=team_m",
        spec=run_spec("bench:model=team_m", groups=["bench"]),
        states=[state("id0", annotations=judged)],
        per_instance_stats=[values("id0", exact_match=1.0)],
    )
    return {
        "bench": bench,
        "letters": letters(site.folder / "tables"),
        "histories": f"ehrshot:subject=guo_los,data_path={site.folder / 'ehrshot'}",
    }


def commands(site: Site, entries: dict[str, str], lake: str) -> list[list[str]]:
    """Everything that a site does, on one lake."""
    paths = ["-o", lake, "--local-path", str(site.folder / "prod_env")]
    quiet = ["--no-tracking"]
    bench = f"{entries['bench']},model=acme/choice,data_augmentation=misspelling_mild"
    letters_entry = f"{entries['letters']},model=acme/choice"
    run = ["run", "-r", bench, letters_entry, "--suite", "s", *PUBLIC, *paths, *quiet]
    histories = ["run", "-r", f"{entries['histories']},model=acme/choice", "--suite", "histories"]
    staged = ["-r", f"{entries['bench']},model=acme/yes", "--suite", "staged", *paths]
    answers = ["-r", f"{entries['bench']},model=team/m", "--suite", "staged"]
    answers += ["--file", str(site.folder / "answers.jsonl")]
    pubmed = str(conf_path("demos", "pubmed_style", "ori_pqal_demo.json"))
    ward = "ward@medhelm-0.8"
    as_json = ["--format", "json", "--output-file"]
    return [
        run,
        run,
        [*histories, *paths, *quiet],
        ["ingest", "--scenario", "pubmed_qa", "--source", pubmed, *PUBLIC, *paths],
        *([stage, *staged] for stage in ("plan", "infer", "annotate", "score")),
        ["summarize", "--suite", "staged", *paths, *quiet],
        ["import-responses", *answers, *paths, *quiet],
        ["import-scenario", "--file", str(site.folder / "ward.jsonl"), *paths],
        ["run", "-r", f"{ward}:model=acme/yes", "--suite", "ward", *paths, *quiet],
        ["level", "lower", "--scenario", ward, "--to", "gated", "--reason", "r", *paths],
        ["import-helm", str(site.folder / "helm"), "--suite", "helm", *PUBLIC, *paths, *quiet],
        ["export-helm", f"{lake}-helm", "--suite", "s", *paths],
        ["publish", "--suites", "s", "staged", "--release", "r", *paths, *quiet],
        ["release", "verify", "r", *paths],
        ["leaderboard", "--suite", "s", *as_json, f"{lake}-board.json", *paths],
        ["compare", "--models", "acme/yes", "team/m", "--suite", "staged", *as_json,
         f"{lake}-compared.json", *paths],
    ]  # fmt: skip


def rows(lake: Path, table: str) -> Iterator[str]:
    """The rows of a table in a fixed order, each as text, without what no two runs have alike."""
    for row in FileReader(str(lake)).query(f"SELECT * FROM {{{table}}}").to_pylist():
        for name in {"counts", "value_hashes"} & row.keys():
            pairs = row[name] or ()
            row[name] = [(key, value) for key, value in pairs if not DRAWN_KEYS.fullmatch(key)]
        if row.get("stage", "").startswith("infer"):
            row["unit_id"] = row["unit_id"].partition("|")[0]  # the rest names a write
        yield canonical_json({key: plain(value) for key, value in row.items() if not is_drawn(key)})


def is_drawn(column: str) -> bool:
    return DRAWN.fullmatch(column) is not None


def plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | bool | int | float) else repr(value)


def written_files(lake: Path) -> dict[str, str]:
    """What was written beside a lake: exported runs, the board, a comparison."""
    files = [path for path in lake.parent.rglob("*.json") if path.is_relative_to(f"{lake}-helm")]
    files += sorted(lake.parent.glob(f"{lake.name}-*.json"))
    return {
        str(path).replace(str(lake), "LAKE"): WHEN_ASKED.sub("", path.read_text()) for path in files
    }


def test_every_stage_writes_what_it_writes_in_a_classic_session(site: Site, server: str) -> None:
    entries = prepared(site)
    lakes = {"classic": {}, "connect": {"SPARK_REMOTE": server}}
    classic, connect = (
        typed(site, commands(site, entries, str(site.folder / name)), variables)
        for name, variables in lakes.items()
    )
    assert connect.codes == classic.codes, connect.output[-6000:]
    assert not any(classic.codes), classic.output[-6000:]
    differing = {}
    for table in TABLES:
        first, second = (sorted(rows(site.folder / name, table)) for name in lakes)
        if table == "leases":  # a classic session has them in files
            assert second and not first
        elif first != second:
            differing[table] = (set(first) - set(second), set(second) - set(first))
    assert not differing
    assert written_files(site.folder / "connect") == written_files(site.folder / "classic")


def test_a_thousand_units_of_as_many_writes_are_found(site: Site, server: str) -> None:
    remote = {"SPARK_REMOTE": server}
    done = program(site, "tests.spark.many_writes", str(site.folder / "lake"), variables=remote)
    assert done.stdout.split() == [str(UNITS)], done.stderr[-4000:]


def test_a_session_that_refuses_nearly_all_settings_works(site: Site, server: str) -> None:
    site.deploy("acme/yes", text="yes")
    entry = site.benchmark("bench", questions(4, lambda n: "yes" if n else "no"))
    paths = ["-o", str(site.lake_path), "--local-path", str(site.folder / "prod_env")]
    run = ["run", "-r", f"{entry},model=acme/yes", "--suite", "s", *paths, "--no-tracking"]
    export = ["export-helm", str(site.folder / "exported"), "--suite", "s", *paths]
    done = typed(site, [run, export], {"SPARK_REMOTE": server}, by="tests.connect.serverless")
    assert done.codes == [0, 0], done.output
    assert "CONFIG_NOT_AVAILABLE" not in done.output
    # The time zone is taken, and nothing follows from the others.
    assert "session refuses" not in done.output
    (cell,) = site.board()
    assert (cell["mean"], cell["count"]) == (0.75, 4)


def test_tasks_that_end_are_shown_while_a_job_runs(site: Site, server: str) -> None:
    done = program(site, "tests.connect.progress", variables={"SPARK_REMOTE": server})
    drawn = re.findall(r"infer: (\d+) of (\d+) tasks", done.stdout)
    assert drawn, done.stdout + done.stderr[-4000:]
    assert all(int(completed) < int(total) for completed, total in drawn)
