"""A benchmark's own files before they are read: the fields of its template, its csv header."""

import csv
import io
import json
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from medhelm_spark.domain.header import reads_as_names
from medhelm_spark.errors import ConfigError
from medhelm_spark.local_files import open_file

MAX_HEADER_CELL = 1 << 20
SHOWN_LENGTH = 40
"""Of a longer field only the number is shown: the file named may be no template, but anything."""
DIVIDERS = re.compile(r"[;|\t]")
ANSWER_COLUMN, INCORRECT_COLUMN = "correct_answer", "incorrect_answers"
KNOWN_COLUMNS = ("id", ANSWER_COLUMN, INCORRECT_COLUMN)
MAX_CELL = 1 << 27


def template_columns(template: str, where: str) -> tuple[str, ...]:
    """The columns that a prompt template names, each once, in order.

    Raises:
        ConfigError: If a brace stands alone, a field is more than a column, or there is none.
    """
    try:
        parsed = list(string.Formatter().parse(template))
    except ValueError as error:
        raise ConfigError(f"{where}: {error}; write {{{{ and }}}} for literal braces.") from None
    fields = [(name, spec, conv) for _, name, spec, conv in parsed if name is not None]
    for number, (name, spec, conversion) in enumerate(fields, 1):
        if not name.strip() or spec or conversion:
            is_short = len(name) <= SHOWN_LENGTH and "\n" not in name
            shown = f"the field {{{name}...}}" if is_short else f"field number {number}"
            raise ConfigError(
                f"{where}: {shown} is not {{column}}; write a column's name only, "
                "and {{ and }} for literal braces."
            )
    columns = tuple(dict.fromkeys(name for _, name, _, _ in parsed if name is not None))
    if not columns:
        raise ConfigError(f"{where}: names no {{column}}, so every prompt would be the same.")
    return columns


def csv_columns(path: Path, delimiter: str = ",") -> tuple[str, ...]:
    """The header of a csv or tsv file that holds at least one row below it.

    Raises:
        ConfigError: If the file is empty, has no row, is not UTF-8, or names a column twice.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_HEADER_CELL))
    try:
        with io.TextIOWrapper(open_file(path), encoding="utf-8-sig", newline="") as handle:
            header = next(csv.reader(handle, delimiter=delimiter), [])
            has_rows = any(line.strip() for line in handle)
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start} is not UTF-8; save it as UTF-8.") from None
    except (OSError, csv.Error) as error:
        raise ConfigError(f"{path}: cannot be read ({type(error).__name__}).") from None
    if not header:
        raise ConfigError(f"{path}: is empty; its first line must name the columns.")
    if not has_rows:
        raise ConfigError(f"{path}: has a header and no rows; a data set needs at least one.")
    first: dict[str, int] = {}
    for number, name in enumerate(header, 1):
        if (earlier := first.setdefault(name, number)) != number:
            # The first line of a file without a header is data, and is not shown.
            raise ConfigError(f"{path}: columns {earlier} and {number} have the same name.")
    return tuple(header)


def csv_references(path: Path, delimiter: str, columns: Mapping[str, str]) -> Iterator[str]:
    """The right and wrong answers of a csv or tsv, without outer space; a broken row's not.

    `columns` says what the file calls ours. A file that cannot be read to its end is left to
    ingest, which says what is wrong.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
    try:
        with io.TextIOWrapper(open_file(path), encoding="utf-8-sig", newline="") as handle:
            right, wrong = (columns.get(name, name) for name in (ANSWER_COLUMN, INCORRECT_COLUMN))
            for row in csv.DictReader(handle, delimiter=delimiter):
                texts = [row.get(right), *_listed(row.get(wrong))]
                yield from (text.strip() for text in texts if text and text.strip())
    except (UnicodeDecodeError, OSError, csv.Error):
        return


def _listed(text: str | None) -> list[str]:
    try:
        value = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return []
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def require_columns(columns: Sequence[str], needed: Sequence[str], path: Path, why: str) -> None:
    """Refuses a csv file that lacks a column that `why` needs.

    The columns are listed only where one of them is known, however they are divided, and all read
    as names: else the first line may be data.
    """
    parts = {part.strip() for column in columns for part in DIVIDERS.split(column)}
    for name in needed:
        if name not in columns:
            is_known = not {*needed, *KNOWN_COLUMNS}.isdisjoint(parts)
            there = (
                f"columns: {', '.join(columns)}."
                if is_known and reads_as_names(sorted(parts))
                else f"{'one' if is_known else 'none'} of its {len(columns)} columns is known; "
                "is the header line missing?"
            )
            raise ConfigError(f"{path}: has no column {name!r}, which {why} needs; {there}")
