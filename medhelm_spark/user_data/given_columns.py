"""The columns that a person typed, against those that their file has."""

from collections.abc import Mapping, Sequence
from itertools import islice

from medhelm_spark.domain.columns import lacking
from medhelm_spark.domain.scenario import DataSource
from medhelm_spark.errors import DataError, MissingColumnError
from medhelm_spark.scenarios import read_records

HEAD = 100
"""Rows that are asked for their columns: in JSON each may lack some."""


def check_given_columns(source: DataSource, given: Mapping[str, str | None]) -> None:
    """Refuse a column that local files do not have, by the flag that names it.

    Raises:
        DataError: there is no such column, or a file cannot be read.
    """
    wanted = {flag: name for flag, name in given.items() if name}
    columns = _columns(source, list(wanted.values()))
    for flag, name in wanted.items():
        if columns and name not in columns:
            raise DataError(
                f"{source.files[0].path}: --{flag} is {name!r}, which is none of its "
                f"{len(columns)} columns; {lacking(name, columns, list(wanted.values()))}"
            )


def _columns(source: DataSource, wanted: Sequence[str]) -> list[str]:
    """The columns of the first file; below a title where the wanted ones stand there."""
    for required in (wanted, ()):
        try:
            rows = list(islice(read_records(source.files[0], source, required=required), HEAD))
        except MissingColumnError:
            continue
        return list(dict.fromkeys(name for row in rows for name in row.fields))
    return []
