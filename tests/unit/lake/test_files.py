"""Small tables of a lake on this machine: drivers that write to one at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.reader import table_schema

DRIVERS = 4
SCHEMA = table_schema("runs")
ROW = pa.table({field.name: pa.nulls(1, field.type) for field in SCHEMA})


def at_once(lake: FileTables, txns: list[tuple[str, int] | None]) -> list[bool]:
    """What each of several drivers hears that append a first row in the same moment."""
    start = Barrier(len(txns))

    def append(txn: tuple[str, int] | None) -> bool:
        start.wait()
        return lake.append("runs", ROW, txn)

    with ThreadPoolExecutor(len(txns)) as drivers:
        return list(drivers.map(append, txns))


# Where creating a table were not one step, one lake in eight would show it: 40 leave no chance.
@pytest.mark.parametrize("lake", range(40))
def test_one_of_several_drivers_creates_a_table_and_all_write_to_it(
    tmp_path: Path, lake: int
) -> None:
    tables = FileTables(str(tmp_path / "lake"))
    assert at_once(tables, [None] * DRIVERS) == [True] * DRIVERS
    table = DeltaTable(str(tmp_path / "lake" / "runs"))
    made = [entry["operation"] for entry in table.history() if entry["operation"] != "WRITE"]
    assert made == ["CREATE TABLE"]
    assert table.version() == DRIVERS
    assert [path.name for path in (tmp_path / "lake").iterdir()] == ["runs"]


@pytest.mark.parametrize("lake", range(20))
def test_a_commit_made_twice_is_one_and_no_other_is_lost(tmp_path: Path, lake: int) -> None:
    tables = FileTables(str(tmp_path / "lake"))
    heard = at_once(tables, [("a", 1), ("a", 1), ("b", 1), ("b", 1)])
    assert sorted(heard[:2]) == sorted(heard[2:]) == [False, True]
    assert DeltaTable(str(tmp_path / "lake" / "runs")).count() == 2
