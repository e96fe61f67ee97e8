"""Small tables of a lake on this machine: drivers that write to one at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.reader import table_schema

DRIVERS = 4
SCHEMA = table_schema("runs")
ROW = pa.table({field.name: pa.nulls(1, field.type) for field in SCHEMA})


def at_once(lake: FileTables, txns: list[tuple[str, int] | None]) -> list[bool]:
    """What `append` returns to several drivers that append a first row at the same moment."""
    start = Barrier(len(txns))

    def append(txn: tuple[str, int] | None) -> bool:
        start.wait()
        return lake.append("runs", ROW, txn)

    with ThreadPoolExecutor(len(txns)) as drivers:
        return list(drivers.map(append, txns))


def check_created_once(folder: Path, commits: int) -> None:
    table = DeltaTable(str(folder / "runs"))
    operations = [entry["operation"] for entry in table.history()]
    assert [name for name in operations if name != "WRITE"] == ["CREATE TABLE"]
    assert table.version() == commits
    assert [path.name for path in folder.iterdir()] == ["runs"]


def test_a_driver_that_is_overtaken_writes_to_the_table_of_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other driver creates its table after this one has seen that there is none."""
    tables, create = FileTables(str(tmp_path / "lake")), DeltaTable.create

    def overtaken(*args: Any, **kwargs: Any) -> DeltaTable:
        monkeypatch.setattr(DeltaTable, "create", create)
        assert tables.append("runs", ROW)
        return create(*args, **kwargs)

    monkeypatch.setattr(DeltaTable, "create", overtaken)
    assert tables.append("runs", ROW)
    check_created_once(tmp_path / "lake", commits=2)


def test_several_drivers_at_once_create_a_table_and_all_write_to_it(tmp_path: Path) -> None:
    for repeat in range(5):
        folder = tmp_path / str(repeat)
        assert at_once(FileTables(str(folder)), [None] * DRIVERS) == [True] * DRIVERS
        check_created_once(folder, commits=DRIVERS)


def test_a_commit_made_twice_is_one_and_no_other_is_lost(tmp_path: Path) -> None:
    for repeat in range(5):
        folder = tmp_path / str(repeat)
        is_mine = at_once(FileTables(str(folder)), [("a", 1), ("a", 1), ("b", 1), ("b", 1)])
        assert sorted(is_mine[:2]) == sorted(is_mine[2:]) == [False, True]
        assert DeltaTable(str(folder / "runs")).count() == 2
