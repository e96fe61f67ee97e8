"""Whether the first line of a file can be shown: a file without a header begins with data."""

import re
from collections.abc import Sequence

NAME = re.compile(r"[^\W\d][\w.:/()%+-]*(?: [\w.:/()%+-]+){0,2}")
LONGEST = 40
DIGITS = re.compile(r"\d\D*\d\D*\d")
"""Numbers, dates and ids of records have three digits; names of columns seldom."""


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
