"""The columns that a person typed, against those that their file has."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from medhelm_spark.config.benchmark import format_of
from medhelm_spark.domain.counting import first_of
from medhelm_spark.domain.header import reads_as_names
from medhelm_spark.domain.scenario import DataSource, SourceFile
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import read_records, shown_column

HEAD = 100
"""Rows that are asked for their columns: in JSON each may lack some."""


def check_given_columns(place: str, given: Mapping[str, str | None]) -> None:
    """Refuse a column that a local file does not have, by the flag that names it.

    Its columns are listed where one of those that are given is among them, and all read as names:
    else the first line may be data. Other places are left to what reads them.

    Raises:
        DataError: there is no such column, or the file cannot be read.
    """
    path = Path(place).expanduser()
    if not path.is_file():
        return
    source = DataSource(format=format_of(place))
    rows = islice(read_records(SourceFile(path=str(path)), source), HEAD)
    columns = list(dict.fromkeys(name for row in rows for name in row.fields))
    wanted = {flag: name for flag, name in given.items() if name}
    for flag, name in wanted.items():
        if columns and name not in columns:
            is_known = not set(wanted.values()).isdisjoint(columns)
            is_header = is_known and reads_as_names(columns)
            raise DataError(
                f"{place}: --{flag} is {name!r}, which is none of its {len(columns)} columns"
                + (_listed(name, columns) if is_header else "; is the header line missing?")
            )


def _listed(name: str, columns: Sequence[str]) -> str:
    near = get_close_matches(name, columns, 1)
    meant = f"; is {near[0]!r} meant?" if near else "."
    named = [shown_column(number, column) for number, column in enumerate(columns, 1)]
    return f": {first_of(named, 20)}{meant}"
