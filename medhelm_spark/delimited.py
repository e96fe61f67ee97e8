"""Reads tables of delimited text: finds the separator and the row with the column names.

Every cell is text, exactly as in the file, also newlines inside quotes. The reader never converts a
cell: `001`, `NA` and `null` stay text; an empty cell is the empty text. A quote inside quotes is
doubled; the reader accepts a backslash before it only if the file is well-formed in no other
way. The reader skips columns without a name and rows of empty cells, which spreadsheets leave.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import BinaryIO, cast

from medhelm_spark.encoded_text import Utf8, quiet

SEPARATORS = (",", ";", "\t", "|")
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
"""The first line from which Excel reads the separator."""
ESCAPED, DOUBLED = '\\"', '""'
"""A quote inside quotes: as Spark and MySQL write it, and as all other programs write it."""
HEAD_LINES = 200
"""How many lines show the layout of a file."""
HEADER_ROWS = 20
"""In how many rows the reader looks for the column names: a title may precede them."""
MAX_CELL_CHARACTERS = 64 << 20
Named = Callable[[Sequence[str]], bool]
"""A function that returns whether a row names the columns that are needed."""


class TableError(ValueError):
    """A table that the reader refuses; the caller puts the file's name before the message."""


def names_all(required: Sequence[str]) -> Named:
    """A function that returns whether a row has all required names; for "a|b" one is enough.

    >>> names_all(["note|letter", "id"])(["id", "letter"]), names_all([])(["id"])
    (True, False)
    """

    def is_header(cells: Sequence[str]) -> bool:
        return bool(required) and all(
            name in cells or any(part in cells for part in name.split("|")) for name in required
        )

    return is_header


def header_row(rows: Sequence[Sequence[str]], is_header: Named) -> int | None:
    """The index of the first row that `is_header` accepts; None if it accepts no row."""
    return next((index for index, cells in enumerate(rows) if is_header(cells)), None)


def is_blank(cells: Sequence[str]) -> bool:
    """Whether a row contains only white space."""
    text = "".join(cells)
    return not text or text.isspace()


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the columns and their names are in a file."""

    separator: str
    """The sign between columns."""

    above: int = 0
    """How many rows precede the column names, without blank rows."""

    is_named: bool = False
    """Whether a row has all needed names: it is then a header and not data."""


class Delimited:
    """The header and the rows of a delimited file.

    Args:
        stream: the file's bytes.
        usual: the separator to prefer.
        required: the columns that the header must have.
        separator: the separator, if it is known.
        encoding: the encoding, if it is known.
        report: called with each thing in the file that is not usual.

    Raises:
        NotTextError: the file is not text.
        TableError: the file is empty, or has a broken quote, after which no row is reliable.
    """

    def __init__(
        self,
        stream: BinaryIO,
        usual: str,
        required: Sequence[str] = (),
        *,
        separator: str | None = None,
        encoding: str | None = None,
        report: Callable[[str], None] = quiet,
    ) -> None:
        # The limit is one for the process: only raise it, so that readers in threads agree.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL_CHARACTERS))
        text = cast(BinaryIO, Utf8(stream, encoding, report))
        lines = iter(io.TextIOWrapper(text, encoding="utf-8", newline=""))
        head = list(islice(lines, HEAD_LINES))
        self._first_line = 1
        first = SEPARATOR_LINE.fullmatch(head[0]) if head else None
        if first:
            del head[0]
            self._first_line = 2
        named = separator or (first and first[1])
        self.layout = _layout(head, usual, names_all(required), named)
        if self.layout.separator not in (usual, separator):
            report(f"columns separated by {self.layout.separator!r}")
        if self.layout.above:
            report(f"column names in row {self.layout.above + 1}")
        whole: Iterator[str] = chain(head, lines)
        if _has_backslashes(head, self.layout.separator):
            report("quotes inside quotes written with a backslash")
            whole = (line.replace(ESCAPED, DOUBLED) for line in whole)
        self._rows = self._read(whole)
        self.header = self._header()

    def _header(self) -> list[str]:
        header = list(islice(self._rows, self.layout.above, self.layout.above + 1))
        if not header:
            raise TableError("the file is empty; a header line is needed")
        return header[0]

    @property
    def names(self) -> list[str]:
        """The names of the columns that have one."""
        return [name for name in self.header if name.strip()]

    @property
    def indices(self) -> list[int]:
        """The indices of the named columns in a row."""
        return [index for index, name in enumerate(self.header) if name.strip()]

    @property
    def rows(self) -> Iterator[list[str]]:
        """The rows below the header that are not blank."""
        return self._rows

    def _read(self, lines: Iterator[str]) -> Iterator[list[str]]:
        reader = csv.reader(lines, delimiter=self.layout.separator, strict=True)
        first, count, before = self._first_line, -self.layout.above, 0
        try:
            for cells in reader:
                before = reader.line_num
                if not is_blank(cells):
                    yield cells
                    count += 1
        except csv.Error as error:
            where = f"data row {count}" if count > 0 else "the header"
            begin, end = before + first, reader.line_num + first - 1
            at = f"line {end}" if begin >= end else f"lines {begin} to {end}"
            raise TableError(
                f"{where}, at {at}, is not well-formed ({error}); quotes inside quotes are "
                "doubled (Spark: option escape is '\"'), and a quoted cell ends with its quote"
            ) from None


def _layout(head: Sequence[str], usual: str, is_header: Named, separator: str | None) -> Layout:
    """The usual separator, unless only another sign gives all names or several columns."""
    separators = (separator,) if separator else dict.fromkeys((usual, *SEPARATORS))
    widths: dict[str, int] = {}
    for sign in separators:
        rows = _first_rows(head, sign)
        above = header_row(rows, is_header)
        if above is not None:
            return Layout(sign, above, is_named=True)
        widths[sign] = len(rows[0]) if rows else 0
    return Layout(max(widths, key=lambda sign: (widths[sign] > 1, sign == usual, widths[sign])))


def _has_backslashes(head: Sequence[str], separator: str) -> bool:
    """Whether the first lines are well-formed only if a backslash escapes a quote.

    In all other files a backslash is text.
    """
    return any(ESCAPED in line for line in head) and [
        _is_well_formed(lines, separator)
        for lines in (head, [line.replace(ESCAPED, DOUBLED) for line in head])
    ] == [False, True]


def _is_well_formed(head: Sequence[str], separator: str) -> bool:
    """Whether the first lines are rows of one width; the last row may continue below them."""
    rows = csv.reader(head, delimiter=separator, strict=True)
    try:
        widths = {len(cells) for cells in rows if not is_blank(cells)}
    except csv.Error as error:
        return len(head) == HEAD_LINES and "unexpected end" in str(error)
    return len(widths) <= 1


def _first_rows(head: Sequence[str], separator: str) -> list[list[str]]:
    """The first rows that are not blank, up to the first row that `csv` cannot read."""
    rows: list[list[str]] = []
    try:
        for cells in csv.reader(head, delimiter=separator):
            rows += [] if is_blank(cells) else [cells]
            if len(rows) == HEADER_ROWS:
                break
    except csv.Error:
        pass  # `_read` raises it with the line
    return rows
