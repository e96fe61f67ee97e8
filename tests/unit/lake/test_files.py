"""Small tables of a lake on this machine: drivers that write to one at once."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from medhelm_spark.errors import LakeError
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


def written(*write_ids: str) -> pa.Table:
    rows = pa.concat_tables([ROW] * len(write_ids))
    at = SCHEMA.get_field_index("write_id")
    return rows.set_column(at, SCHEMA.field("write_id"), pa.array(write_ids, pa.string()))


def test_writes_without_a_row_are_found_by_statistics_alone(tmp_path: Path) -> None:
    tables = FileTables(str(tmp_path / "lake"))
    assert tables.lacks("runs", ["a"]) == {"a"}, "there is no table"
    for write_ids in (["a"], ["d", "f"], ["k", "k"]):
        tables.append("runs", written(*write_ids))
    assert tables.lacks("runs", ["a", "b", "d", "e", "f", "g", "k"]) == {"b", "g"}
    *_, last = sorted((tmp_path / "lake" / "runs" / "_delta_log").glob("*.json"))
    last.write_bytes(b"")
    with pytest.raises(LakeError, match=rf"{last} is empty, as after a power failure. Remove it"):
        tables.version("runs")
    last.unlink()
    assert tables.lacks("runs", ["a", "f", "k"]) == {"k"}


@pytest.mark.parametrize("is_made_anew", [False, True], ids=["same table", "made anew"])
def test_an_empty_commit_is_found_by_who_read_the_table_before(
    tmp_path: Path, is_made_anew: bool
) -> None:
    tables, folder = FileTables(str(tmp_path / "lake")), tmp_path / "lake" / "runs"
    tables.append("runs", written("a"))
    assert tables.read("runs").num_rows == 1
    if is_made_anew:
        shutil.rmtree(folder)
    for write_id in ("b", "c"):
        FileTables(str(tmp_path / "lake")).append("runs", written(write_id))
    first, *_ = commits = sorted((folder / "_delta_log").glob("*.json"))
    lost = first if is_made_anew else commits[-2]
    lost.write_bytes(b"")
    with pytest.raises(LakeError, match=rf"{lost.name} is empty, .* Restore it\."):
        tables.read("runs")


def test_an_append_goes_on_from_the_newest_version_whoever_wrote_it(tmp_path: Path) -> None:
    tables, folder = FileTables(str(tmp_path / "lake")), tmp_path / "lake" / "runs"
    tables.append("runs", written("a"))
    FileTables(str(tmp_path / "lake")).append("runs", written("b"))
    tables.append("runs", written("c"))
    assert DeltaTable(str(folder)).version() == 3
    shutil.rmtree(folder)
    FileTables(str(tmp_path / "lake")).append("runs", written("d"))
    tables.append("runs", written("e"))
    assert DeltaTable(str(folder)).version() == 2
    assert sorted(tables.read("runs")["write_id"].to_pylist()) == ["d", "e"]


def test_commits_that_a_checkpoint_has_are_not_read(tmp_path: Path) -> None:
    tables, folder = FileTables(str(tmp_path / "lake")), tmp_path / "lake" / "runs"
    for write_id in ("a", "b"):
        tables.append("runs", written(write_id))
    DeltaTable(str(folder)).create_checkpoint()
    tables.append("runs", written("c"))
    _, _, second, third = sorted((folder / "_delta_log").glob("*.json"))
    second.write_bytes(b"")
    assert sorted(FileTables(tables.location).read("runs")["write_id"].to_pylist()) == [*"abc"]
    third.write_bytes(b"")
    with pytest.raises(LakeError, match=rf"{third.name} is empty"):
        FileTables(tables.location).read("runs")


def test_a_commit_between_others_that_is_empty_is_to_be_restored(tmp_path: Path) -> None:
    tables = FileTables(str(tmp_path / "lake"))
    for write_id in ("a", "b"):
        tables.append("runs", written(write_id))
    _, middle, _ = sorted((tmp_path / "lake" / "runs" / "_delta_log").glob("*.json"))
    middle.write_bytes(b"")
    with pytest.raises(LakeError, match=rf"{middle.name} is empty, .* Restore it\."):
        FileTables(tables.location).append("runs", written("c"))


def test_what_is_in_the_way_of_a_table_is_named_and_stays(tmp_path: Path) -> None:
    tables = FileTables(str(tmp_path))
    table_path = tmp_path / "runs"
    table_path.write_text("not ours")
    with pytest.raises(LakeError, match=f"{table_path} is in the way of a table"):
        tables.append("runs", ROW)
    assert table_path.read_text() == "not ours"
    table_path.unlink()
    table_path.mkdir()
    (table_path / "other").touch()
    with pytest.raises(LakeError, match=f"{table_path} is in the way of the lake's table 'runs'"):
        tables.append("runs", ROW)
    assert [path.name for path in table_path.iterdir()] == ["other"]
