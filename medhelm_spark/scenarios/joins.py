"""Columns that a record gets from beside its file: a second file's row, or a whole text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from medhelm_spark.domain.scenario import DataSource, Lookup
from medhelm_spark.scenarios.records import BadReason, as_text

Row = Mapping[str, Any] | BadReason
ReadFile = Callable[[str, Sequence[str]], Iterator[Row]]
ReadText = Callable[[str], str]


def own_columns(source: DataSource, required: Sequence[str]) -> list[str]:
    """Those of the required columns that the source's own files must have."""
    starts = tuple(f"{one.name}." for one in source.lookups)
    keys = [one.key for one in source.lookups]
    made = set(source.texts)
    if source.history and source.history.files:
        made.add(source.history.column)
        used = (source.history.patient, source.history.until, *source.history.keep)
        required = [*required, *(name for name in used if name)]
    own = [name for name in required if name not in made and not name.startswith(starts)]
    return list(dict.fromkeys([*own, *keys]))


def joined(
    rows: Iterator[Row], source: DataSource, read_file: ReadFile, read_text: ReadText
) -> Iterator[Row]:
    """The rows with the columns of the source's lookups and texts.

    A lookup is held in memory, its columns alone. A row without a partner lacks those columns.
    """
    if not source.lookups and not source.texts:
        yield from rows
        return
    texts = {column: read_text(path) for column, path in source.texts.items()}
    tables = [(one.key, _table(one, read_file)) for one in source.lookups]
    for row in rows:
        if isinstance(row, BadReason):
            yield row
            continue
        found = dict(row)
        for key, table in tables:
            found |= table.get(as_text(row.get(key)) or "", {})
        yield found | texts


def _table(lookup: Lookup, read_file: ReadFile) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = {}
    for row in read_file(lookup.path, (lookup.key, *lookup.columns)):
        key = None if isinstance(row, BadReason) else as_text(row.get(lookup.key))
        if key and key not in table and not isinstance(row, BadReason):
            table[key] = {f"{lookup.name}.{name}": row.get(name) for name in lookup.columns}
    return table
