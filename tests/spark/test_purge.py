"""A scenario is purged: its text is nowhere left, manifests verify, other numbers stay."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.errors import ConfigError, IntegrityError, LakeError, PolicyError
from medhelm_spark.lake.folder_maintenance import FolderMaintenance
from medhelm_spark.lake.lease import lease
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.reader import FileReader
from medhelm_spark.lake.staging import staged_name
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.notes.tables import AnswerNote
from medhelm_spark.ratings.tables import Rating
from tests.spark.conftest import Site

CANARY = "zebrafinch"
AGREEMENT = "DUA-2024-17"
RUBRIC = (
    "Score the answer.\n<rubric_criteria>\n"
    '{"accuracy": ["score", "explanation"]}\n'
    "</rubric_criteria>\nQuestion: {QUESTION}\nAnswer: {RESPONSE}\nGold: {GOLD_RESPONSE}"
)
JURY = {
    "name": "jury_score",
    "prompt_file": "judge.txt",
    "judges": [{"name": "acme/judge", "model_name": "acme/judge"}],
}
WAYS = ("in this process", "by Spark in a folder", "by Spark alone")


def ward(word: str) -> list[dict[str, str]]:
    """Notes with a word in every field that a benchmark can have."""
    return [
        {
            "id": f"{word}-{bed}",
            "question": f"The {word} of bed {bed} is well?",
            "correct_answer": f"{word} yes {bed}",
            "remark": f"seen by {word} {bed}",
            "unit": f"{word} unit {bed % 2}",
        }
        for bed in range(6)
    ]


class Purged:
    """A site with two scenarios and a release of both, whose lake is worked on in one way."""

    def __init__(self, site: Site, way: str, patch: pytest.MonkeyPatch) -> None:
        self.site, self.lake_path = site, site.lake_path
        for name, word in (("ward", CANARY), ("open", "calm")):
            self._benchmark(name, word)
        site.deploy("acme/echo", mode="echo")
        site.deploy("acme/judge", mode="judge", score=4, text=f"the {CANARY} is well said")
        self.entries = [
            f"medhelm_configurable_benchmark:config_path={site.folder}/{name}/benchmark.yaml,"
            "model=acme/echo"
            for name in ("ward", "open")
        ]
        assert site.run("-r", *self.entries) == 0
        self.evaluation = Evaluation(
            site.lake_path, site=site.folder / "prod_env", tracking=False, say=self._add_message
        )
        self.messages: list[str] = []
        self.manifest = self.evaluation.releases.publish("r1", "s").manifest_hash
        if way == WAYS[0]:
            for module in ("pipeline.in_process", "workspace.workspace"):
                patch.setattr(f"medhelm_spark.{module}.is_started", lambda: False)
            patch.delenv("MEDHELM_SPARK_SMALL_RUN_REQUESTS", raising=False)
        if way == WAYS[2]:
            patch.setattr(Location, "is_local", lambda *_: False)
        patch.setenv("MEDHELM_SPARK_CACHE", str(site.folder / "cache"))
        self.evaluation = Evaluation(
            site.lake_path, site=site.folder / "prod_env", tracking=False, say=self._add_message
        )

    def _benchmark(self, name: str, word: str) -> None:
        jury = {"metrics": ["exact_match", JURY], "judge_prompt": RUBRIC} if word == CANARY else {}
        self.site.benchmark(
            name,
            ward(word),
            template=f"Words of the {word}: {{question}} {{remark}}\nAnswer:",
            access_level="private" if word == CANARY else "public",
            groups=["unit"],
            cluster_column="remark",
            **jury,
        )

    def _add_message(self, line: str) -> None:
        self.messages.append(line)

    def purge(self, **more: Any) -> Any:
        return self.evaluation.lake.purge("ward", agreement=AGREEMENT, **more)

    def numbers(self, scenario: str | None = None) -> dict[str, Any]:
        cells = json.loads(self.evaluation.board("s").render("json"))["cells"]
        return {
            cell["scenario_name"]: (cell["mean"], cell["ci_low"], cell["ci_high"])
            for cell in cells
            if scenario in (None, cell["scenario_name"])
        }


@pytest.fixture(params=WAYS)
def purged(
    request: pytest.FixtureRequest, site: Site, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Purged]:
    yield Purged(site, request.param, monkeypatch)


def paths_with_word(folder: Path, word: str = CANARY) -> list[str]:
    """The files below a folder with a word in their bytes, their decoded rows or their names."""
    matches = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        texts = [path.name.encode(), path.read_bytes()]
        if path.suffix == ".parquet":
            try:
                texts.append(decoded(path).encode())
            except pa.ArrowInvalid:
                texts.append(b"")
        if any(word.encode() in text for text in texts):
            matches.append(str(path.relative_to(folder)))
    return matches


def tables_of(names: list[str]) -> set[str]:
    return {name.partition("/")[0] for name in names}


def runs_of(site: Site, scenario: str) -> set[str]:
    rows = [row["run_spec"] for row in site.rows("run_specs")]
    return {row["run_spec_id"] for row in rows if row["scenario_name"] == scenario}


def add_rest(site: Site) -> None:
    """Text in a rating, in an answer on its way into its table, and in what killed writers left."""
    lake = site.lake
    (spec,) = runs_of(site, "ward")
    key = next(row for row in site.rows("requests") if row["run_spec_id"] == spec)
    results = FileReader(str(site.lake_path)).query("SELECT * FROM {request_results}")
    rating = Rating(
        run_spec_id=spec,
        instance_id=key["instance_id"],
        trial_index=0,
        rater="rater-1",
        criterion="accuracy",
        value=4,
        comment=f"the {CANARY} is fine",
        access_level=AccessLevel.PRIVATE,
        rated_at=datetime.now(UTC),
        source="queue",
    )
    lake.append_rows("ratings", [rating], "w1")
    note = AnswerNote(
        run_spec_id=spec,
        instance_id=key["instance_id"],
        train_trial_index=0,
        trial_index=0,
        flags=("harmful",),
        text=f"the {CANARY} again",
        access_level=AccessLevel.PRIVATE,
        noted_at=rating.rated_at,
    )
    lake.append_rows("answer_notes", [note], "w1")
    column_index = results.column_names.index("write_id")
    staged = results.slice(0, 1).set_column(column_index, "write_id", pa.array(["w2"]))
    staged_folder = Path(lake.staging.location_of(staged_name("s", "gone", "w2")))
    staged_folder.mkdir(parents=True)
    pq.write_table(staged, staged_folder / "part-0.parquet")
    folder = site.lake_path / "prompts"
    part_file = next(
        path for path in folder.glob("*.parquet") if CANARY in json.dumps(decoded(path))
    )
    (folder / "part-0-orphan.snappy.parquet").write_bytes(part_file.read_bytes())
    (folder / "part-0-torn.snappy.parquet").write_bytes(f"PAR1 {CANARY}".encode())


def decoded(path: Path) -> str:
    return json.dumps(pq.read_table(path).to_pylist(), default=str)


@pytest.mark.attack("purge", "the purged text, byte by byte below lake, MLflow and caches")
def test_no_byte_of_the_text_is_left_and_every_manifest_verifies(purged: Purged) -> None:
    site = purged.site
    add_rest(site)
    purged.evaluation.lake.optimize()
    others = [row for row in site.rows("instances") if row["scenario_name"] == "open"]
    numbers = purged.numbers()
    tables_with_text = {table for table in TABLES if TABLES[table].has_text} & tables_of(
        paths_with_word(site.lake_path)
    )
    assert tables_with_text == {
        *("instances", "prompts", "request_results", "annotations", "ratings"),
        *("answer_notes", "instance_groups"),
    }
    assert "stats_by_group" in tables_of(paths_with_word(site.lake_path)), "the names of groups"
    assert purged.evaluation.releases.verify("r1") == purged.manifest

    purge_record = purged.purge()

    assert paths_with_word(site.lake_path) == []
    assert paths_with_word(site.folder / "cache") == []
    assert purge_record.finished_at and purge_record.removed["instances"] == 6
    assert any(
        "6 rows of instances: hashes of the cluster column" in e for e in purge_record.unreached
    )
    purged.messages.clear()
    assert purged.evaluation.releases.verify("r1") == purged.manifest
    assert any(f"purged under agreement {AGREEMENT} on" in line for line in purged.messages)
    assert purged.numbers() == numbers
    assert [row for row in site.rows("instances") if row["scenario_name"] == "open"] == others
    assert purged.evaluation.lake.purges() == [purge_record]
    group_values = {row["group_value"] for row in site.rows("stats_by_group")}
    assert sum(purge_record.note in name for name in group_values) == 2, "groups stay apart"
    (text,) = {row["input"] for row in site.rows("instances") if row["scenario_name"] == "ward"}
    assert text == purge_record.note
    assert (
        DeltaTable(str(site.lake_path / "prompts")).metadata().configuration["delta.appendOnly"]
        == "true"
    )


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("instances", {"input": "'forged'"}),
        ("request_results", {"destination": "'elsewhere:1'"}),
        ("run_specs", {"locality": "'tenant'"}),
        ("tombstones", {"digest": "replaced_by"}),
    ],
)
@pytest.mark.attack("purge", "a row changed where a purge has replaced text")
def test_what_is_changed_after_the_purge_is_named(
    table: str, change: dict[str, str], site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    purged = one(site, monkeypatch)
    purged.purge()
    DeltaTable(str(site.lake_path / table)).alter.set_table_properties(
        {"delta.appendOnly": "false"}
    )
    DeltaTable(str(site.lake_path / table)).update(change)
    with pytest.raises(IntegrityError, match="instances" if table == "tombstones" else table):
        purged.evaluation.releases.verify("r1")


def test_a_dry_run_changes_nothing_and_says_what_would_go(purged: Purged) -> None:
    before = {path: path.stat().st_mtime_ns for path in purged.lake_path.rglob("*")}
    described = purged.purge(dry_run=True)
    assert described.finished_at is None and described.removed["prompts"] == 12
    assert "purge: instances: would remove the text of 6 rows" in purged.messages
    assert {path: path.stat().st_mtime_ns for path in purged.lake_path.rglob("*")} == before
    assert purged.evaluation.lake.purges() == []


def one(site: Site, monkeypatch: pytest.MonkeyPatch) -> Purged:
    return Purged(site, WAYS[0], monkeypatch)


@pytest.mark.parametrize("step", [0, 3, 6, 9])
def test_a_purge_that_was_killed_is_finished_by_the_same_command(
    step: int, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    purged = one(site, monkeypatch)
    steps = []

    def counting(name: str) -> None:
        method = getattr(FolderMaintenance, name)

        def counted(self: Any, *args: Any, **more: Any) -> Any:
            steps.append(name)
            if len(steps) > step:
                raise KeyboardInterrupt
            return method(self, *args, **more)

        patch.setattr(FolderMaintenance, name, counted)

    with monkeypatch.context() as patch:
        for name in ("replace", "forget"):
            counting(name)
        with pytest.raises(KeyboardInterrupt):
            purged.purge()
    (begun,) = purged.evaluation.lake.purges()
    assert begun.finished_at is None
    with pytest.raises(PolicyError, match="purged from this lake under agreement"):
        purged.evaluation.run(purged.entries[0], suite="s")
    with pytest.raises(ConfigError, match="was purged under agreement 'DUA-2024-17'"):
        purged.evaluation.lake.purge("ward", agreement="another")
    purge_record = purged.purge()
    assert purge_record.purge_id == begun.purge_id and purge_record.finished_at
    assert paths_with_word(site.lake_path) == []
    assert purged.evaluation.releases.verify("r1") == purged.manifest


@pytest.mark.attack("purge", "purged data brought into the lake again")
def test_what_was_purged_is_not_run_again_and_the_rest_is(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    purged = one(site, monkeypatch)
    numbers = purged.numbers()
    purged.purge()
    with pytest.raises(PolicyError, match="scenario 'ward' was purged from this lake"):
        purged.evaluation.run(purged.entries[0], suite="s")
    assert purged.evaluation.run(purged.entries[1], suite="s").model_calls == 0
    purged.evaluation.summarize("s")
    assert purged.numbers() == numbers
    assert purged.evaluation.releases.publish("r1", "s").manifest_hash == purged.manifest
    assert purged.purge().finished_at, "a second time there is nothing to do"


def test_text_that_other_data_has_too_stays_and_is_named(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    purged = one(site, monkeypatch)
    purged._benchmark("copy", CANARY)
    entry = purged.entries[0].replace("/ward/", "/copy/")
    assert site.run("-r", entry) == 0
    before = [row for row in site.rows("instances") if row["scenario_name"] == "copy"]
    purge_record = purged.purge()
    assert any("whose prompt runs on other data ask too" in each for each in purge_record.unreached)
    assert [row for row in site.rows("instances") if row["scenario_name"] == "copy"] == before
    assert purged.evaluation.releases.verify("r1") == purged.manifest
    purged.evaluation.lake.purge("copy", agreement=AGREEMENT)
    assert tables_of(paths_with_word(site.lake_path)) <= {"prompts", "request_results"}


def test_a_run_at_work_stops_the_purge_before_a_text_goes(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    purged = one(site, monkeypatch)
    before = paths_with_word(site.lake_path)
    with (
        lease(site.lake, "s", ["acme/echo"], "elsewhere:1:x"),
        pytest.raises(LakeError, match="another driver"),
    ):
        purged.purge()
    assert paths_with_word(site.lake_path) == before


@pytest.mark.parametrize("is_moved", [False, True], ids=["where it was made", "behind a link"])
def test_shares_with_public_texts_go_and_what_was_handed_on_is_named(
    is_moved: bool, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    purged = one(site, monkeypatch)
    policy = site.folder / "prod_env" / "policy.yaml"
    policy.write_text("audiences: [{name: press, content: texts}, {name: lab, content: scores}]\n")
    evaluation = Evaluation(
        site.lake_path, site=site.folder / "prod_env", tracking=False, say=purged._add_message
    )
    for audience in ("press", "lab"):
        evaluation.sharing.share("r1", audience, site.folder / audience)
    assert paths_with_word(site.folder / "press", "calm")
    if is_moved:
        (site.folder / "press").rename(site.folder / "disk")
        (site.folder / "press").symlink_to(site.folder / "disk")
    dry = evaluation.lake.purge("ward", agreement=AGREEMENT, dry_run=True)
    assert not any("press" in each for each in dry.unreached), "no share has private text"
    assert "folders of shares" not in dry.removed
    assert {row["is_here"] for row in evaluation.sharing.list().rows()} == {True}
    purge_record = evaluation.lake.purge("open", agreement=AGREEMENT)
    assert [row["is_here"] for row in evaluation.sharing.list().rows()] == [True, False]
    assert any(
        "of release_changes: notes, conditions and owners" in e for e in purge_record.unreached
    )
    assert not (site.folder / "press").exists() and (site.folder / "lab").exists()
    assert not (site.folder / "disk").exists()
    assert purge_record.removed["folders of shares"] == 1
    (message,) = [each for each in purge_record.unreached if "press" in each]
    assert "of release r1" in message
    assert paths_with_word(site.lake_path, "calm") == []
    assert evaluation.releases.verify("r1") == purged.manifest


def test_downloads_of_the_scenario_leave_the_cache(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    from medhelm_spark.domain.scenario import Pin

    purged = one(site, monkeypatch)
    data = site.folder / "cache" / "data"
    for digest, text in (("a" * 64, CANARY), ("b" * 64, "calm")):
        (data / digest).mkdir(parents=True)
        (data / digest / "data.csv").write_text(text)
        name = "ward" if text == CANARY else "open"
        pin = Pin(
            address=f"https://data.example.org/{name}.csv",
            pin=digest,
            scenario_name=name,
            pinned_at=datetime.now(UTC),
        )
        site.lake.append_rows("pins", [pin], digest)
    purge_record = purged.purge()
    assert purge_record.removed["files and folders in caches"] == 1
    assert not (data / ("a" * 64)).exists() and (data / ("b" * 64) / "data.csv").is_file()


def test_runs_in_mlflow_go_for_good(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlflow import MlflowClient

    purged = one(site, monkeypatch)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    evaluation = Evaluation(site.lake_path, site=site.folder / "prod_env", say=purged._add_message)
    evaluation.tracking.log(suite="s")
    uri = f"sqlite:///{site.lake_path}/mlflow.db"
    client = MlflowClient(uri)
    runs = runs_of(site, "ward")
    (tracked,) = {
        row["mlflow_run_id"] for row in site.rows("mlflow_runs") if row["run_spec_id"] in runs
    }
    client.log_text(tracked, f"a person's own file of the {CANARY}", "notes.txt")
    client.set_tag(tracked, "mine", f"a tag of the {CANARY}")
    artefacts = Path(client.get_run(tracked).info.artifact_uri.removeprefix("file://"))
    assert paths_with_word(artefacts) and paths_with_word(site.lake_path)
    purge_record = evaluation.lake.purge("ward", agreement=AGREEMENT)
    assert purge_record.removed["runs in MLflow"] == 1
    assert not artefacts.exists() or paths_with_word(artefacts) == []
    assert paths_with_word(site.lake_path) == [], "SQLite's free pages have nothing of it"
    before = len(client.search_runs([e.experiment_id for e in client.search_experiments()]))
    evaluation.tracking.log(suite="s")
    after = len(client.search_runs([e.experiment_id for e in client.search_experiments()]))
    assert after == before + 1 and paths_with_word(site.lake_path) == []


def test_the_command_asks_for_a_word_that_confirms(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    purged = one(site, monkeypatch)
    flags = ["-o", str(site.lake_path), "--local-path", str(site.folder / "prod_env")]
    words = ["scenarios", "purge", "ward", "--agreement", AGREEMENT]
    assert main([*words, *flags]) == 1
    assert "--yes removes it" in capsys.readouterr().err
    assert main([*words, "--yes", "--dry-run", *flags]) == 1
    assert main(["scenarios", "purge", "warden", "--agreement", "x", "--yes", *flags]) == 1
    assert "Did you mean 'ward'" in capsys.readouterr().err
    assert paths_with_word(site.lake_path)
    words[2] = "WARD"  # a name counts whatever its capitals are
    assert main([*words, "--yes", *flags]) == 0
    assert f"purged under agreement {AGREEMENT} on" in capsys.readouterr().out
    assert paths_with_word(site.lake_path) == []
    assert main(["scenarios", "purged", *flags]) == 0
    assert AGREEMENT in capsys.readouterr().out
    del purged
