"""Groups of patients: columns of the data that no prompt shows and that results are grouped by.

A column's values are groups as they are; of a number its bands are. Two columns crossed, as
`sex*age_band`, have a group for each pair of their groups. A row without a value is in the group
NOT_STATED.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from medhelm_spark.domain.ids import content_id

NOT_STATED = ""
"""The group of the rows that have no value, or in a band no number."""

NOT_STATED_LABEL = "(not stated)"

CROSSING = "*"
"""Between the names of two columns that are crossed."""

CROSSED = " × "
"""Between the groups of a row in two columns that are crossed."""

PERTURBATION_COLUMN = "perturbation:"
"""How the name of a column of twins begins; the name of the perturbation follows."""

MAX_GROUPS = 50
"""The most values of a column: beyond it the column is an id or a number without bands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Groups of a number: those below, between and from `edges` on, which ascend."""

    column: str
    """The column with the number."""

    edges: tuple[float, ...]
    """Where one group ends and the next one, which has the edge itself, begins."""

    def group_of(self, text: str) -> str:
        """The group of a number; NOT_STATED for another text.

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
    """What results are grouped by: a column, the bands of one, or two of these crossed."""

    name: str
    """Its name in results: the name of the column or of the bands."""

    column: str
    """The column of the data; of two that are crossed their names as in results."""

    edges: tuple[float, ...] = ()
    """The edges of its bands; none where the values are the groups."""

    crosses: tuple["GroupColumn", ...] = field(default=(), repr=False)
    """The two that are crossed; none of a column by itself."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data that it is read from."""
        return tuple(each.column for each in self.crosses) or (self.column,)

    def group_of(self, cell: Callable[[str], str | None]) -> str:
        """The group of a row of the data.

        >>> row = {"sex": " f ", "age": "70"}
        >>> bands = {"age_band": Band(column="age", edges=(18, 65))}
        >>> group_column("sex*age_band", bands).group_of(row.get)
        'f × 65 and over'
        >>> group_column("sex", bands).group_of(row.get)
        'f'

        Args:
            cell: the text of a column of the row, None where there is none.
        """
        if self.crosses:
            groups = [each.group_of(cell) for each in self.crosses]
            return NOT_STATED if NOT_STATED in groups else CROSSED.join(groups)
        text = (cell(self.column) or "").strip()
        if not text or not self.edges:
            return text
        return Band(column=self.column, edges=self.edges).group_of(text)


def plain_name(name: str) -> str:
    """A name of groups without blanks around it and, of two that are crossed, around each.

    >>> plain_name(" sex * age band ")
    'sex*age band'
    """
    return CROSSING.join(part.strip() for part in name.split(CROSSING))


def group_column(name: str, bands: Mapping[str, Band]) -> GroupColumn:
    """The groups of a name: the bands of that name, two names crossed, else the column."""
    if CROSSING in name and name not in bands:
        name = plain_name(name)
        crosses = tuple(group_column(each, bands) for each in name.split(CROSSING))
        return GroupColumn(name=name, column=name, crosses=crosses)
    if name not in bands:
        return GroupColumn(name=name, column=name)
    return GroupColumn(name=name, column=bands[name].column, edges=bands[name].edges)


def group_columns(names: Iterable[str], bands: Mapping[str, Band]) -> tuple[GroupColumn, ...]:
    """The groups of names, each once; of two that are crossed each by itself too.

    >>> [each.name for each in group_columns(["sex*site", "sex"], {})]
    ['sex', 'site', 'sex*site']
    """
    made: dict[str, GroupColumn] = {}
    for name in names:
        column = group_column(name, bands)
        made |= {each.name: each for each in (*column.crosses, column) if each.name not in made}
    return tuple(made.values())


def unnamed(column: str, group: str, note: str) -> str:
    """The replacement of a group's name: the note, and a mark that distinguishes groups.

    A group without a name, and the groups of a perturbation, are no words of the data and stay.

    >>> unnamed("ward", "stroke unit", "[purged]")
    '[purged] group 609b79'
    >>> unnamed("ward", "[purged] group 609b79", "[purged]"), unnamed("ward", "", "[purged]")
    ('[purged] group 609b79', '')
    """
    if not group or column.startswith(PERTURBATION_COLUMN) or group.startswith(note):
        return group
    return f"{note} group {content_id(column, group)[:6]}"
