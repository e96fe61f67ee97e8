"""Files of lines: csv and tsv, plain text, one record a file or a line.

Every cell of csv and tsv is text, exactly as written: UTF-8 with or without a byte order mark,
quotes doubled inside quotes, newlines inside quotes. A cell is never interpreted: `001`, `NA` and
`null` stay; an empty cell is the empty text.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from medhelm_spark.errors import DataError
from medhelm_spark.scenarios.raw_files import (
    SHOWN_COLUMNS,
    UNREAD,
    CheckColumns,
    RawFile,
    repeated,
)
from medhelm_spark.scenarios.records import BadReason
from medhelm_spark.scenarios.sources import CountedStream

MAX_CELL_CHARACTERS = 64 << 20
WIDE = b"\xff\xfe"
_WIDE = "is UTF-16 or UTF-32; save it as UTF-8"
_OTHER = "is {}, not text; give it the ending of what it is"
NOT_TEXT: Mapping[bytes, str] = {
    WIDE: _WIDE,
    b"\xfe\xff": _WIDE,
    b"PK\x03\x04": _OTHER.format("a zip archive or an Office file"),
    b"\x1f\x8b": _OTHER.format("gzip"),
    b"PAR1": _OTHER.format("Parquet"),
    b"ARROW1": _OTHER.format("Feather"),
}
"""What files are that are no UTF-8, by their first bytes."""


def text_lines(file: RawFile) -> Iterator[str]:
    """The lines of a UTF-8 file with their own line ends, read in blocks.

    Raises:
        DataError: a byte is not UTF-8; the message gives its offset in the file, and what the file
            is where its first bytes tell.
    """
    counted = CountedStream(file.stream)
    wrapper = io.TextIOWrapper(cast(BinaryIO, counted), encoding="utf-8-sig", newline="")
    try:
        first = next(wrapper, "")
        if b"\0" in counted.head[:2]:  # without a mark it would pass for UTF-8
            raise DataError(f"{file.path}: {NOT_TEXT[WIDE]}.")
        if first:
            yield first
        yield from wrapper
    except UnicodeDecodeError as error:
        kind = next((kind for head, kind in NOT_TEXT.items() if counted.head.startswith(head)), "")
        if kind:
            raise DataError(f"{file.path}: {kind}.") from None
        offset = counted.handed - len(error.object) + error.start
        raise DataError(f"{file.path}: not UTF-8 at byte {offset}; save it as UTF-8.") from None


def read_delimited(
    file: RawFile, check: CheckColumns, *, delimiter: str
) -> Iterator[Mapping[str, str] | BadReason]:
    """The rows of a delimited file as column to text, or the reason why a row has no columns.

    Empty cells beyond the header, as spreadsheets leave them, are passed over.

    Raises:
        DataError: empty file, duplicate header names, a broken quote or a cell over 64 Mi
            characters; from there on no row could be trusted.
    """
    rows = _rows(file, delimiter)
    header = next(rows, None)
    if header is None:
        raise DataError(f"{file.path}: the file is empty; a header line is needed.")
    _check_unique(file.path, header)
    check(header)
    width = len(header)
    for row, cells in enumerate(rows, 1):
        if not file.is_wanted(row):
            yield UNREAD
        elif len(cells) == width or (len(cells) > width and not any(cells[width:])):
            yield dict(zip(header, cells, strict=False))
        else:
            yield BadReason.SHORT_ROW if len(cells) < width else BadReason.LONG_ROW


def _rows(file: RawFile, delimiter: str) -> Iterator[list[str]]:
    # The limit belongs to the process: it is only ever raised, so that readers in threads agree.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL_CHARACTERS))
    reader = csv.reader(text_lines(file), delimiter=delimiter, strict=True)
    count, before = 0, 0
    try:
        for cells in reader:
            before = reader.line_num
            if cells:
                yield cells
                count += 1
    except csv.Error as error:
        where = f"data row {count}" if count else "the header"
        first, last = before + 1, reader.line_num
        lines = f"line {last}" if first >= last else f"lines {first} to {last}"
        raise DataError(
            f"{file.path}: {where}, at {lines}, is not well-formed "
            f"({error}); quotes inside quotes are doubled, and a quoted cell ends with its quote."
        ) from None


def _check_unique(path: str, header: Sequence[str]) -> None:
    if places := repeated(header):
        twice = ", ".join(map(str, places[:SHOWN_COLUMNS]))
        raise DataError(f"{path}: the header gives a column name twice (column {twice}).")


read_csv = partial(read_delimited, delimiter=",")
read_tsv = partial(read_delimited, delimiter="\t")


def stem(path: str) -> str:
    """The name of a file without folder and ending.

    >>> stem("notes/Otitis Media.txt")
    'Otitis Media'
    """
    return PurePosixPath(path).stem


def read_text(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, str] | BadReason]:
    """One record: the file's `text`, and its name without the ending as `file`."""
    check(("file", "text"))
    yield {"file": stem(file.member or file.path), "text": "".join(text_lines(file))}


def read_lines(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, str] | BadReason]:
    """A record for every line: its number from 1 as `line`, its `text` without the line end."""
    check(("line", "text"))
    for number, line in enumerate(text_lines(file), 1):
        yield {"line": str(number), "text": line.rstrip("\r\n")}
