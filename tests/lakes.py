"""What tests of clusters compare of a lake, read without Spark."""

from pathlib import Path
from typing import Any

from medhelm_spark.lake.reader import FileReader
from medhelm_spark.lake.tables import TABLES

KEY = TABLES["stats"].key

Stats = dict[tuple[str, ...], dict[str, Any]]
"""Rows of `stats` by their key."""


def stats(lake: str | Path) -> Stats:
    """The rows of `stats` by their key, without what names the write; there are some."""
    rows = FileReader(str(lake)).query("SELECT * FROM {stats}").to_pylist()
    values = [{name: row[name] for name in row if name != "write_id"} for row in rows]
    by_key = {tuple(row[name] for name in KEY): row for row in values}
    assert len(by_key) == len(values) > 0
    return by_key


def num_executors(lake: str | Path) -> int:
    """How many executors answered."""
    rows = FileReader(str(lake)).query("SELECT DISTINCT executor FROM {request_results}")
    return len(rows.to_pylist())
