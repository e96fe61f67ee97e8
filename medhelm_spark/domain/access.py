"""AccessLevel: who may have data, and the level of what is derived from it."""

from collections.abc import Iterable
from enum import StrEnum


class AccessLevel(StrEnum):
    """Who may hold the data: anyone, those who signed its agreement, or one institution."""

    PUBLIC = "public"
    GATED = "gated"
    PRIVATE = "private"

    @property
    def strictness(self) -> int:
        """0 for `public`, 1 for `gated`, 2 for `private`."""
        return _STRICTNESS[self]


_STRICTNESS = {level: rank for rank, level in enumerate(AccessLevel)}


def strictest(levels: Iterable[AccessLevel]) -> AccessLevel:
    """The level of a row derived from rows of these levels; PRIVATE when there are none."""
    return max(levels, key=_STRICTNESS.__getitem__, default=AccessLevel.PRIVATE)
