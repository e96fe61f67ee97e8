"""A struct written before its type had all its fields is read with the later ones at default."""

from dataclasses import dataclass, field

import pyarrow as pa

from medhelm_spark.lake.columnar import decode_batch, encode_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class OldSpec:
    """What an older release wrote."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSpec:
    """The same with two later fields."""

    name: str
    suffix: str = "\n"
    reading: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OldRow:
    """A row with it."""

    spec: OldSpec
    specs: tuple[OldSpec, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRow:
    """A row with it."""

    spec: NewSpec
    specs: tuple[NewSpec, ...] = field(default_factory=tuple)


def test_fields_that_an_older_table_lacks_have_their_defaults() -> None:
    old = [OldRow(spec=OldSpec(name="a"), specs=(OldSpec(name="b"), OldSpec(name="c")))]
    batch = pa.Table.from_batches([encode_batch(OldRow, old)])
    (row,) = decode_batch(NewRow, batch)
    assert row.spec == NewSpec(name="a", suffix="\n", reading=None)
    assert row.specs == (NewSpec(name="b"), NewSpec(name="c"))


def test_fields_that_an_older_row_of_a_newer_table_lacks_have_their_defaults() -> None:
    """A table that gained a field has null there in each row that was written before."""
    known = pa.struct([("name", pa.string())])
    spec = pa.struct([*known, ("suffix", pa.string()), ("reading", pa.list_(pa.string()))])
    rows = [{"spec": {"name": "a", "suffix": None, "reading": None}, "specs": []}]
    schema = pa.schema([("spec", spec), ("specs", pa.list_(spec))])
    (row,) = decode_batch(NewRow, pa.Table.from_pylist(rows, schema=schema))
    assert row.spec == NewSpec(name="a")
