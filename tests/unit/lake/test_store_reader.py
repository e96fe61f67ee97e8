"""Who reads a lake in a store: this process where it can, else Spark."""

from typing import Any

import pyarrow as pa
import pytest

from medhelm_spark.errors import LakeError, NewerLakeError
from medhelm_spark.lake import store_reader as module
from medhelm_spark.lake.lake import SparkReader
from medhelm_spark.lake.store_reader import store_reader

STORE = "s3a://bucket/lake"


class Found:
    """A reader of a lake with so many records."""

    def __init__(self, records: int) -> None:
        self.records = records

    def query(self, _: str) -> pa.Table:
        return pa.table({"records": [self.records]})


def chosen(monkeypatch: pytest.MonkeyPatch, found: object) -> tuple[Any, list[str]]:
    def opened(_: str) -> Any:
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(module, "open_reader", opened)
    lines: list[str] = []
    return store_reader(STORE, None, lines.append), lines  # type: ignore[arg-type]


def test_a_store_that_this_process_reads_needs_no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Found(3)
    assert chosen(monkeypatch, found) == (found, [])


@pytest.mark.parametrize(
    "found",
    [LakeError("no credentials"), OSError("no such host"), Found(0)],
    ids=["refused", "unreachable", "without records"],
)
def test_what_this_process_cannot_read_spark_does(
    monkeypatch: pytest.MonkeyPatch, found: object
) -> None:
    reader, lines = chosen(monkeypatch, found)
    assert isinstance(reader, SparkReader)
    assert len(lines) == 1 and lines[0].startswith("lake: read through Spark")


def test_a_newer_lake_is_refused_by_both(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NewerLakeError):
        chosen(monkeypatch, NewerLakeError("newer"))


def test_a_scheme_that_delta_rs_lacks_is_no_crash() -> None:
    reader = store_reader("viewfs://cluster/lake", None, lambda _: None)  # type: ignore[arg-type]
    assert isinstance(reader, SparkReader)
