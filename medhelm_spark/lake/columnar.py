"""Dataclass <-> Arrow columns, compiled once per type.

A row type is a frozen dataclass whose fields are str, int, float, bool, datetime, a StrEnum, an
optional of these, a tuple of anything here, a Mapping of text to anything here, or another such
dataclass. Values move column by column: no per-row type look-up, no `asdict`. Needs no Spark.
"""

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import Any, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

from medhelm_spark.errors import LakeError

Decode = Callable[[pa.Array], list[Any]]
Encode = Callable[[Sequence[Any]], pa.Array]

TIMESTAMP = pa.timestamp("us", tz="UTC")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SCALARS: Mapping[type, tuple[pa.DataType, str]] = {
    str: (pa.string(), "STRING"),
    int: (pa.int64(), "BIGINT"),
    float: (pa.float64(), "DOUBLE"),
    bool: (pa.bool_(), "BOOLEAN"),
    datetime: (TIMESTAMP, "TIMESTAMP"),
}


@dataclasses.dataclass(frozen=True, slots=True)
class Codec:
    """How one Python type is stored: Arrow type, Spark DDL, decoder and encoder of a column."""

    arrow: pa.DataType
    ddl: str
    decode: Decode
    encode: Encode


def _scalar(kind: type) -> Codec:
    arrow, ddl = _SCALARS[kind]
    decode = _moments if kind is datetime else pa.Array.to_pylist
    return Codec(arrow, ddl, decode, lambda values: pa.array(values, arrow))


def _moments(column: pa.Array) -> list[datetime | None]:
    """The moments of a column; Arrow's own conversion imports pandas for the first one."""
    return [
        None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)
        for microseconds in column.cast(TIMESTAMP).cast(pa.int64()).to_pylist()
    ]


def _enum(kind: type[StrEnum]) -> Codec:
    members: dict[str | None, StrEnum | None] = {member.value: member for member in kind}
    members[None] = None

    def decode(column: pa.Array) -> list[Any]:
        try:
            return [members[value] for value in column.to_pylist()]
        except KeyError:
            raise LakeError(
                f"a table has a {kind.__name__} that is unknown to this version: a newer "
                "medhelm-spark wrote it. Install that one."
            ) from None

    return Codec(pa.string(), "STRING", decode, lambda values: pa.array(values, pa.string()))


def _list_of(item: Codec) -> Codec:
    arrow = pa.list_(item.arrow)

    def decode(column: pa.Array) -> list[Any]:
        flat = item.decode(column.flatten())
        rows, start = [], 0
        for length in column.value_lengths().to_pylist():
            rows.append(None if length is None else tuple(flat[start : start + length]))
            start += length or 0
        return rows

    def encode(values: Sequence[Any]) -> pa.Array:
        flat = [element for row in values if row for element in row]
        offsets = _offsets(values)
        return pa.ListArray.from_arrays(offsets, item.encode(flat), type=arrow, mask=_nulls(values))

    return Codec(arrow, f"ARRAY<{item.ddl}>", decode, encode)


def _map_of(item: Codec) -> Codec:
    arrow = pa.map_(pa.string(), item.arrow)

    def decode(column: pa.Array) -> list[Any]:
        start, end = column.offsets[0].as_py(), column.offsets[-1].as_py()
        keys = column.keys.slice(start, end - start).to_pylist()
        items = item.decode(column.items.slice(start, end - start))
        rows, at = [], 0
        for length, valid in zip(
            _diff(column.offsets.to_pylist()), column.is_valid().to_pylist(), strict=True
        ):
            rows.append(
                dict(zip(keys[at : at + length], items[at : at + length], strict=True))
                if valid
                else None
            )
            at += length
        return rows

    def encode(values: Sequence[Any]) -> pa.Array:
        keys = pa.array([key for row in values if row for key in row], pa.string())
        items = item.encode([value for row in values if row for value in row.values()])
        offsets = _offsets(values)
        if any(row is None for row in values):
            starts = zip(values, offsets.to_pylist(), strict=False)
            marked = [None if row is None else at for row, at in starts]
            offsets = pa.array([*marked, offsets[-1].as_py()], pa.int32())
        return pa.MapArray.from_arrays(offsets, keys, items, type=arrow)

    return Codec(arrow, f"MAP<STRING, {item.ddl}>", decode, encode)


def _offsets(values: Sequence[Any]) -> pa.Array:
    return pa.array(accumulate((len(row or ()) for row in values), initial=0), pa.int32())


def _nulls(values: Sequence[Any]) -> pa.Array | None:
    mask = [row is None for row in values]
    return pa.array(mask) if any(mask) else None


def _diff(offsets: Sequence[int]) -> list[int]:
    return [after - before for before, after in pairwise(offsets)]


def _struct(kind: type) -> Codec:
    fields = fields_of(kind)
    arrow = pa.struct([(name, codec.arrow) for name, codec in fields.items()])
    make = constructor(kind)
    defaults, hints = _defaults(kind), get_type_hints(kind)

    def field_of(column: pa.Array, name: str) -> list[Any]:
        """A field's values: its default where the table, or the row, is older than the field."""
        default = defaults.get(name)
        if name not in {field.name for field in column.type}:
            return [default] * len(column)
        stored = column.field(name)
        values = fields[name].decode(stored)
        if not stored.null_count or default is None or type(None) in get_args(hints[name]):
            return values
        return [default if value is None else value for value in values]

    def decode(column: pa.Array) -> list[Any]:
        columns = [field_of(column, name) for name in fields]
        if not column.null_count:
            return list(map(make, *columns))
        valid = column.is_valid().to_pylist()
        rows = zip(*columns, strict=True)
        return [make(*row) if ok else None for ok, row in zip(valid, rows, strict=True)]

    def encode(values: Sequence[Any]) -> pa.Array:
        mask = _nulls(values)
        read = attrgetter if mask is None else _getter
        columns = [codec.encode(list(map(read(name), values))) for name, codec in fields.items()]
        return pa.StructArray.from_arrays(columns, fields=list(arrow), mask=mask)

    inner = ", ".join(f"{name}: {codec.ddl}" for name, codec in fields.items())
    return Codec(arrow, f"STRUCT<{inner}>", decode, encode)


def _getter(name: str) -> Callable[[Any], Any]:
    return lambda value: None if value is None else getattr(value, name)


@cache
def codec_of(hint: Any) -> Codec:
    """The codec of a type; TypeError for a type that no table may store."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (inner,) = (arg for arg in args if arg is not type(None))
        return codec_of(inner)
    if origin is tuple:
        return _list_of(codec_of(args[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _map_of(codec_of(args[1]))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _enum(hint)
    if hint in _SCALARS:
        return _scalar(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _struct(hint)
    raise TypeError(f"no table column can store {hint!r}")


@cache
def fields_of(kind: type) -> dict[str, Codec]:
    """The codecs of a row type's fields, in order."""
    hints = get_type_hints(kind)
    return {field.name: codec_of(hints[field.name]) for field in dataclasses.fields(kind)}


@cache
def constructor(kind: type) -> Callable[..., Any]:
    """A positional constructor of a keyword-only dataclass (three times faster than `**row`)."""
    names = [field.name for field in dataclasses.fields(kind)]
    # Numbered: a field may have the name of anything that the expression uses.
    parameters = [f"_{index}" for index in range(len(names))]
    call = ", ".join(f"{name}={value}" for name, value in zip(names, parameters, strict=True))
    make: Callable[..., Any] = eval(
        f"lambda {', '.join(parameters)}: _kind({call})", {"_kind": kind}
    )
    return make


def _defaults(kind: type) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        if field.default_factory is not dataclasses.MISSING:
            found[field.name] = field.default_factory()
        elif field.default is not dataclasses.MISSING:
            found[field.name] = field.default
    return found


def defaults_of(kind: type) -> dict[str, Any]:
    """The defaults of a row type's fields that have one, as a table stores them."""
    return {
        name: value.value if isinstance(value, StrEnum) else value
        for name, value in _defaults(kind).items()
    }


def arrow_schema(kind: type) -> pa.Schema:
    """The Arrow schema of a row type."""
    return pa.schema([(name, codec.arrow) for name, codec in fields_of(kind).items()])


def ddl(kind: type) -> str:
    """The Spark schema of a row type, as the DDL text that Spark's functions take."""
    return ", ".join(f"{name} {codec.ddl}" for name, codec in fields_of(kind).items())


def decode_batch(kind: type, batch: pa.RecordBatch | pa.Table) -> list[Any]:
    """Rows of a batch whose columns are the type's fields, in the type's order."""
    columns = [codec.decode(_whole(batch.column(name))) for name, codec in fields_of(kind).items()]
    return list(map(constructor(kind), *columns))


def _whole(column: Any) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.cast(pa.string()) if pa.types.is_large_string(column.type) else column


def completed(kind: type, rows: pa.Table) -> pa.Table:
    """The type's columns, in its order; a column that earlier rows lack has the field's default.

    Raises:
        KeyError: the rows lack a column of a field without a default.
    """
    defaults = defaults_of(kind)
    for name, codec in fields_of(kind).items():
        if name in defaults and name not in rows.column_names:
            rows = rows.append_column(name, codec.encode([defaults[name]] * rows.num_rows))
    return rows.select(list(fields_of(kind)))


def encode_batch(kind: type, rows: Sequence[Any]) -> pa.RecordBatch:
    """A batch of the type's columns."""
    arrays = [
        codec.encode(list(map(attrgetter(name), rows))) for name, codec in fields_of(kind).items()
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(kind))
