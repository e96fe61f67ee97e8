"""Tables that many runs have filled with small files are merged at the end of a run."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from medhelm_spark.domain.request import RequestResult
from medhelm_spark.lake import folder_maintenance, maintenance
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.folder_maintenance import FolderMaintenance
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.maintenance import maintenance_of, merge_small_files
from medhelm_spark.lake.session import Session
from medhelm_spark.lake.tables import STATISTICS
from tests.ledger import scored

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RUNS = 6


def never() -> SparkSession:
    raise AssertionError("Spark was started")


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """Six runs; more than four files are many."""
    monkeypatch.setattr(maintenance, "MANY_SMALL_FILES", 4)
    made = Lake(Session(never, "local"), str(tmp_path / "lake"))
    for number in range(RUNS):
        scored(made, f"u{number}", f"w{number}", NOW)
    return made


def table(lake: Lake, name: str = "runs", version: int | None = None) -> DeltaTable:
    return DeltaTable(lake.location.table(name), version=version)


def units(opened_table: DeltaTable) -> list[str]:
    column: list[str] = pa.table(opened_table.to_pyarrow_table(columns=["unit_id"]))[
        "unit_id"
    ].to_pylist()
    return column


def test_many_small_files_are_merged_and_no_row_changes(lake: Lake) -> None:
    before = table(lake)
    assert merge_small_files(lake) == {"per_instance_stats": RUNS, "runs": RUNS}
    after = table(lake)
    assert len(after.file_uris()) == 1
    assert sorted(units(after)) == [f"u{number}" for number in range(RUNS)]
    assert units(table(lake, version=before.version())) == units(before)
    assert merge_small_files(lake) == {}
    assert table(lake).version() == after.version()


def test_what_large_files_hold_is_not_written_again(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_maintenance, "SMALL_FILE", 1)
    assert merge_small_files(lake) == {}


def test_rows_that_are_appended_meanwhile_stay(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, late = FolderMaintenance._open, []

    def overtaken(self: Any, name: str) -> DeltaTable:
        opened_table = opened(self, name)
        late.append(f"late{len(late)}")
        scored(lake, late[-1], "late", NOW)
        return opened_table

    monkeypatch.setattr(FolderMaintenance, "_open", overtaken)
    assert set(merge_small_files(lake)) == {"per_instance_stats", "runs"}
    assert sorted(units(table(lake))) == sorted([*late, *(f"u{n}" for n in range(RUNS))])


def test_no_file_that_another_process_merges_is_forgotten(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, folder = FolderMaintenance._open, maintenance_of(lake)

    def overtaken(self: Any, name: str) -> DeltaTable:
        opened_table = opened(self, name)
        if self is folder:
            maintenance_of(lake).merge(name)
        return opened_table

    monkeypatch.setattr(FolderMaintenance, "_open", overtaken)
    folder.forget("runs", "unit_id", ["u0"], dry_run=False)
    assert sorted(units(table(lake))) == [f"u{number}" for number in range(RUNS)]


def test_rows_that_are_removed_meanwhile_stay_removed(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = FolderMaintenance._open
    folder = FolderMaintenance(FileTables(lake.location.name))

    def overtaken(self: Any, name: str) -> DeltaTable:
        opened_table = opened(self, name)
        with monkeypatch.context() as once:
            once.setattr(FolderMaintenance, "_open", opened)
            folder.remove(name, "unit_id = 'u3'")
        return opened_table

    monkeypatch.setattr(FolderMaintenance, "_open", overtaken)
    assert not folder.merge("runs")
    assert "u3" not in units(table(lake))
    assert len(units(table(lake))) == RUNS - 1


def test_several_drivers_at_once_write_no_row_twice(lake: Lake) -> None:
    """delta-rs alone would: it sees no conflict in two that rewrite the same files."""
    with ThreadPoolExecutor(4) as drivers:
        folders = [FolderMaintenance(FileTables(lake.location.name)) for _ in range(4)]
        done = [drivers.submit(each.merge, "runs") for each in folders[:3]]
        rewritten = drivers.submit(folders[3].rewrite, "runs")
        rewritten.result()
        assert {each.result() for each in done} <= {True, False}
    assert sorted(units(table(lake))) == [f"u{number}" for number in range(RUNS)]


def test_nothing_is_merged_while_another_process_rewrites(lake: Lake) -> None:
    folder = FolderMaintenance(FileTables(lake.location.name))
    with folder._rewriting(wait=True):
        assert merge_small_files(lake) == {}
    assert set(merge_small_files(lake)) == {"per_instance_stats", "runs"}


def result(request_id: str) -> RequestResult:
    return RequestResult(
        request_id=request_id,
        model_deployment="m",
        access_level="private",
        completed_at=NOW,
        engine_fingerprint="e",
        completions=(),
    )


def statistics(opened_table: DeltaTable) -> set[str]:
    log = sorted(Path(opened_table.table_uri.removeprefix("file://"), "_delta_log").glob("*.json"))[
        -1
    ]
    actions = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    stats = [json.loads(action["add"]["stats"]) for action in actions if "add" in action]
    return {name for each in stats for name in each["minValues"]}


def test_no_text_comes_into_the_log(lake: Lake) -> None:
    for number in range(RUNS):
        lake.append_rows("request_results", [result(f"r{number}")], f"w{number}")
    assert merge_small_files(lake)["request_results"] == RUNS
    opened_table = table(lake, "request_results")
    assert statistics(opened_table) == {"model_deployment", "request_id", "write_id"}


def test_optimize_sorts_results_by_request_in_an_older_table_too(lake: Lake) -> None:
    for number in range(RUNS):
        lake.append_rows("request_results", [result(f"r{5 - number}")], f"w{number}")
    older = {STATISTICS: "model_deployment,write_id"}
    table(lake, "request_results").alter.set_table_properties(older)
    maintenance_of(lake).rewrite("request_results")
    opened_table = table(lake, "request_results")
    assert statistics(opened_table) == {"model_deployment", "request_id", "write_id"}
    ids = pa.table(opened_table.to_pyarrow_table(columns=["request_id"]))["request_id"].to_pylist()
    assert ids == [f"r{number}" for number in range(RUNS)]
