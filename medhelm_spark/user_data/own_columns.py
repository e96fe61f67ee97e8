"""Whether a person's own data has the columns that a card needs or a flag names, before a run."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice

from medhelm_spark.domain.columns import lacking
from medhelm_spark.domain.data_source import DataSource
from medhelm_spark.domain.data_uri import is_delta_path
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import DataError, MissingColumnError
from medhelm_spark.lake.delta_columns import delta_columns
from medhelm_spark.scenarios import (
    check_columns,
    check_head,
    check_renamed,
    read_records,
    required_columns,
)

HEAD = 100
"""Rows whose columns are read: in JSON each row may lack some."""


def check_own_columns(card: ScenarioCard, report: Callable[[str], None]) -> None:
    """Refuse data without the card's columns, by the head of its files or a Delta folder's schema.

    `report` is called with what was recognised of local files, where it is not usual.

    A catalog's table, and what lies in an object store, is checked through Spark before a row of it
    is read.

    Raises:
        UnknownNameError: a name is given for a column that the card does not read.
        DataError: a column is absent, or a file has no row or cannot be read.
        LakeError: a folder contains no Delta table.
    """
    check_renamed(card)
    table = card.source.table
    if table is None:
        check_head(card, report)
        return
    columns = delta_columns(table) if is_delta_path(table) else None
    if columns is not None:
        check_columns(f"table {table!r}", required_columns(card), columns, from_schema=True)


def check_named_columns(source: DataSource, names: Mapping[str, str | None]) -> None:
    """Refuse a column that local files do not have, by the flag that names it.

    Raises:
        DataError: there is no such column, or a file cannot be read.
    """
    requested = {flag: name for flag, name in names.items() if name}
    columns = _columns(source, list(requested.values()))
    for flag, name in requested.items():
        if columns and name not in columns:
            raise DataError(
                f"{source.files[0].shown_path}: --{flag} is {name!r}, which is none of its "
                f"{len(columns)} columns; {lacking(name, columns, list(requested.values()))}"
            )


def _columns(source: DataSource, requested: Sequence[str]) -> list[str]:
    """The columns of the first file; below a title where the requested ones are there."""
    for required in (requested, ()):
        try:
            rows = list(islice(read_records(source.files[0], source, required=required), HEAD))
        except MissingColumnError:
            continue
        return list(dict.fromkeys(name for row in rows for name in row.fields))
    return []
