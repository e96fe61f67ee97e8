"""Which cells are hidden: cells of few patients, and cells that would give such a cell away.

The one function for every page, export and report. A hidden cell could be computed from a total
less the visible cells (primary and complementary suppression: Hundepool and others, Statistical
Disclosure Control, 2012, chapter 4). So cells are hidden until no linear combination of what is
known gives a hidden one, and until the hidden cells below each total have enough patients together.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from medhelm_spark.domain.groups import CROSSED, CROSSING

Cell = TypeVar("Cell", bound=Hashable)

Group = tuple[str, str]
"""The names of a column and of one of its groups."""

SHARES_OF_ANSWERS = ("ppv", "npv")
"""Shares of a model's answers: their denominators are answers, not patients of the data.

They follow from sensitivity and specificity, and are hidden where one of these is."""

_EXACT = 1e-9


@dataclass(frozen=True, slots=True)
class Total(Generic[Cell]):
    """Cells that add up to another cell, `whole`, or where it is None to a public number."""

    parts: Sequence[Cell]
    whole: Cell | None = None

    @property
    def cells(self) -> list[Cell]:
        """The parts, and the cell that they add up to."""
        return [*self.parts, *([] if self.whole is None else [self.whole])]


def hidden(
    patients: Mapping[Cell, int],
    totals: Iterable[Total[Cell]],
    minimum: int,
    also: Collection[Cell] = (),
) -> frozenset[Cell]:
    """The cells to hide, so that none of fewer than `minimum` patients can be computed.

    The smallest cells are hidden first; of equals the one that comes first. Where a total is itself
    of too few patients all its parts are hidden.

    >>> sorted(hidden({"f": 40, "m": 30, "x": 4}, [Total(["f", "m", "x"])], 11))
    ['m', 'x']

    Args:
        patients: of each cell, in the order of a table.
        totals: which cells add up to what; all of what is shown beside the cells.
        minimum: how many patients a cell needs to be shown; 1 hides nothing.
        also: cells that are hidden whatever their size, because another table hides them.
    """
    known = list(totals)
    gone = {cell for cell, count in patients.items() if count < minimum or cell in also}
    while exposed := _exposed(gone, patients, known, minimum):
        visible = [
            cell
            for total in known
            if not exposed.isdisjoint(total.cells)
            for cell in total.cells
            if cell not in gone
        ]
        if not visible:
            return frozenset(gone)
        gone.add(min(dict.fromkeys(visible), key=lambda cell: patients[cell]))
    return frozenset(gone)


def hidden_groups(
    patients: Mapping[Group, int], seen: Mapping[Group, int], minimum: int
) -> frozenset[Group]:
    """The groups of all columns of a data version to hide.

    First by the patients in the data, who are the same for all models: if two models had different
    hidden groups, their tables together would give the hidden numbers away. Then by the patients
    behind this number.

    Args:
        patients: by group, the patients in the data.
        seen: by group, the patients behind the number.
        minimum: as in `hidden`.
    """
    totals = _totals(patients)
    by_data = hidden(patients, totals, minimum)
    counted = {group: min(seen[group], n) for group, n in patients.items()}
    return hidden(counted, totals, minimum, by_data)


def is_share_of_answers(name: str) -> bool:
    """Whether a stat is one of SHARES_OF_ANSWERS, of all classes or of one.

    >>> is_share_of_answers("ppv[urgent]"), is_share_of_answers("sensitivity[urgent]")
    (True, False)
    """
    return name.partition("[")[0] in SHARES_OF_ANSWERS


def _totals(groups: Iterable[Group]) -> list[Total[Group]]:
    """The groups of a column add up to all; those of two columns crossed to the groups of both.

    Rows whose other column states nothing are in no crossed group: a group of one column is then
    larger than the sum of its crossed groups, and taking both for equal hides more, not less.
    """
    columns: dict[str, list[str]] = {}
    for column, value in groups:
        columns.setdefault(column, []).append(value)
    totals = [Total([(column, value) for value in values]) for column, values in columns.items()]
    for column, values in columns.items():
        first, _, second = column.partition(CROSSING)
        for value in columns.get(first, ()) if second in columns else ():
            crossed = [CROSSED.join((value, other)) for other in columns[second]]
            totals.append(_total(column, crossed, values, (first, value)))
        for value in columns.get(second, ()) if first in columns else ():
            crossed = [CROSSED.join((other, value)) for other in columns[first]]
            totals.append(_total(column, crossed, values, (second, value)))
    return [total for total in totals if total.parts]


def _total(
    column: str, crossed: Iterable[str], values: Collection[str], whole: Group
) -> Total[Group]:
    return Total([(column, value) for value in crossed if value in values], whole)


def _exposed(
    gone: set[Cell], patients: Mapping[Cell, int], totals: Sequence[Total[Cell]], minimum: int
) -> set[Cell]:
    """The hidden cells that can be computed, wholly or in part, while more cells can be hidden."""
    touched = [total for total in totals if not gone.isdisjoint(total.cells)]
    few = {
        cell
        for total in touched
        if total.whole not in gone
        and sum(patients[cell] for cell in total.parts if cell in gone) < minimum
        and any(cell not in gone for cell in total.parts)
        for cell in total.parts
        if cell in gone
    }
    return few or _computed(gone, touched)


def _computed(gone: set[Cell], totals: Sequence[Total[Cell]]) -> set[Cell]:
    """The hidden cells that follow from the totals and the visible cells by linear combination.

    A cell follows exactly where no solution of the homogeneous equations changes it.
    """
    unknown = [cell for cell in dict.fromkeys(c for t in totals for c in t.cells) if cell in gone]
    if not unknown:
        return set()
    index = {cell: number for number, cell in enumerate(unknown)}
    equations = np.zeros((len(totals), len(unknown)))
    for row, total in zip(equations, totals, strict=True):
        for cell in total.parts:
            if cell in index:
                row[index[cell]] += 1.0
        if total.whole is not None and total.whole in index:
            row[index[total.whole]] -= 1.0
    _, sizes, directions = np.linalg.svd(equations, full_matrices=True)
    free = directions[int((sizes > _EXACT).sum()) :]
    return {cell for cell in unknown if not np.any(np.abs(free[:, index[cell]]) > _EXACT)}
