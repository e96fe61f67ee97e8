"""Maintenance of a lake that has symbolic links: none is followed, nothing outside goes."""

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from medhelm_spark.domain.retention import Retention
from medhelm_spark.errors import LakeError
from medhelm_spark.lake.driver_files import LocalFiles
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.maintenance import maintenance_of
from medhelm_spark.lake.probe import PROBE, spark_store
from medhelm_spark.lake.session import Session
from medhelm_spark.maintenance.commands import collect_garbage, optimize
from medhelm_spark.maintenance.gc import gc
from medhelm_spark.stages.context import Context
from medhelm_spark.workspace.workspace import Workspace
from tests.ledger import scored

OLD = datetime.now(UTC) - timedelta(days=90)


def no_spark() -> Any:
    raise AssertionError("a folder of this machine is kept without Spark")


def lake_at(folder: Path) -> Lake:
    lake = Lake(Session(no_spark, "local[1]"), str(folder))
    for write in ("first", "second"):
        scored(lake, "u", write, OLD)
    return lake


def files_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def aged(folder: Path) -> None:
    """As the files of an old lake: Delta's clean-up spares young ones."""
    old = time.time() - 400 * 86_400
    for path in folder.rglob("*"):
        os.utime(path, (old, old))


LINKS: dict[str, Callable[[Path, Path], None]] = {
    "a folder inside a table's": lambda lake, other: (lake / "runs" / "more").symlink_to(other),
    "a file inside a table's": lambda lake, other: (lake / "runs" / "x.parquet").symlink_to(
        next(other.rglob("*.parquet"))
    ),
    "a table's folder": lambda lake, other: (lake / "stats").symlink_to(other / "runs"),
    "a link that leads nowhere": lambda lake, other: (lake / "stats").symlink_to(other / "none"),
}


@pytest.mark.attack("lake", "gc of a lake with a symbolic link into another lake")
@pytest.mark.parametrize("kind", LINKS)
@pytest.mark.parametrize("dry_run", [True, False])
def test_gc_of_a_lake_with_a_link_is_refused_before_anything_goes(
    tmp_path: Path, kind: str, dry_run: bool
) -> None:
    lake, other = lake_at(tmp_path / "lake"), tmp_path / "other"
    lake_at(other)
    aged(tmp_path)
    LINKS[kind](tmp_path / "lake", other)
    before = files_of(other), files_of(tmp_path / "lake")
    with pytest.raises(LakeError, match=r"is a symbolic link.*nothing was changed"):
        gc(Context(lake=lake, suite=""), Retention(), dry_run=dry_run)
    assert (files_of(other), files_of(tmp_path / "lake")) == before


@pytest.mark.attack("lake", "a table of another lake, rewritten through a symbolic link")
@pytest.mark.parametrize("command", [optimize, collect_garbage])
def test_every_command_of_maintenance_refuses_a_link(
    tmp_path: Path, command: Callable[..., object]
) -> None:
    lake_at(tmp_path / "lake")
    other = tmp_path / "other"
    lake_at(other)
    (tmp_path / "lake" / "stats").symlink_to(other / "runs")
    before = files_of(other)
    with pytest.raises(LakeError, match="symbolic link"):
        command(Workspace(str(tmp_path / "lake"), None), dry_run=False)
    assert files_of(other) == before


@pytest.mark.attack("lake", "a table of another lake, rewritten through a symbolic link")
def test_the_probe_of_doctor_writes_through_no_link(tmp_path: Path) -> None:
    lake_at(tmp_path / "other")
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / PROBE).symlink_to(tmp_path / "other")
    before = files_of(tmp_path / "other")
    with pytest.raises(LakeError, match="symbolic link"):
        spark_store(MagicMock(), Location.of(str(tmp_path / "lake")))
    assert files_of(tmp_path / "other") == before


def test_a_lake_that_is_reached_by_a_link_is_kept_as_any_other(tmp_path: Path) -> None:
    lake_at(tmp_path / "real")
    (tmp_path / "lake").symlink_to(tmp_path / "real")
    lake = Lake(Session(no_spark, "local[1]"), str(tmp_path / "lake"))
    assert [each.table for each in gc(Context(lake=lake, suite=""), Retention())] == [
        "per_instance_stats",
        "runs",
    ]


@pytest.mark.attack("lake", "a file elsewhere that a table's own log calls a removed one")
@pytest.mark.parametrize("is_absolute", [True, False])
def test_a_log_that_names_a_file_elsewhere_deletes_nothing_there(
    tmp_path: Path, is_absolute: bool
) -> None:
    lake = lake_at(tmp_path / "lake")
    theirs = tmp_path / "theirs.parquet"
    theirs.write_bytes(b"theirs")
    table = tmp_path / "lake" / "runs"
    version = len(list((table / "_delta_log").glob("*.json")))
    removed = {
        "path": theirs.as_uri() if is_absolute else "../../theirs.parquet",
        "deletionTimestamp": 1,
        "dataChange": True,
        "extendedFileMetadata": True,
        "partitionValues": {},
        "size": 6,
    }
    log = table / "_delta_log" / f"{version:020}.json"
    log.write_text(json.dumps({"remove": removed}) + "\n", encoding="utf-8")
    aged(tmp_path)
    try:
        maintenance_of(lake).vacuum("runs", 7, dry_run=False)
    except LakeError as refused:
        assert "runs" in str(refused)
    assert theirs.read_bytes() == b"theirs"


@pytest.mark.attack("lake", "staged answers removed through a symbolic link")
@pytest.mark.parametrize("link", ["staged", "staged/order"])
def test_what_is_staged_is_not_removed_through_a_link(tmp_path: Path, link: str) -> None:
    theirs = tmp_path / "theirs" / "order"
    theirs.mkdir(parents=True)
    (theirs / "part").write_bytes(b"theirs")
    lake = tmp_path / "lake"
    (lake / link).parent.mkdir(parents=True)
    (lake / link).symlink_to(theirs.parent if link == "staged" else theirs)
    files = LocalFiles(lake)
    if link == "staged":
        with pytest.raises(LakeError, match="symbolic link"):
            files.remove("staged/order")
    else:
        files.remove("staged/order")
        assert not (lake / link).is_symlink()
    assert (theirs / "part").read_bytes() == b"theirs"
