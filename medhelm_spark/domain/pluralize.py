"""A number with its noun, for messages."""

import re
from collections.abc import Sequence

_TO_IES = re.compile(r"(?<=[^aeiou])y$")
_ENDING = re.compile(r"(?<=\w) (?:id|no|nr|number)$")


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "run"), counted(2, "run"), counted(0, "model call"), counted(3, "run entry")
    ('1 run', '2 runs', '0 model calls', '3 run entries')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {_TO_IES.sub('ie', noun)}s"


def counted_by(number: int, column: str | None) -> str:
    """How many values of a column there are, by what the column is of; without one clusters.

    >>> counted_by(46, "patient_id"), counted_by(1, "Calculator ID"), counted_by(2, None)
    ('46 patients', '1 calculator', '2 clusters')
    """
    words = (column or "cluster").casefold().replace("_", " ").strip()
    return counted(number, _ENDING.sub("", words))


def first_of(names: Sequence[str], most: int = 4) -> str:
    """Names as a sentence lists them: the first ones, and how many more there are.

    >>> first_of(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
