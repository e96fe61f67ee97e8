"""Who may write a lake in S3, where Delta keeps no two drivers apart."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from medhelm_spark.errors import LakeError, LeaseLostError
from medhelm_spark.lake.driver_files import LocalFiles
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.lake_lock import LakeLock, needs_sole_driver
from medhelm_spark.lake.session import Session


def lake_at(location: str, version: str = "4.2.0", **conf: str) -> Lake:
    """A lake as its session shows it; only the session's settings and job tags are ever asked."""

    def get(key: str, default: str | None = None) -> str | None:
        return conf.get(key.replace(".", "_"), default)

    tags: list[str] = []
    spark: Any = SimpleNamespace(
        version=version,
        conf=SimpleNamespace(get=get),
        addTag=tags.append,
        removeTag=tags.remove,
        interruptTag=lambda tag: None,
    )
    return Lake(Session(lambda: spark, "yarn"), location)


@pytest.mark.parametrize("location", ["s3://b/lake", "s3a://b/lake", "S3A://b/lake", "s3n://b/x"])
def test_a_bucket_of_s3_is_claimed(location: str) -> None:
    assert needs_sole_driver(lake_at(location))


@pytest.mark.parametrize(
    "location", ["hdfs://n/lake", "abfss://c@a.net/l", "gs://b/l", "a.b", "/l"]
)
def test_what_keeps_drivers_apart_itself_is_not(location: str) -> None:
    assert not needs_sole_driver(lake_at(location))


def test_nor_is_a_bucket_that_something_else_guards() -> None:
    assert not needs_sole_driver(lake_at("s3a://b/lake", version="16.4.x-databricks"))
    dynamo = "io.delta.storage.S3DynamoDBLogStore"
    assert not needs_sole_driver(lake_at("s3a://b/lake", spark_delta_logStore_s3a_impl=dynamo))


def driver(folder: Path) -> tuple[LakeLock, Lake]:
    """A driver of its own; the bucket's small files lie in a folder here."""
    lake = lake_at("s3a://b/lake")
    lake.__dict__["driver_files"] = LocalFiles(folder)
    sole = LakeLock(lambda line: None)
    sole.guard(lake)
    return sole, lake


def test_the_second_driver_is_refused_until_the_first_has_done(tmp_path: Path) -> None:
    (first, one), (second, other) = driver(tmp_path), driver(tmp_path)
    with first.at_work():
        one.before_writing()
        with first.at_work():  # one call of the API within another
            one.before_writing()
        with second.at_work(), pytest.raises(LakeError, match="one driver at a time"):
            other.before_writing()
    with second.at_work():
        other.before_writing()


def test_who_only_reads_claims_nothing(tmp_path: Path) -> None:
    (first, _), (second, other) = driver(tmp_path), driver(tmp_path)
    with first.at_work(), second.at_work():
        other.before_writing()
    assert list(tmp_path.iterdir())


def test_a_driver_that_lost_the_lake_writes_no_more(tmp_path: Path) -> None:
    first, one = driver(tmp_path)
    with first.at_work():
        one.before_writing()
        assert first._lease
        first._lease.lost = "the lake: another driver has taken it over."
        with pytest.raises(LeaseLostError):
            one.before_writing()


def test_where_it_cannot_be_claimed_that_is_said_once(tmp_path: Path) -> None:
    """Through Spark Connect there is no file system, and a table's rows keep nobody away."""
    messages: list[str] = []
    lake = lake_at("s3a://b/lake")
    lake.__dict__["driver_files"] = None
    sole = LakeLock(messages.append)
    sole.guard(lake)
    with sole.at_work():
        lake.before_writing()
        lake.before_writing()
    assert len(messages) == 1 and "one alone writes" in messages[0]
