"""The JSON of Arrow columns is the JSON of the rows."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pyarrow as pa
import pytest

from medhelm_spark.domain.ids import LATER
from medhelm_spark.lake.canonical_columns import canonical_texts
from medhelm_spark.lake.columnar import decode_batch, encode_batch
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.releases.value_hash import batch_digests, row_digest


class Kind(StrEnum):
    """A word of a table."""

    ONE = "one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """A struct with a later field."""

    text: str
    size: float | None = None
    form: Kind = field(default=Kind.ONE, metadata=LATER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row with every kind of column."""

    text: str
    number: int
    size: float | None
    flag: bool | None
    at: datetime | None
    kind: Kind | None
    inner: Inner | None
    inners: tuple[Inner, ...] | None
    words: tuple[str, ...]
    named: Mapping[str, float] | None
    write_id: str = "w"
    note: str | None = field(default=None, metadata=LATER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Old:
    """A struct whose later columns a table may lack."""

    text: str
    size: float = 0.5
    named: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    form: Kind = field(default=Kind.ONE, metadata=LATER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A row with such a struct."""

    inner: Old | None
    number: int


PLAIN = Row(
    text="",
    number=0,
    size=None,
    flag=None,
    at=None,
    kind=None,
    inner=None,
    inners=None,
    words=(),
    named=None,
)
CHANGES: dict[str, dict[str, Any]] = {
    "empty": {},
    "escapes": {"text": 'a"\\\n\t\x00\x1f\x7f\u2028\u00e9\U0001f600/'},
    "numbers": {"number": -(2**63), "size": 0.1 + 0.2},
    "zero": {"size": 0.0},
    "negative zero": {"size": -0.0},
    "large": {"size": 1e300},
    "small": {"size": 5e-324},
    "whole": {"size": 3.0},
    "infinite": {"size": float("-inf")},
    "no number": {"size": float("nan")},
    "true": {"flag": True, "kind": Kind.ONE},
    "false": {"flag": False},
    "time": {"at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)},
    "microseconds": {"at": datetime(2026, 1, 2, 3, 4, 5, 60, tzinfo=UTC)},
    "first year": {"at": datetime(1, 1, 1, tzinfo=UTC)},
    "last year": {"at": datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)},
    "before 1970": {"at": datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC)},
    "inner": {"inner": Inner(text="x", size=1.5), "note": "later"},
    "inners": {"inners": (Inner(text="x"), Inner(text="y", size=-0.0)), "words": ("", "b,]")},
    "no inners": {"inners": ()},
    "map": {"named": {"b": 1.0, "a": 2.0, '"': 0.5}},
    "no names": {"named": {}},
    "another write": {"write_id": "another"},
}
ROWS = [replace(PLAIN, **change) for change in CHANGES.values()]


@pytest.mark.parametrize("size", [1, 3, len(CHANGES)])
def test_digests_of_columns_are_those_of_the_rows(size: int) -> None:
    batch = encode_batch(Row, ROWS)
    parts = [batch.slice(start, size) for start in range(0, len(ROWS), size)]
    found = [digest for part in parts for digest in batch_digests(Row, part)]
    assert found == [row_digest(row) for row in ROWS]
    assert len(set(found)) == len(found) - 1, "only the write of a row does not count"


def test_no_rows_have_no_digest() -> None:
    assert batch_digests(Row, encode_batch(Row, [])) == []


@pytest.mark.parametrize(
    "table", ["requests", "request_results", "annotations", "per_instance_stats", "prompts"]
)
def test_tables_whose_rows_are_hashed_have_columns_that_can_be(table: str) -> None:
    row = TABLES[table].row
    assert batch_digests(row, encode_batch(row, [])) == []


def test_a_struct_that_is_older_than_a_field_has_its_default() -> None:
    """As `decode_batch` gives it, which the digest of a row object rests on."""
    stored = pa.array([{"text": "x"}, None, {"text": "y"}], pa.struct([("text", pa.string())]))
    texts = canonical_texts(Holder, {"inner": stored, "number": pa.array([1, 2, 3])})
    batch = pa.record_batch({"inner": stored, "number": pa.array([1, 2, 3])})
    rows = decode_batch(Holder, batch)
    assert [hashlib.sha256(text.encode()).hexdigest() for text in texts.to_pylist()] == [
        row_digest(row) for row in rows
    ]
