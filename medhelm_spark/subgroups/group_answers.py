"""The answers of one group of one stat, and the numbers that follow from them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import REFUSAL_STAT, UNREADABLE_STAT, MetricInfo
from medhelm_spark.statistics.clusters import ClusterTotals
from medhelm_spark.statistics.summary import summarize
from medhelm_spark.subgroups.small_cells import Group
from medhelm_spark.subgroups.tables import GroupStat, with_mean

COUNTED = (UNREADABLE_STAT, REFUSAL_STAT)
"""Stats of 0 and 1 that are counted beside the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedValue:
    """How many answers of a group have a value of a stat, or none.

    `units` are their patients' hashes, empty where every answer is an instance of its own that no
    cluster names.
    """

    name: str
    group_column: str
    group_value: str
    value: float | None
    rows: int
    failures: int
    unread: int
    units: tuple[int, ...]


@dataclass(slots=True)
class GroupAnswers:
    """The answers of one group."""

    counts: Counter[float] = field(default_factory=Counter)
    unscored: int = 0
    failures: int = 0
    unread: int = 0
    refused: int | None = None
    units: list[tuple[float, tuple[int, ...]]] = field(default_factory=list)
    patients: set[int] = field(default_factory=set)
    scored_patients: set[int] = field(default_factory=set)

    def add(self, grouped: GroupedValue) -> None:
        self.failures += grouped.failures
        self.unread += grouped.unread
        self.patients.update(grouped.units)
        if grouped.value is None:
            self.unscored += grouped.rows
        else:
            self.counts[grouped.value] += grouped.rows
            self.units.append((grouped.value, grouped.units))
            self.scored_patients.update(grouped.units)

    def take_counts(self, group: Group, counts: Mapping[str, Mapping[Group, int]]) -> None:
        """Take over how often each stat of COUNTED is 1 in this group, where it is scored."""
        if UNREADABLE_STAT in counts:  # else the answers without a value for this reason
            self.unread = counts[UNREADABLE_STAT].get(group, 0)
        if REFUSAL_STAT in counts:
            self.refused = counts[REFUSAL_STAT].get(group, 0)

    @property
    def num_patients(self) -> int:
        """The distinct patients of all its answers."""
        return len(self.patients) or self.counts.total() + self.unscored

    @property
    def num_seen(self) -> int:
        """The distinct patients whose answers have a value: so many are behind a mean."""
        return len(self.scored_patients) or self.counts.total()


Totals = tuple[NDArray[np.int64], ClusterTotals]
"""The clusters' hashes, and their answers."""


def totals_of(cell: GroupAnswers) -> Totals | None:
    """The answers by patient; None where each answer is a patient of its own."""
    if not cell.scored_patients:
        return None
    units = np.concatenate([np.array(hashes, np.int64) for _, hashes in cell.units])
    values = np.concatenate([np.full(len(hashes), value) for value, hashes in cell.units])
    return by_unit(units, ClusterTotals(np.ones(len(units)), values, values**2))


def by_unit(units: NDArray[np.int64], parts: ClusterTotals) -> Totals:
    """The parts of each unit as one cluster."""
    labels, inverse = np.unique(units, return_inverse=True)
    return labels, ClusterTotals(
        sizes=np.bincount(inverse, weights=parts.sizes).astype(np.float64),
        totals=np.bincount(inverse, weights=parts.totals).astype(np.float64),
        squares=np.bincount(inverse, weights=parts.squares).astype(np.float64),
    )


def filled(
    named: GroupStat,
    cell: GroupAnswers,
    totals: Totals | None,
    scale: MetricInfo,
    *,
    is_clustered: bool,
) -> GroupStat:
    """The row with the numbers of its group's answers."""
    summary = summarize(
        sorted(cell.counts.items()), cell.unscored, scale, totals[1] if totals else None
    )
    return replace(
        with_mean(named, summary),
        num_failures=cell.failures,
        num_unread=cell.unread,
        num_refused=cell.refused,
        num_patients=cell.num_patients,
        num_clusters=summary.num_clusters if is_clustered else None,
    )
