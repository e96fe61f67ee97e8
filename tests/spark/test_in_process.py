"""A small run that this process computes has every row that Spark computes, without Spark."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from medhelm_spark.lake.in_process import LocalFrame, LocalFrames, hash_of
from medhelm_spark.lake.reader import FileReader
from medhelm_spark.lake.session import Session
from medhelm_spark.lake.tables import TABLES
from tests.spark.conftest import PUBLIC, Site, questions
from tests.spark.test_sampling import ROWS, wards, write_csv

OF_THE_MOMENT = {
    "write_id", "started_at", "finished_at", "completed_at", "planned_at", "decided_at",
    "request_time", "engine_start", "executor", "first_at", "last_at", "counts", "spark_version",
    "claimed_at", "expires_at",
}  # fmt: skip
"""The columns that two runs of the same never have alike."""


RUBRIC = (
    "Score the answer.\n<rubric_criteria>\n"
    '{"accuracy": ["score", "explanation"], "clarity": ["score", "explanation"]}\n'
    "</rubric_criteria>\nQuestion: {QUESTION}\nAnswer: {RESPONSE}\nGold: {GOLD_RESPONSE}"
)


def rows_of_lake(lake: Path) -> dict[str, list[str]]:
    """All rows of a lake by table, in order, without what is of the moment."""
    reader = FileReader(str(lake))
    return {
        name: sorted(map(_text, reader.query(f"SELECT * FROM {{{name}}}").to_pylist()))
        for name in TABLES
        if name not in ("leases", "disclosures")
    }


def _text(row: dict[str, Any]) -> str:
    if row.get("stage", "").startswith("infer"):
        row = {"stage": row["stage"], "requests": dict(row["counts"])["requests"]}
    if "stage" in row:  # a fingerprint has the names of writes
        row = {**row, "fingerprint": ""}
    stable_values = {key: value for key, value in row.items() if key not in OF_THE_MOMENT}
    return json.dumps(stable_values, sort_keys=True, default=str)


@pytest.fixture
def both(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> "Both":
    return Both(site, tmp_path, monkeypatch)


class Both:
    """A site whose commands are run by Spark and by this process, each in a lake of its own."""

    def __init__(self, site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.site, self._monkeypatch = site, monkeypatch
        self._lakes = {True: folder / "here", False: folder / "by-spark"}

    def run(self, *arguments: str, code: int = 0, command: str = "run") -> None:
        """Run a command both ways; Spark is not touched by the one of this process."""
        assert self._run(arguments, command, is_in_process=False) == code
        with self._monkeypatch.context() as patch:
            for module in ("pipeline.in_process", "workspace.workspace"):
                patch.setattr(f"medhelm_spark.{module}.is_started", lambda: False)
            patch.setattr(Session, "spark", property(_refused))
            patch.delenv("MEDHELM_SPARK_SMALL_RUN_REQUESTS")
            assert self._run(arguments, command, is_in_process=True) == code

    def _run(self, arguments: tuple[str, ...], command: str, *, is_in_process: bool) -> int:
        link = self.site.lake_path
        link.unlink(missing_ok=True)
        self._lakes[is_in_process].mkdir(exist_ok=True)
        link.symlink_to(self._lakes[is_in_process])
        return self.site.run(*arguments, command=command)

    def rows(self) -> Iterator[tuple[str, list[str], list[str]]]:
        """Of every table the rows of this process and of Spark."""
        in_process, by_spark = (rows_of_lake(self._lakes[each]) for each in (True, False))
        for name in in_process:
            yield name, in_process[name], by_spark[name]

    def check(self) -> None:
        """Every table has the same rows."""
        for name, in_process, by_spark in self.rows():
            assert in_process == by_spark, name
        counts = {name: len(in_process) for name, in_process, _ in self.rows()}
        assert min(counts["stats"], counts["per_instance_stats"], counts["request_results"]) >= 3


def _refused(_: Session) -> SparkSession:
    raise AssertionError("Spark was asked")


def rows(count: int) -> list[dict[str, str]]:
    base_rows = questions(count, lambda i: "yes" if i % 3 else "no")
    return [
        {**row, "patient": f"p{i * i % 7}", "ward": f"w{i % 2}"} for i, row in enumerate(base_rows)
    ]


def test_classes_clusters_and_repeats(both: Both) -> None:
    args = {"labels": "yes|no", "positive": "yes", "costs": "yes>no=10"}
    entry = both.site.benchmark(
        "letters",
        rows(24),
        metrics=[
            "exact_match",
            {"name": "diagnostic_accuracy", "args": args},
            {"name": "classification", "args": {"labels": "yes|no"}},
        ],
        cluster_column="patient",
    )
    both.site.deploy("acme/a", mode="choice", choices=["yes", "no", "perhaps"])
    both.run("-r", f"{entry},model=acme/a", f"{entry},num_trials=3,model=acme/a")
    both.check()


def test_groups_of_clusters_and_repeats(both: Both) -> None:
    entry = both.site.benchmark(
        "letters",
        rows(24),
        template="Does he agree? {question}",
        metrics=[
            "exact_match",
            {"name": "classification", "args": {"labels": "yes|no"}},
            {"name": "diagnostic_accuracy", "args": {"labels": "yes|no", "positive": "yes"}},
        ],
        cluster_column="patient",
        groups=["ward"],
    )
    both.site.deploy("acme/a", mode="choice", choices=["yes", "no", "perhaps"])
    twins = "model=acme/a,data_augmentation=fairness"
    both.run("-r", f"{entry},model=acme/a", f"{entry},num_trials=3,{twins}")
    both.check()
    grouped = next(in_process for name, in_process, _ in both.rows() if name == "stats_by_group")
    assert len(grouped) > 4
    assert any("perturbation:gender" in row for row in grouped)
    tested = [json.loads(row) for row in grouped if '"sensitivity"' in row]
    assert {row["group_column"] for row in tested if row["adjusted_p"]} == {"ward"}


def test_perturbed_copies_and_prompt_variants(both: Both) -> None:
    entry = both.site.benchmark(
        "bench",
        rows(12),
        template="{question}",
        metrics=["exact_match", {"name": "classification", "args": {"labels": "yes|no"}}],
        prompt_variants=[{"name": "short", "prompt_file": "short.txt"}],
    )
    (both.site.folder / "bench" / "short.txt").write_text("In one word: {question}")
    both.site.deploy("acme/a", mode="choice", choices=["yes", "no"])
    both.run("-r", f"{entry},model=acme/a,data_augmentation=canonical")
    both.check()


def judged_entry(site: Site) -> str:
    """A benchmark with a jury of one, a model and the judge."""
    jury = {
        "name": "jury_score",
        "prompt_file": "judge.txt",
        "judges": [{"name": "acme/judge", "model_name": "acme/judge"}],
    }
    site.deploy("acme/a", mode="choice", choices=["good", "fair"])
    site.deploy("acme/judge", mode="judge", score=4)
    return site.benchmark("notes", rows(8), metrics=[jury], judge_prompt=RUBRIC)


def test_a_jury_and_its_second_look(both: Both) -> None:
    entry = judged_entry(both.site)
    both.run("-r", f"{entry},model=acme/a")
    both.run("-r", f"{entry},model=acme/a")
    both.check()


def test_a_part_that_fails_is_asked_again(both: Both) -> None:
    entry = both.site.benchmark("bench", rows(10), metrics=["exact_match"])
    both.site.deploy("acme/a", mode="choice", choices=["yes", "no"])
    both.run("-r", f"{entry},model=acme/a", "--max-eval-instances", "4")
    both.run("-r", f"{entry},model=acme/a")
    both.check()


def test_private_text_that_a_public_benchmark_repeats(both: Both) -> None:
    private_rows = rows(6)
    entry = both.site.benchmark("notes", private_rows, access_level="private")
    both.site.deploy("acme/a", mode="choice", choices=["yes", "no"])
    both.run("-r", f"{entry},model=acme/a", code=0)
    public = both.site.benchmark("copied", private_rows)
    both.run("-r", f"{public},model=acme/a")
    both.check()


def test_instances_that_meet_a_filter(both: Both) -> None:
    entry = wards(both.site)
    file = write_csv(both.site.folder / "wards.csv", ROWS)
    both.run("-r", entry, "--source", file, *PUBLIC)
    both.check()


def test_an_estimate_with_a_jury(both: Both, capsys: pytest.CaptureFixture[str]) -> None:
    entry = judged_entry(both.site)
    both.run("-r", f"{entry},model=acme/a", command="estimate")
    out = capsys.readouterr().out
    assert out == 2 * out[: len(out) // 2]
    assert "acme/judge" in out


@pytest.mark.parametrize(
    "values", [("Spark", 7), ("é", None, "x"), (None,), (-1, 1 << 62), ("a" * 100,)]
)
def test_the_hash_of_values_is_sparks(spark: SparkSession, values: tuple[Any, ...]) -> None:
    sql = ", ".join(
        "CAST(NULL AS STRING)" if value is None
        else f"'{value}'" if isinstance(value, str) else f"CAST({value} AS BIGINT)"
        for value in values
    )  # fmt: skip
    (expected,) = spark.sql(f"SELECT xxhash64({sql})").first() or ()
    assert hash_of(values) == expected
    frames = LocalFrames.__new__(LocalFrames)
    frame = frames.query(f"SELECT xxhash64({sql}) AS hashed", {})
    assert isinstance(frame, LocalFrame)
    assert frame.rows["hashed"].to_pylist() == [expected]


def test_answers_made_elsewhere(both: Both) -> None:
    entry = both.site.benchmark("bench", rows(8))
    file = both.site.folder / "answers.jsonl"
    lines = [{"source_id": f"q{i}", "completion": "yes"} for i in (*range(6), 99)]
    file.write_text("\n".join(map(json.dumps, lines)))
    arguments = ("-r", f"{entry},model=team/model", "--file", str(file))
    both.run(*arguments, command="import-responses")
    both.run(*arguments, command="import-responses")
    both.check()
