"""What is left of a row after a purge: no field that can contain text of the data."""

import dataclasses
import typing
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import Enum
from types import UnionType
from typing import Any

import pytest

from medhelm_spark.lake.tables import TABLES
from medhelm_spark.sharing.scan import PROSE_COLUMNS, TEXT_COLUMNS

WORD, NOTE = "zebrafinch", "[purged]"

NAMES = {
    "annotations": {"scores.criterion", "scores.label"},
    "instances": {"cluster_id", "messages.role", "references.tags"},
    "prompts": {"messages.role"},
    "request_results": {"engine_fingerprint"},
}
"""Fields of the columns that the scan compares that stay: names, and a hash of the cluster."""


def filled(kind: Any) -> Any:
    """A value of a type with WORD in every text."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (UnionType, typing.Union):
        return filled(parts[0])
    if origin is tuple:
        return (filled(parts[0]),)
    if origin is Mapping:
        return {filled(parts[0]): filled(parts[1])}
    if dataclasses.is_dataclass(kind):
        types = typing.get_type_hints(kind)
        return kind(**{each.name: filled(types[each.name]) for each in dataclasses.fields(kind)})
    if issubclass(kind, Enum):
        return next(iter(kind))
    return datetime.now(UTC) if kind is datetime else WORD if kind is str else kind(1)


def paths(value: Any, above: str = "") -> Iterator[str]:
    """The fields that have WORD."""
    if isinstance(value, str):
        yield from [above] if WORD in value else []
    elif dataclasses.is_dataclass(value):
        for each in dataclasses.fields(value):
            yield from paths(getattr(value, each.name), f"{above}.{each.name}".strip("."))
    elif isinstance(value, Mapping):
        yield from paths((*value, *value.values()), above)
    elif isinstance(value, tuple):
        for each in value:
            yield from paths(each, above)


@pytest.mark.attack("purge", "a field of any table with text, after the purge of its row")
@pytest.mark.parametrize("table", sorted(set(TEXT_COLUMNS) - {"run_specs"}))
def test_no_field_with_text_of_the_data_is_left(table: str) -> None:
    purging = TABLES[table].purging
    assert purging
    row = filled(purging.row)
    compared = {*TEXT_COLUMNS[table], *PROSE_COLUMNS.get(table, ()), "sub_split"}
    present = {path for path in paths(row) if path.partition(".")[0] in compared}
    assert present
    left = set(paths(purging.purged(row, NOTE)))
    assert left & present == NAMES.get(table, set())
