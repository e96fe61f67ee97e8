"""Names in the order in which a person lists them: numbers within a name by their value."""

import re

_NUMBER = re.compile(r"([0-9]+)")


def in_natural_order(name: str) -> tuple[str | int, ...]:
    """Sort key of a name.

    >>> sorted(["ward-10", "ward-2", "letters"], key=in_natural_order)
    ['letters', 'ward-2', 'ward-10']
    """
    # Texts and numbers alternate, a text first, so that two keys never compare one with the other.
    return tuple(int(part) if index % 2 else part for index, part in enumerate(_NUMBER.split(name)))
