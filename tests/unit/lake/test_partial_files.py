"""What a killed process left of a data file goes with files that no version has."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.maintenance import maintenance_of
from medhelm_spark.lake.session import Session
from tests.ledger import scored

DAYS = 7


def never() -> SparkSession:
    raise AssertionError("Spark was started")


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    made = Lake(Session(never, "local"), str(tmp_path / "lake"))
    scored(made, "u", "w", datetime(2026, 1, 1, tzinfo=UTC))
    return made


@pytest.fixture
def partial(lake: Lake) -> Path:
    """A file that delta-rs had not finished when its process was killed."""
    path = Path(lake.location.table("runs"), "part-00000-0-c000.zstd.parquet#1")
    path.write_bytes(b"PAR1 the beginning of a note")
    return path


def test_a_purge_deletes_it(lake: Lake, partial: Path) -> None:
    maintenance = maintenance_of(lake)
    assert maintenance.forget("runs", "unit_id", ["x"], dry_run=True) == 1
    assert partial.exists()
    assert maintenance.forget("runs", "unit_id", ["x"], dry_run=False) == 1
    assert not partial.exists()


def test_gc_deletes_it_once_it_is_old(lake: Lake, partial: Path) -> None:
    maintenance = maintenance_of(lake)
    assert maintenance.vacuum("runs", DAYS, dry_run=False) == 0
    assert partial.exists()
    old = time.time() - (DAYS + 1) * 86_400
    os.utime(partial, (old, old))
    assert maintenance.vacuum("runs", DAYS, dry_run=True) == 1
    assert partial.exists()
    assert maintenance.vacuum("runs", DAYS, dry_run=False) == 1
    assert not partial.exists()
