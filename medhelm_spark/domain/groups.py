"""Groups of patients: columns of the data that no prompt shows and that results are told apart by.

A column's values are groups as they stand; of a number its bands are. What a row does not say is
the group NOT_STATED.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

NOT_STATED = ""
"""The group of the rows that have no value, or in a band no number."""

NOT_STATED_LABEL = "(not stated)"

MAX_GROUPS = 50
"""The most values of a column: beyond it the column is an id or a number without bands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Groups of a number: those below, between and from `edges` on, which ascend."""

    column: str
    """The column that holds the number."""

    edges: tuple[float, ...]
    """Where one group ends and the next one, which has the edge itself, begins."""

    def group_of(self, text: str) -> str:
        """The group of a number; NOT_STATED for what is none.

        >>> age = Band(column="age", edges=(18, 65))
        >>> age.group_of("17.9"), age.group_of("18"), age.group_of("90"), age.group_of("old")
        ('under 18', '18 to under 65', '65 and over', '')
        """
        try:
            number = float(text)
        except ValueError:
            return NOT_STATED
        if math.isnan(number):
            return NOT_STATED
        above = sum(number >= edge for edge in self.edges)
        if above == 0:
            return f"under {self.edges[0]:g}"
        if above == len(self.edges):
            return f"{self.edges[-1]:g} and over"
        return f"{self.edges[above - 1]:g} to under {self.edges[above]:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupColumn:
    """What results are told apart by: a column, or the bands of one."""

    name: str
    """Its name in results: that of the column or of the bands."""

    column: str
    """The column of the data."""

    edges: tuple[float, ...] = ()
    """The edges of its bands; none where the values are the groups."""

    def group_of(self, text: str | None) -> str:
        """The group of a cell of the data.

        >>> GroupColumn(name="sex", column="sex").group_of(" f ")
        'f'
        """
        held = (text or "").strip()
        if not held or not self.edges:
            return held
        return Band(column=self.column, edges=self.edges).group_of(held)


def group_column(name: str, bands: Mapping[str, Band]) -> GroupColumn:
    """What a name stands for: the bands of that name, else the column."""
    if name not in bands:
        return GroupColumn(name=name, column=name)
    return GroupColumn(name=name, column=bands[name].column, edges=bands[name].edges)
