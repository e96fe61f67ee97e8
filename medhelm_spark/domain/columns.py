"""Columns that somebody names, against those that a table has, and how messages show them."""

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from medhelm_spark.domain.pluralize import first_of

SHOWN_COLUMNS = 200
"""Names or numbers of columns in one message."""
LIKENESS = 0.75
"""From this on (difflib's) a name is another one misspelled; less may be a cell of a first row."""
COMPARED = 2_000
"""Columns that a name is compared with, one letter after the other."""
_PAIR = re.compile(
    r"""\s*(?P<name>[^=,]*?)\s*=\s*(?:'(?P<single>[^']*)'|"(?P<double>[^"]*)"|(?P<plain>[^,]*?))"""
    r"""\s*(?:,|$)"""
)
"""A NAME=COLUMN of a list; a comma inside quotes belongs to the column."""


NAME = re.compile(r"[^\W\d][\w.:/()%+-]*(?: [\w.:/()%+-]+){0,2}")
LONGEST = 40
DIGITS = re.compile(r"\d\D*\d\D*\d")
"""Numbers, dates and ids of records have three digits; names of columns seldom."""


def parse_pairs(text: str) -> Iterator[tuple[str, str]]:
    """`NAME=COLUMN,NAME=COLUMN` as pairs; a column's name may be in quotes.

    >>> list(parse_pairs("completion='Answer, final',source_id=Case no."))
    [('completion', 'Answer, final'), ('source_id', 'Case no.')]

    Raises:
        ValueError: a part is not written so, or one of the two is empty; the error has this part.
    """
    at = 0
    while at < len(text):
        pair = _PAIR.match(text, at)
        column = (pair["single"] or pair["double"] or pair["plain"] or "") if pair else ""
        if pair is None or not pair["name"] or not column.strip():
            raise ValueError(text[at:])
        yield pair["name"], column
        at = pair.end()


def shown_column(number: int, name: str) -> str:
    """A column's name for a message; its number where it looks like anything but a name."""
    return repr(name) if re.fullmatch(r"[\w .:()/-]{1,60}", name) else f"(column {number})"


def listed_columns(columns: Sequence[str], most: int = SHOWN_COLUMNS) -> str:
    """The first columns as a message shows them."""
    return first_of([shown_column(number, name) for number, name in enumerate(columns, 1)], most)


def nearest(name: str, columns: Sequence[str]) -> str | None:
    """The column that is nearest to a name that no column has, if one is near at all.

    >>> nearest("urgnt", ["id", "urgent"]), nearest("x", ["id"])
    ('urgent', None)
    """
    folded = {column.strip().casefold(): column for column in reversed(columns[:COMPARED])}
    near = get_close_matches(name.strip().casefold(), folded, 1, LIKENESS)
    return folded[near[0]] if near else None


def lacking(name: str, columns: Sequence[str], needed: Sequence[str]) -> str:
    """The end of a sentence about a column that a table lacks.

    Its columns are listed only where one of the `needed` is among them, and all read as names: else
    its first line may be data.
    """
    near = nearest(name, columns)
    if near and not reads_as_names([near]):
        near = None
    if not set(needed).isdisjoint(columns):
        if reads_as_names(columns):
            return f"columns: {listed_columns(columns)}{f'; is {near!r} meant?' if near else '.'}"
        return f"not all of them read as names of columns; {_question(near)}"
    return _question(near)


def _question(near: str | None) -> str:
    return f"is {near!r} meant?" if near else "is the header line missing?"


def reads_as_names(cells: Sequence[str]) -> bool:
    """Whether every cell of a line may be a column's name: other than data, up to three words.

    >>> reads_as_names(["id", "discharge letter", "Urgent (%)"])
    True
    >>> reads_as_names(["text", "MRN-0042", "yes"]), reads_as_names(["id", "came with a cough"])
    (False, False)
    """
    return all(
        len(cell) <= LONGEST and NAME.fullmatch(cell) and not DIGITS.search(cell) for cell in cells
    )
