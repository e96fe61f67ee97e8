"""A process without Spark hashes and copies the rows of a release a few at a time."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from medhelm_spark.domain.request import PlannedRequest, Prompt, RequestResult
from medhelm_spark.domain.stats import PerInstanceStats
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.progress import unwatched
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.lake.rows import Frame
from medhelm_spark.lake.session import Session
from medhelm_spark.releases import parts
from medhelm_spark.releases.value_hash import values_hash
from medhelm_spark.releases.values import OF_REQUESTS, OF_RUNS, ValuePin, row_hashes
from tests.unit.board.planted import plant

ASKS = {"prompts": Prompt, "request_results": RequestResult}
OWN = {"requests": PlannedRequest, "per_instance_stats": PerInstanceStats}


def no_session() -> SparkSession:
    raise AssertionError("Spark is not to be started")


def here(location: Path) -> Lake:
    return Lake(Session(no_session, master="local[1]"), str(location)).in_process()


def writes_of(lake: Path, table: str, key: str) -> list[ValuePin]:
    """The writes of a table's rows by what a column names."""
    sql = f"SELECT DISTINCT {key} AS unit, write_id FROM {{{table}}}"
    return open_reader(str(lake)).rows(sql, ValuePin)


def pins_of(lake: Path) -> dict[str, list[ValuePin]]:
    return {table: writes_of(lake, table, OF_RUNS[table].key) for table in OWN}


def runs_of(lake: Path) -> dict[str, list[PlannedRequest]]:
    requests: dict[str, list[PlannedRequest]] = {}
    for row in open_reader(str(lake)).rows("SELECT * FROM {requests}", PlannedRequest):
        requests.setdefault(row.run_spec_id, []).append(row)
    return requests


@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_a_run_has_the_hash_of_its_own_rows_and_of_what_it_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(parts, "ROWS_AT_ONCE", at_once)
    plant(tmp_path)
    found, reader = (
        row_hashes(here(tmp_path), pins_of(tmp_path), unwatched),
        open_reader(str(tmp_path)),
    )
    for unit, requests in runs_of(tmp_path).items():
        for table, kind in OWN.items():
            rows = reader.rows(f"SELECT * FROM {{{table}}} WHERE run_spec_id = '{unit}'", kind)
            assert found[table][unit].digest == values_hash(rows)
        for table, kind in ASKS.items():
            key = OF_REQUESTS[table].key
            keys = {getattr(request, key) for request in requests}
            rows = reader.rows(f"SELECT * FROM {{{table}}}", kind)
            own = [row for row in rows if getattr(row, key) in keys]
            assert own
            assert found[table][unit].digest == values_hash(own)


def test_runs_that_are_not_pinned_have_no_hash(tmp_path: Path) -> None:
    plant(tmp_path)
    pins = pins_of(tmp_path)
    unit = min(pin.unit for pin in pins["requests"])
    few = {
        table: [pin for pin in table_pins if pin.unit == unit] for table, table_pins in pins.items()
    }
    found = row_hashes(here(tmp_path), few, unwatched)
    whole = row_hashes(here(tmp_path), pins, unwatched)
    for table in (*OWN, *ASKS):
        assert found[table] == {unit: whole[table][unit]}


def test_results_of_other_writes_than_those_pinned_do_not_count(tmp_path: Path) -> None:
    plant(tmp_path)
    pins = pins_of(tmp_path)
    whole = row_hashes(here(tmp_path), pins, unwatched)["request_results"]
    first = [ValuePin(unit=unit, write_id=row.writes[0]) for unit, row in whole.items()]
    again = row_hashes(here(tmp_path), {**pins, "request_results": first}, unwatched)
    other = [ValuePin(unit=unit, write_id="another") for unit in whole]
    none = row_hashes(here(tmp_path), {**pins, "request_results": other}, unwatched)
    assert {unit: row.writes for unit, row in again["request_results"].items()} == {
        unit: row.writes[:1] for unit, row in whole.items()
    }
    assert not none["request_results"]
    assert none["prompts"]


def test_runs_are_parted_by_their_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(tmp_path)
    sizes = {unit: len(rows) for unit, rows in runs_of(tmp_path).items()}
    monkeypatch.setattr(parts, "ROWS_AT_ONCE", 2 * max(sizes.values()))
    found = list(parts.parts_of(here(tmp_path), "requests", sizes.keys()))
    assert [unit for part in found for unit in sorted(part)] == sorted(sizes)
    assert len(found) > 1
    assert all(sum(map(sizes.__getitem__, part)) <= parts.ROWS_AT_ONCE for part in found)
    assert not list(parts.parts_of(here(tmp_path), "requests", []))


def test_rows_that_come_in_turn_are_one_commit_and_made_once(tmp_path: Path) -> None:
    plant(tmp_path)
    lake, made = here(tmp_path), list[str]()
    sql = "SELECT s.*, 'r' AS release FROM {per_instance_stats} s WHERE run_spec_id = "

    def frames() -> Iterator[Frame]:
        for unit in sorted(runs_of(tmp_path)):  # which opens tables while others are written
            made.append(unit)
            yield lake.query(f"{sql}'{unit}'")

    for is_first in (True, False):
        in_turn = lake.in_turn(frames)
        assert lake.append("release_scores", in_turn, "w", txn=("w", 1)) is is_first
    table = DeltaTable(tmp_path / "release_scores")
    assert table.version() == 1
    rows = table.to_pyarrow_table()
    assert rows.num_rows == sum(map(len, runs_of(tmp_path).values()))
    assert set(rows["run_spec_id"].to_pylist()) == set(made)
