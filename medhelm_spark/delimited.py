"""Tables of delimited text: which sign separates the columns, and in which row their names stand.

Every cell is text, exactly as written, newlines inside quotes too. Quotes inside quotes are
doubled, or stand behind a backslash where the file is well-formed in no other way. A cell is never
interpreted: `001`, `NA` and `null` stay; an empty cell is the empty text. A column without a name
and a row of empty cells, as spreadsheets leave them, are passed over.
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
"""The line by which Excel is told the separator."""
ESCAPED, DOUBLED = '\\"', '""'
"""A quote inside quotes as Spark and MySQL write it, and as all others do."""
HEAD_LINES = 200
HEADER_ROWS = 20
"""Among so many rows the names of the columns are looked for: a title may stand above them."""
MAX_CELL_CHARACTERS = 64 << 20
Named = Callable[[Sequence[str]], bool]
"""Whether a row names the columns that are needed."""


class TableError(ValueError):
    """A table that cannot be trusted: a sentence without its subject, which is the file."""


def names_all(required: Sequence[str]) -> Named:
    """Whether a row has all of these names; "a|b" is satisfied by either.

    >>> names_all(["note|letter", "id"])(["id", "letter"]), names_all([])(["id"])
    (True, False)
    """

    def is_header(cells: Sequence[str]) -> bool:
        return bool(required) and all(
            name in cells or any(part in cells for part in name.split("|")) for name in required
        )

    return is_header


def header_row(rows: Sequence[Sequence[str]], is_header: Named) -> int | None:
    """The place of the first row that names what is needed, None where none does."""
    return next((place for place, cells in enumerate(rows) if is_header(cells)), None)


def is_blank(cells: Sequence[str]) -> bool:
    """Whether nothing but white space stands in a row."""
    text = "".join(cells)
    return not text or text.isspace()


@dataclass(frozen=True, slots=True)
class Layout:
    """The sign between columns, and how many rows with something in them stand above the names.

    `is_named`: a row with all needed names was found, so that it is a header and not data.
    """

    separator: str
    above: int = 0
    is_named: bool = False


class Delimited:
    """A delimited file from its first row on.

    Raises:
        NotTextError: it is no text.
        TableError: it is empty, or a quote is broken; from there on no row could be trusted.
    """

    def __init__(
        self,
        stream: BinaryIO,
        usual: str,
        required: Sequence[str] = (),
        *,
        separator: str | None = None,
        encoding: str | None = None,
        tell: Callable[[str], None] = quiet,
    ) -> None:
        # The limit is the process's: it is only ever raised, so that readers in threads agree.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL_CHARACTERS))
        text = cast(BinaryIO, Utf8(stream, encoding, tell))
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
            tell(f"columns separated by {self.layout.separator!r}")
        if self.layout.above:
            tell(f"column names in row {self.layout.above + 1}")
        whole: Iterator[str] = chain(head, lines)
        if _has_backslashes(head, self.layout.separator):
            tell("quotes inside quotes written with a backslash")
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
    def places(self) -> list[int]:
        """Where in a row the named columns stand, from 0."""
        return [place for place, name in enumerate(self.header) if name.strip()]

    @property
    def rows(self) -> Iterator[list[str]]:
        """The rows below the header that have something in them."""
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
    """The usual separator, unless only another one gives the needed names, or several columns."""
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
    """Whether the first lines are well-formed only where a backslash escapes a quote.

    Any other backslash is text.
    """
    return any(ESCAPED in line for line in head) and [
        _is_well_formed(lines, separator)
        for lines in (head, [line.replace(ESCAPED, DOUBLED) for line in head])
    ] == [False, True]


def _is_well_formed(head: Sequence[str], separator: str) -> bool:
    """Whether the first lines are rows of one width; the last row may go on below them."""
    rows = csv.reader(head, delimiter=separator, strict=True)
    try:
        widths = {len(cells) for cells in rows if not is_blank(cells)}
    except csv.Error as error:
        return len(head) == HEAD_LINES and "unexpected end" in str(error)
    return len(widths) <= 1


def _first_rows(head: Sequence[str], separator: str) -> list[list[str]]:
    """The first rows with something in them, as far as they can be read."""
    rows: list[list[str]] = []
    try:
        for cells in csv.reader(head, delimiter=separator):
            rows += [] if is_blank(cells) else [cells]
            if len(rows) == HEADER_ROWS:
                break
    except csv.Error:
        pass  # it is told where it is read
    return rows
