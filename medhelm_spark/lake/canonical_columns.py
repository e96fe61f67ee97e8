"""Canonical JSON of Arrow columns: the text of `domain.ids.canonical_json` for all rows at once.

A field that is empty is left out, as is a later one at its default (`domain.ids.LATER`). Arrow
makes the texts column by column, so that a row costs no object of Python.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from itertools import pairwise
from json.encoder import encode_basestring
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pyarrow as pa
import pyarrow.compute as pc

from medhelm_spark.lake.columnar import arrow_schema, defaults_of

Texts = Callable[[pa.Array], pa.Array]
"""The JSON of each value of a column; null where there is none."""

ESCAPED = r'["\\\x00-\x1f]'
"""What a JSON string must escape."""


def canonical_texts(
    kind: type, columns: Mapping[str, pa.Array], without: Collection[str] = ()
) -> pa.Array:
    """The JSON of each row.

    Args:
        kind: the rows' dataclass.
        columns: its fields' columns by name, each of `columnar.arrow_schema`'s type.
        without: the fields that are left out of every row.
    """
    hints, later = get_type_hints(kind), _later(kind)
    members = []
    for name in sorted(hints.keys() & columns.keys() - set(without)):
        column = columns[name]
        texts = _texts_of(hints[name])(column)
        if name in later:
            texts = pc.if_else(_is_default(column, later[name]), None, texts)
        members.append(_joined(f"{encode_basestring(name)}:", texts))
    # Arrow 25 drops a row of which every part is skipped: hence the brace among the parts.
    begun = pc.binary_join_element_wise("{", *members, ",", null_handling="skip")
    return _joined(pc.binary_replace_slice(begun, 0, len("{,"), "{"), "}")


def _joined(*parts: Any) -> pa.Array:
    """The parts joined; null where one is null."""
    return pc.binary_join_element_wise(*parts, "")


def _later(kind: type) -> dict[str, Any]:
    defaults = defaults_of(kind)
    return {each.name: defaults[each.name] for each in fields(kind) if each.metadata.get("later")}


def _is_default(column: pa.Array, default: Any) -> pa.Array:
    """Whether the values are the default, which is a text, a number or nothing."""
    if default is None:
        return column.is_null()
    return pc.fill_null(pc.equal(column, default), False)


@cache
def _texts_of(hint: Any) -> Texts:
    """The function that makes the JSON of a column of a type that `columnar.codec_of` takes."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        (inner,) = (arg for arg in args if arg is not type(None))
        return _texts_of(inner)
    if origin is tuple:
        return _lists_of(_texts_of(args[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _maps_of(_texts_of(args[1]))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return _strings
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, type) and is_dataclass(hint):
        return _structs_of(hint)
    raise TypeError(f"no table column can store {hint!r}")


def _strings(column: pa.Array) -> pa.Array:
    escapes = pc.fill_null(pc.match_substring_regex(column, ESCAPED), False)
    quoted = _joined('"', column, '"')
    if not pc.any(escapes).as_py():
        return quoted
    escaped = map(encode_basestring, column.filter(escapes).to_pylist())
    return pc.replace_with_mask(quoted, escapes, pa.array(escaped, column.type))


def _integers(column: pa.Array) -> pa.Array:
    return column.cast(pa.string())


def _booleans(column: pa.Array) -> pa.Array:
    return pc.if_else(column, "true", "false")


_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _float_text(value: float) -> str:
    text = repr(value)
    return _NOT_FINITE.get(text, text)


def _floats(column: pa.Array) -> pa.Array:
    """The texts of a column, each made once for equal bits: 0.0 and -0.0 are two values."""
    distinct = column.view(pa.int64()).dictionary_encode()
    texts = pa.array(map(_float_text, distinct.dictionary.view(pa.float64()).to_pylist()))
    return texts.cast(pa.string()).take(distinct.indices)


def _times(column: pa.Array) -> pa.Array:
    """Times as Python's `isoformat` has them; Arrow writes `2026-01-02 03:04:05.000000`."""
    in_utc = column.view(pa.timestamp("us")).cast(pa.string())
    text = pc.replace_substring(pc.binary_replace_slice(in_utc, 10, 11, "T"), ".000000", "")
    return _joined('"', text, '+00:00"')


_SCALARS: Mapping[type, Texts] = {
    str: _strings,
    int: _integers,
    float: _floats,
    bool: _booleans,
    datetime: _times,
}


def _lists_of(item: Texts) -> Texts:
    def texts(column: pa.Array) -> pa.Array:
        elements = pc.fill_null(item(column.flatten()), "null")
        lengths = pc.fill_null(column.value_lengths(), 0)
        ends = pc.cumulative_sum(lengths).cast(pa.int32())
        offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends])
        inner = pc.binary_join(pa.ListArray.from_arrays(offsets, elements), ",")
        return _where_valid(column, _joined("[", inner, "]"))

    return texts


def _maps_of(item: Texts) -> Texts:
    def texts(column: pa.Array) -> pa.Array:
        offsets = column.offsets.to_pylist()
        first, size = offsets[0], offsets[-1] - offsets[0]
        keys = column.keys.slice(first, size).to_pylist()
        items = item(column.items.slice(first, size)).to_pylist()
        members = list(zip(keys, items, strict=True))
        rows = (_object(members[start - first : end - first]) for start, end in pairwise(offsets))
        return _where_valid(column, pa.array(rows, pa.string()))

    return texts


def _object(members: Iterable[tuple[str, str | None]]) -> str:
    """A JSON object of these keys and texts; of equal keys the last counts."""
    pairs = sorted(dict(members).items())
    return "{" + ",".join(f"{encode_basestring(key)}:{text or 'null'}" for key, text in pairs) + "}"


def _structs_of(kind: type) -> Texts:
    defaults, hints, schema = defaults_of(kind), get_type_hints(kind), arrow_schema(kind)

    def field_of(column: pa.Array, name: str) -> pa.Array:
        """A field's values: its default where the row is older than the field, as decoded."""
        values = pc.struct_field(column, name)
        default = defaults.get(name)
        if not values.null_count or default is None or type(None) in get_args(hints[name]):
            return values
        return pc.if_else(values.is_null(), pa.scalar(default, values.type), values)

    def texts(column: pa.Array) -> pa.Array:
        names = [field.name for field in column.type]
        columns = {name: field_of(column, name) for name in names if name in hints}
        for name in defaults.keys() - columns.keys():
            columns[name] = pa.array([defaults[name]] * len(column), schema.field(name).type)
        return _where_valid(column, canonical_texts(kind, columns))

    return texts


def _where_valid(column: pa.Array, texts: pa.Array) -> pa.Array:
    return pc.if_else(column.is_valid(), texts, None) if column.null_count else texts
