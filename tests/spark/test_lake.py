"""Names, appends, current views and readers of a lake."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from medhelm_spark.board import (
    Viewer,
    choose,
    instance_details,
    instances_of,
    load_board,
    load_runs,
)
from medhelm_spark.cli import main
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import Completion, FailureKind, FinishReason, RequestResult
from medhelm_spark.domain.run import RunRecord
from medhelm_spark.governance.disclosures import disclosures_of
from medhelm_spark.lake import files
from medhelm_spark.lake.files import FEW_ROWS
from medhelm_spark.lake.lake import Lake, SparkReader
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.lake.rows import rows_of
from medhelm_spark.lake.tables import SCHEMA_VERSION, TABLES, Lease
from medhelm_spark.lake.views import CURRENT_RESULTS, CURRENT_RUNS
from medhelm_spark.lake.warehouse import WarehouseReader
from tests.spark.conftest import Site, questions
from tests.spark.many_writes import UNITS, current_of_many
from tests.warehouse import FakeConnection, of_spark

pytestmark = pytest.mark.core

NOW = datetime(2026, 1, 1, tzinfo=UTC)
JUDGE_PROMPT = (
    '<rubric_criteria>\n{"accuracy": ["score", "explanation"]}\n</rubric_criteria>\n'
    "{QUESTION} {RESPONSE} {GOLD_RESPONSE}"
)
by_request = attrgetter("request_id")


def record(unit: str, minutes: int, **changes: Any) -> RunRecord:
    at = NOW + timedelta(minutes=minutes)
    run_record = RunRecord(
        stage="score",
        unit_id=unit,
        write_id=f"w{minutes}",
        fingerprint="f",
        suite="s",
        started_at=at,
        finished_at=at,
        counts={"rows": minutes},
        code_version="0",
        spark_version="0",
    )
    return replace(run_record, **changes)


def result(request: str, minutes: int, failure: FailureKind | None = None) -> RequestResult:
    answer = (Completion(text=f"answer {minutes}", finish_reason=FinishReason.STOP),)
    return RequestResult(
        request_id=request,
        model_deployment="m",
        access_level=AccessLevel.PUBLIC,
        completed_at=NOW + timedelta(minutes=minutes),
        engine_fingerprint="e",
        completions=() if failure else answer,
        failure=failure,
    )


@pytest.fixture(params=["files", "spark"])
def lake(
    request: pytest.FixtureRequest,
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Lake:
    """A lake whose small tables go through files, and one on a cluster, where Spark has them."""
    if request.param == "spark":
        monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop/conf")
    return Lake(spark, str(tmp_path / "lake"))


def test_a_missing_table_has_no_rows(lake: Lake) -> None:
    assert lake.read("stats").count() == 0
    assert lake.version("stats") is None


def test_the_newest_record_of_a_unit_is_current(lake: Lake) -> None:
    lake.append_rows("runs", [record("a", 2), record("a", 1), record("b", 3)], "w")
    current = {row.unit_id: row for row in lake.rows(CURRENT_RUNS, RunRecord)}
    assert current == {"a": record("a", 2), "b": record("b", 3)}


def test_the_earliest_answer_stands_or_else_the_latest_failure(lake: Lake) -> None:
    rows = [
        result("r1", 1, FailureKind.TIMEOUT),
        result("r1", 3),
        result("r1", 2),
        result("r2", 2, FailureKind.TOO_LONG),
        result("r2", 1, FailureKind.UNREACHABLE),
    ]
    lake.append_rows("request_results", rows, "w")
    current = {row.request_id: row for row in rows_of(lake.query(CURRENT_RESULTS), RequestResult)}
    assert current == {"r1": result("r1", 2), "r2": result("r2", 2, FailureKind.TOO_LONG)}


def test_a_commit_made_twice_is_one(lake: Lake) -> None:
    frame = lake.frame([record("a", 1)], RunRecord)
    for _ in range(2):
        lake.append("runs", frame, "w", txn=("order", 1))
    lake.append_rows("runs", [record("a", 1)], "w", txn=("order", 1))
    assert lake.append_rows("runs", [record("b", 2)], "w", txn=("order", 2))
    assert lake.read("runs").count() == 2


def test_few_computed_rows_and_many_are_committed_alike(lake: Lake) -> None:
    rows = lake.frame([record("a", 1), record("b", 2)], RunRecord)
    assert lake.append("runs", rows, "w", at_most=2)
    assert lake.append("runs", rows.where("unit_id = 'a'"), "w", at_most=FEW_ROWS + 1)
    assert lake.append("runs", rows.where("unit_id = 'none'"), "w", at_most=2)
    assert lake.append("runs", rows, "w", txn=("order", 1), at_most=2)
    lake.append("runs", rows, "w", txn=("order", 1), at_most=2)
    units = sorted(row["unit_id"] for row in lake.read("runs").collect())
    assert units == ["a", "a", "a", "b", "b"]


def test_rows_are_read_alike_through_the_driver_and_by_spark(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = [result("r1", 1), result("r2", 2, FailureKind.TOO_LONG)]
    lake.append_rows("request_results", written, "w")
    few = rows_of(lake.read("request_results"), RequestResult)
    monkeypatch.setattr(files, "FEW_TEXTS", 1)
    many = rows_of(lake.read("request_results"), RequestResult)
    assert sorted(few, key=by_request) == sorted(many, key=by_request) == written


def test_drivers_that_try_the_same_version_at_once_are_told_apart(lake: Lake) -> None:
    lake.ensure("leases")

    def claim(holder: int) -> bool:
        at = NOW + timedelta(minutes=holder)
        row = Lease(
            suite="s",
            version=1,
            model_deployment="m",
            holder=str(holder),
            claimed_at=at,
            expires_at=at,
        )
        return lake.append_rows("leases", [row], str(holder), txn=("lease", 1))

    with ThreadPoolExecutor(4) as pool:
        won = list(pool.map(claim, range(4)))
    stored_leases = lake.rows("SELECT * FROM {leases}", Lease)
    assert len(stored_leases) == 1
    assert won[int(stored_leases[0].holder)]


def test_a_table_that_is_only_made_has_no_rows_and_a_version(lake: Lake) -> None:
    lake.ensure("request_results")
    lake.ensure("request_results")
    assert lake.read("request_results").count() == 0
    assert lake.version("request_results") == 0


def test_a_cluster_reads_what_one_machine_wrote_and_adds_to_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local_lake = Lake(spark, str(tmp_path / "lake"))
    local_lake.append_rows("runs", [record("a", 1)], "w1")
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop/conf")
    cluster_lake = Lake(spark, str(tmp_path / "lake"))
    cluster_lake.append_rows("runs", [record("b", 2)], "w2")
    assert cluster_lake.rows(CURRENT_RUNS, RunRecord) != []
    for lake in (local_lake, cluster_lake):
        current = {row.unit_id: row for row in lake.rows(CURRENT_RUNS, RunRecord)}
        assert current == {"a": record("a", 1), "b": record("b", 2)}


def test_drivers_that_create_a_table_at_once_lose_nothing(lake: Lake) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: lake.append_rows("runs", [record(str(i), i)], "w"), range(4)))
    assert lake.read("runs").count() == 4


def test_a_column_that_an_older_lake_lacks_reads_as_null(lake: Lake) -> None:
    older = lake.frame([record("a", 1)], RunRecord).drop("schema_version")
    older.write.format("delta").save(lake.location.table("runs"))
    assert [row["schema_version"] for row in lake.read("runs").collect()] == [None]
    assert dict(lake.read("runs").dtypes)["schema_version"] == "bigint"
    lake.append_rows("runs", [record("b", 2)], "w")
    assert lake.read("runs").count() == 2


def test_a_thousand_units_of_as_many_writes_are_found(site: Site) -> None:
    lake = Lake(site.spark, str(site.folder / "lake"))
    lake._tables = lake._by_spark  # Spark answers, as it does on a cluster
    assert current_of_many(lake) == UNITS


def test_a_newer_lake_is_refused(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    newer = record("a", 1, schema_version=SCHEMA_VERSION + 1)
    site.lake.append_rows("runs", [newer], "w")
    entry = site.benchmark("bench", questions(2))
    assert site.run("-r", f"{entry},model={site.deploy('acme/yes')}") == 1
    assert "Install a newer medhelm-spark" in capsys.readouterr().err
    assert site.lake.read("run_specs").count() == 0


def test_no_text_stands_in_the_delta_log(site: Site) -> None:
    marked_text = "MARKED-TEXT"
    rows = [
        {"id": f"{marked_text}-{i}", "question": marked_text, "correct_answer": marked_text}
        for i in range(3)
    ]
    entry = site.benchmark("bench", rows)
    site.run("-r", f"{entry},model={site.deploy('acme/yes', text=marked_text)}")
    logs = list(site.lake_path.glob("*/_delta_log/*.json"))
    assert logs
    assert not [log for log in logs if marked_text in log.read_text()]


def comparable_rows(rows: list[dict[str, Any]]) -> list[str]:
    """Rows without what is another in every run: ids of writes, times, digests of them."""
    variable_columns = {"write_id", "fingerprint", "holder", "stats_write_id", "comparability"}
    return sorted(
        json.dumps(
            {
                name: value
                for name, value in row.items()
                if name not in variable_columns and not isinstance(value, datetime)
            },
            default=str,
            sort_keys=True,
        )
        for row in rows
    )


@pytest.mark.long
def test_a_catalog_serves_as_a_lake_and_both_readers_show_the_same_board(site: Site) -> None:
    site.deploy("acme/judge", mode="judge", score=4)
    jury = {
        "name": "jury_score",
        "prompt_file": "judge.txt",
        "judges": [{"name": "acme/judge", "model_name": "acme/judge"}],
    }
    entry = site.benchmark(
        "bench",
        [*questions(3), {"id": "", "question": "Without an id?", "correct_answer": "no"}],
        metrics=["exact_match", jury],
        judge_prompt=JUDGE_PROMPT,
    )
    entry = f"{entry},model={site.deploy('acme/yes', text='yes')}"
    assert site.run("-r", entry) == 0
    files = load_board(open_reader(str(site.lake_path)), suite="s", coverage_floor=0.95)
    assert files == load_board(SparkReader(site.lake), suite="s", coverage_floor=0.95)

    site.spark.sql("CREATE DATABASE IF NOT EXISTS catalog_lake")
    catalog = Lake(site.spark, "spark_catalog.catalog_lake")
    flags = ["-o", str(catalog.location), "--local-path", str(site.folder / "prod_env")]
    assert main(["run", "-r", entry, "--suite", "s", "--no-tracking", *flags]) == 0
    assert load_board(SparkReader(catalog), suite="s", coverage_floor=0.95) == files
    assert catalog.version("stats") is not None
    statements: list[str] = []
    house = WarehouseReader(
        catalog.location.name, lambda: FakeConnection(of_spark(site.spark), statements)
    )
    assert load_board(house, suite="s", coverage_floor=0.95) == files
    (run,) = load_runs(house, choose(house, "s"))
    page = instances_of(house, run.run_spec, limit=2)
    assert page == instances_of(SparkReader(catalog), run.run_spec, limit=2)
    keys, viewer = [score.key for score in page.scores], Viewer.THIS_MACHINE
    texts = instance_details(house, run.run_spec, keys, viewer=viewer)
    assert texts == instance_details(SparkReader(catalog), run.run_spec, keys, viewer=viewer)
    assert texts
    assert disclosures_of(house) == disclosures_of(SparkReader(catalog))
    assert any("WHERE false" in one for one in statements), "a table that is not there yet"
    tables = TABLES.keys() - {"leases", "runs"}  # which count how often something was tried
    folder_rows = {table: comparable_rows(site.rows(table)) for table in tables}
    in_catalog = {table: catalog.read(table).toArrow().to_pylist() for table in tables}
    assert {table: comparable_rows(rows) for table, rows in in_catalog.items()} == folder_rows
    filled = {table for table, rows in folder_rows.items() if rows}
    assert {"instances", "quarantine", "prompts", "request_results", "annotations"} < filled
