"""Files of lines: csv and tsv, plain text, one record a file or a line."""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from medhelm_spark.delimited import Delimited, TableError
from medhelm_spark.domain.columns import SHOWN_COLUMNS
from medhelm_spark.encoded_text import NotTextError, Utf8
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios.raw_files import (
    UNREAD,
    CheckColumns,
    RawFile,
    repeated,
)
from medhelm_spark.scenarios.records import BadReason


def text_lines(file: RawFile) -> Iterator[str]:
    """The lines of a text file with their own line ends, read in blocks.

    Raises:
        DataError: the bytes are no text of an encoding that they show; the message gives the offset
            in the file, or the kind of file where its first bytes show it.
    """
    text = Utf8(file.stream, file.source.encoding, file.report)
    with _readable(file):
        yield from io.TextIOWrapper(cast(BinaryIO, text), encoding="utf-8", newline="")


@contextmanager
def _readable(file: RawFile) -> Iterator[None]:
    try:
        yield
    except (NotTextError, TableError) as error:
        raise DataError(f"{file.path}: {error}.") from None


def read_delimited(
    file: RawFile, check: CheckColumns, *, delimiter: str
) -> Iterator[Mapping[str, str] | BadReason]:
    """The rows of a delimited file as column to text, or the reason why a row has no columns.

    Empty cells beyond the header, as spreadsheets leave them, are passed over.

    Raises:
        DataError: empty file, duplicate header names, a broken quote or a cell over 64 Mi
            characters; from there on no row could be trusted.
    """
    source = file.source
    with _readable(file):
        table = Delimited(
            file.stream,
            delimiter,
            file.required,
            separator=source.separator,
            encoding=source.encoding,
            report=file.report,
        )
        _check_unique(file.path, table)
        check(table.names)
        names, indices, width = table.names, table.indices, len(table.header)
        needed = indices[-1] + 1 if indices else 0
        for row, cells in enumerate(table.rows, 1):
            if not file.is_in_partition(row):
                yield UNREAD
            elif len(cells) < needed:
                yield BadReason.SHORT_ROW
            elif any(cells[width:]):
                yield BadReason.LONG_ROW
            else:
                yield {name: cells[index] for name, index in zip(names, indices, strict=True)}


def _check_unique(path: str, table: Delimited) -> None:
    if numbers := repeated(table.names):
        twice = ", ".join(str(table.indices[number - 1] + 1) for number in numbers[:SHOWN_COLUMNS])
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
