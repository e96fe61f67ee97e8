"""The hash of a unit's rows is the same however their digests come together."""

import hashlib
from dataclasses import fields
from itertools import groupby
from random import Random

import pyarrow as pa
import pytest

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import Prompt
from medhelm_spark.lake.columnar import decode_batch, encode_batch
from medhelm_spark.lake.progress import unwatched
from medhelm_spark.releases.value_hash import hash_of_digests, row_digest, values_hash
from medhelm_spark.releases.values import (
    OF_REQUESTS,
    ValuePin,
    _as_they_are,
    _Digests,
    _HashRows,
    _HashUnits,
)


def by_groups(digests: list[str]) -> str:
    """The hash by its definition: sorted digests, in groups whose first three digits agree."""
    groups = groupby(sorted(digests), key=lambda digest: digest[:3])
    hashes = [hashlib.sha256("".join(group).encode()).hexdigest() for _, group in groups]
    return hashlib.sha256("".join(sorted(hashes)).encode()).hexdigest()


@pytest.mark.parametrize("rows", [0, 1, 2, 5000])
def test_the_hash_is_the_one_of_releases_that_are_published(rows: int) -> None:
    digests = [hashlib.sha256(str(row).encode()).hexdigest() for row in range(rows)]
    digests += digests[:3]
    expected = by_groups(digests)
    Random(0).shuffle(digests)
    assert hash_of_digests("".join(digests)) == expected


def prompt(name: str) -> Prompt:
    return Prompt(
        prompt_id=name,
        render_id="r",
        subject_id="s",
        access_level=AccessLevel.PUBLIC,
        text=f"text of {name}",
    )


def hashed(batches: list[pa.RecordBatch], threads: int = 1) -> list[_Digests]:
    hash_rows = _HashRows(Prompt, "render_id", unwatched(_as_they_are), threads)
    return [row for batch in hash_rows(batches) for row in decode_batch(_Digests, batch)]


def batch(*rows: tuple[str, str]) -> pa.RecordBatch:
    """Prompts of the unit `r` by name, with their writes."""
    row = OF_REQUESTS["prompts"].row
    names = [field.name for field in fields(Prompt)]
    written = [
        row(**{each: getattr(prompt(name), each) for each in names}, write_id=write)
        for name, write in rows
    ]
    return encode_batch(row, written)


@pytest.mark.parametrize("threads", [1, 3])
def test_batches_that_threads_hash_come_in_their_order(threads: int) -> None:
    parts = [batch((f"p{index}", "w1"), (f"q{index}", "w2")) for index in range(20)]
    found = [(row.write_id, row.digests) for row in hashed(parts, threads)]
    assert found == [
        (write, row_digest(prompt(f"{name}{index}")))
        for index in range(20)
        for name, write in (("p", "w1"), ("q", "w2"))
    ]


def test_rows_of_writes_that_are_not_pinned_do_not_count() -> None:
    rows = hashed([batch(("a", "w1"), ("b", "w2")), batch(("c", "w1"))])
    (found,) = _HashUnits(frozenset([ValuePin(unit="r", write_id="w1")]))(rows)
    assert found.digest == values_hash([prompt("a"), prompt("c")])
    assert found.writes == ("w1",)
    assert not list(_HashUnits(frozenset([ValuePin(unit="s", write_id="w1")]))(rows))


def test_a_tombstone_stands_for_the_row_of_its_write_alone() -> None:
    before, now = row_digest(prompt("a")), row_digest(prompt("purged"))
    stone = _Digests(unit="r", write_id="w1", digests=before, replaced_by=now)
    rows = hashed([batch(("purged", "w1"), ("b", "w1"))])
    (found,) = _HashUnits()([*rows, stone])
    assert found.digest == values_hash([prompt("a"), prompt("b")])
    (other,) = _HashUnits()([*hashed([batch(("purged", "w2"))]), stone])
    assert other.digest == values_hash([prompt("purged")])


def test_tombstones_of_rows_that_are_gone_give_no_hash() -> None:
    assert not list(_HashUnits()([_Digests(unit="m", write_id="w", digests="a", replaced_by="b")]))
