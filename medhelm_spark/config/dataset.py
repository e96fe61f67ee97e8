"""A benchmark's own files before they are read: the fields of its template, its csv header."""

import json
import string
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from medhelm_spark.delimited import Delimited, TableError
from medhelm_spark.domain.columns import lacking
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.encoded_text import NotTextError
from medhelm_spark.errors import ConfigError
from medhelm_spark.local_files import open_file

SHOWN_LENGTH = 40
"""Of a longer field only the number is shown: the file named may be no template, but anything."""
ANSWER_COLUMN, INCORRECT_COLUMN = "correct_answer", "incorrect_answers"
KNOWN_COLUMNS = ("id", ANSWER_COLUMN, INCORRECT_COLUMN)


def template_columns(template: str, where: str) -> tuple[str, ...]:
    """The columns that a prompt template names, each once, in order.

    Raises:
        ConfigError: If a brace is alone, a field is more than a column, or there is none.
    """
    try:
        parsed = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ConfigError(f"{where}: {error}; write {{{{ and }}}} for literal braces.") from None
    fields = [(name, spec, conv) for _, name, spec, conv in parsed if name is not None]
    for number, (name, spec, conversion) in enumerate(fields, 1):
        if not name.strip() or spec or conversion:
            is_short = len(name) <= SHOWN_LENGTH and "\n" not in name
            named = f"the field {{{name}...}}" if is_short else f"field number {number}"
            raise ConfigError(
                f"{where}: {named} is not {{column}}; write a column's name only, "
                "and {{ and }} for literal braces."
            )
    columns = tuple(dict.fromkeys(name for _, name, _, _ in parsed if name is not None))
    if not columns:
        raise ConfigError(f"{where}: names no {{column}}, so every prompt would be the same.")
    return columns


def csv_columns(
    file: SourceFile, delimiter: str, needed: Sequence[str], *, source: DataSource
) -> tuple[str, ...]:
    """The header of a csv or tsv file that has at least one row below it.

    Raises:
        ConfigError: If the file is empty, has no row, is no text, or names a column twice.
    """
    try:
        with open_file(Path(file.path)) as stream:
            table = _table(stream, source, delimiter, needed)
            has_rows = next(table.rows, None) is not None
    except (NotTextError, TableError) as error:
        raise ConfigError(f"{file.shown_path}: {error}.") from None
    except OSError as error:
        raise ConfigError(f"{file.shown_path}: cannot be read ({type(error).__name__}).") from None
    if not has_rows:
        raise ConfigError(
            f"{file.shown_path}: has a header and no rows; a data set needs at least one."
        )
    first: dict[str, int] = {}
    for number, name in enumerate(table.names, 1):
        if (earlier := first.setdefault(name, number)) != number:
            # The first line of a file without a header is data, and is not shown.
            raise ConfigError(
                f"{file.shown_path}: columns {earlier} and {number} have the same name."
            )
    return tuple(table.names)


def csv_references(
    path: Path, delimiter: str, columns: Mapping[str, str], *, source: DataSource
) -> Iterator[str]:
    """The right and wrong answers of a csv or tsv, without outer space; a broken row's not.

    `columns` has the file's names for ours. A file that cannot be read to its end is left to
    ingest, which reports what is wrong.
    """
    right, wrong = (columns.get(name, name) for name in (ANSWER_COLUMN, INCORRECT_COLUMN))
    try:
        with open_file(path) as stream:
            table = _table(stream, source, delimiter, [right])
            for cells in table.rows:
                row = dict(zip(table.header, cells, strict=False))
                texts = [row.get(right), *_listed(row.get(wrong))]
                yield from (text.strip() for text in texts if text and text.strip())
    except (NotTextError, TableError, OSError):
        return


def _table(
    stream: BinaryIO, source: DataSource, delimiter: str, needed: Sequence[str]
) -> Delimited:
    return Delimited(
        stream, delimiter, needed, separator=source.separator, encoding=source.encoding
    )


def _listed(text: str | None) -> list[str]:
    try:
        value = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return []
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def require_columns(
    columns: Sequence[str], needed_by: Mapping[str, Sequence[str]], path: str
) -> None:
    """Refuses a csv file that lacks a column; `needed_by` are columns by what needs them."""
    known = [name for names in needed_by.values() for name in names]
    for why, names in needed_by.items():
        for name in names:
            if name not in columns:
                raise ConfigError(
                    f"{path}: has no column {name!r}, which {why} needs; "
                    f"{lacking(name, columns, [*known, *KNOWN_COLUMNS])}"
                )
