"""What gc removes and keeps, on a folder of Delta tables, without a JVM."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from medhelm_spark.domain.retention import Retention
from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.stages import INFER, SCORE, SUMMARIZE
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.maintenance import maintenance_of
from medhelm_spark.lake.reader import FileReader
from medhelm_spark.lake.session import Session
from medhelm_spark.lake.table_maintenance import FEW_FILES
from medhelm_spark.lake.tables import Lease
from medhelm_spark.maintenance import gc as module
from medhelm_spark.maintenance.gc import gc
from medhelm_spark.releases.tables import ReleaseMember
from medhelm_spark.stages.context import Context
from tests.ledger import scored as record_scored

NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)
KEEP = Retention()


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def no_spark() -> Any:
    raise AssertionError("a folder of this machine is kept without Spark")


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "now", lambda: NOW)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(Session(no_spark, "local[1]"), str(tmp_path / "lake"))


def context(lake: Lake) -> Context:
    return Context(lake=lake, suite="")


def scored(lake: Lake, unit: str, write_id: str, days: float, stage: str = SCORE.name) -> None:
    """A unit that a stage finished so many days ago."""
    record_scored(lake, unit, write_id, days_ago(days), stage)


def writes(lake: Lake, table: str) -> list[str]:
    rows = FileReader(str(lake.location)).query(f"SELECT write_id FROM {{{table}}}")
    return sorted(rows["write_id"].to_pylist())


def is_append_only(lake: Lake, table: str) -> bool:
    from deltalake import DeltaTable

    metadata = DeltaTable(lake.location.table(table)).metadata()
    return metadata.configuration["delta.appendOnly"] == "true"


def test_what_was_replaced_long_enough_ago_goes_with_its_records(lake: Lake) -> None:
    scored(lake, "u", "first", 90)
    scored(lake, "u", "second", 31)
    scored(lake, "u", "third", 1)
    scored(lake, "v", "alone", 400)
    (scores, runs) = gc(context(lake), KEEP)
    # "first" was replaced 31 days ago; "second" is replaced, but only since yesterday.
    assert (scores.table, scores.rows) == ("per_instance_stats", 1)
    assert (runs.table, runs.rows) == ("runs", 1)
    assert writes(lake, "per_instance_stats") == ["alone", "second", "third"]
    assert "first" not in writes(lake, "runs")
    assert is_append_only(lake, "per_instance_stats") and is_append_only(lake, "runs")
    (record,) = [row for row in lake.rows("SELECT * FROM {runs}", RunRecord) if row.stage == "gc"]
    assert record.counts == {"per_instance_stats": 1, "runs": 1, "files": 0}
    assert gc(context(lake), KEEP) == []


def test_a_write_of_two_units_goes_for_the_one_that_was_replaced(lake: Lake) -> None:
    scored(lake, "u", "both", 90)
    scored(lake, "v", "both", 90)
    scored(lake, "u", "again", 60)
    gc(context(lake), KEEP)
    rows = FileReader(str(lake.location)).query("SELECT * FROM {per_instance_stats}").to_pylist()
    assert {(row["run_spec_id"], row["write_id"]) for row in rows} == {
        ("v", "both"),
        ("u", "again"),
    }


def test_a_dry_run_says_the_same_and_changes_nothing(lake: Lake) -> None:
    scored(lake, "u", "first", 90)
    scored(lake, "u", "second", 60)
    before = {path: path.stat().st_mtime_ns for path in Path(str(lake.location)).rglob("*")}
    would = gc(context(lake), KEEP, dry_run=True)
    assert {path: path.stat().st_mtime_ns for path in Path(str(lake.location)).rglob("*")} == before
    assert [(each.table, each.rows) for each in would] == [("per_instance_stats", 1), ("runs", 1)]
    assert gc(context(lake), KEEP) == would


def test_what_a_release_pins_stays(lake: Lake) -> None:
    scored(lake, "u", "pinned", 90)
    scored(lake, "u", "again", 60)
    member = ReleaseMember(
        release="2026-q1",
        status="draft",
        suite="s",
        name="run",
        run_spec_id="u",
        stats_write_id="stats",
        created_at=days_ago(80),
        manifest_hash="m",
        writes={"per_instance_stats": "pinned", "requests": "a b"},
    )
    lake.append_rows("releases", [member], "w")
    assert gc(context(lake), KEEP) == []
    # The draft is pinned anew, to the new scores: now nothing names the old ones.
    anew = {"created_at": days_ago(59), "writes": {"per_instance_stats": "again"}}
    values = {name: getattr(member, name) for name in ReleaseMember.__dataclass_fields__}
    lake.append_rows("releases", [ReleaseMember(**{**values, **anew})], "w2")
    gc(context(lake), KEEP)
    assert writes(lake, "per_instance_stats") == ["again"]


def test_orders_are_never_forgotten(lake: Lake) -> None:
    """The ledger records for each order who sent it."""
    scored(lake, "acme/m|w1", "w1", 900, INFER.name)
    scored(lake, "acme/m|w1", "w2", 800, INFER.name)
    assert gc(context(lake), KEEP) == []


def test_stats_go_by_their_own_records(lake: Lake) -> None:
    scored(lake, "u", "scores", 90)
    scored(lake, "u", "old", 90, SUMMARIZE.name)
    scored(lake, "u", "new", 60, SUMMARIZE.name)
    (runs,) = gc(context(lake), KEEP)
    assert (runs.table, runs.rows) == ("runs", 1)
    assert writes(lake, "per_instance_stats") == ["scores"]


def lease(suite: str, version: int, deployment: str, days: float) -> Lease:
    at = days_ago(days)
    return Lease(
        suite=suite,
        version=version,
        model_deployment=deployment,
        holder=f"host:1:{len(suite)}",
        claimed_at=at,
        expires_at=at,
    )


def test_leases_keep_what_the_next_claim_counts_from(lake: Lake) -> None:
    odd = "it's a \\ suite"
    rows = [lease(odd, version, "a", 30 - version) for version in range(1, 11)]
    rows += [lease(odd, 11, "b", 3), lease("other", 1, "a", 300)]
    for row in rows:
        lake.append_rows("leases", [row], "h")
    (leases,) = gc(context(lake), KEEP)
    assert (leases.table, leases.rows) == ("leases", 9)
    expected = {
        (row.suite, row.version, row.model_deployment)
        for row in lake.rows("SELECT * FROM {leases}", Lease)
    }
    assert expected == {(odd, 10, "a"), (odd, 11, "b"), ("other", 1, "a")}


def test_a_gc_that_was_killed_leaves_rows_that_the_next_one_removes(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deltalake import DeltaTable

    scored(lake, "u", "first", 90)
    scored(lake, "u", "second", 60)

    def killed(self: DeltaTable, condition: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(DeltaTable, "delete", killed)
        gc(context(lake), KEEP)
    assert is_append_only(lake, "per_instance_stats")
    assert writes(lake, "per_instance_stats") == ["first", "second"]
    gc(context(lake), KEEP)
    assert writes(lake, "per_instance_stats") == ["second"]


def test_many_small_files_become_few_and_writes_still_narrow(lake: Lake) -> None:
    for number in range(FEW_FILES):
        scored(lake, f"u{number}", f"w{number}", 1)
    tables = maintenance_of(lake)
    assert tables.files("per_instance_stats").are_small
    before = writes(lake, "per_instance_stats")
    tables.rewrite("per_instance_stats")
    assert tables.files("per_instance_stats").count == 1
    assert writes(lake, "per_instance_stats") == before
    assert not tables.files("per_instance_stats").are_small


def test_rewriting_keeps_text_out_of_the_log(lake: Lake) -> None:
    """Statistics of a column without an index would contain the first characters of its text."""
    for number in range(FEW_FILES):
        scored(lake, f"u{number}", f"w{number}", 1)
    maintenance_of(lake).rewrite("per_instance_stats")
    log = Path(lake.location.table("per_instance_stats"), "_delta_log")
    added = [
        json.loads(line)["add"]["stats"]
        for path in log.glob("*.json")
        for line in path.read_text().splitlines()
        if '"add"' in line
    ]
    assert added and all(
        set(json.loads(stats)["minValues"]) <= {"run_spec_id", "write_id"} for stats in added
    )


def test_jobs_go_on_beside_it(lake: Lake) -> None:
    """Neither what another job appends meanwhile nor what it appended before is lost."""
    for number in range(30):
        scored(lake, f"u{number}", "old", 90)
        scored(lake, f"u{number}", "new", 60)
    stop, appended = Event(), list[str]()

    def append() -> None:
        while not stop.is_set():
            name = f"job{len(appended)}"
            scored(lake, name, name, 0)
            appended.append(name)

    job = Thread(target=append)
    job.start()
    try:
        removed = {each.table: each.rows for each in gc(context(lake), KEEP)}
        maintenance_of(lake).rewrite("per_instance_stats")
    finally:
        stop.set()
        job.join()
    assert removed == {"per_instance_stats": 30, "runs": 30}
    assert appended
    assert set(writes(lake, "per_instance_stats")) == {"new", *appended}
    assert set(appended) < set(writes(lake, "runs"))
    assert is_append_only(lake, "per_instance_stats")
