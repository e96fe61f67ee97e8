"""From the scores of a RunSpec's stats, by group, to the rows of `stats_by_group`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import REFUSAL_STAT, UNREADABLE_STAT, MetricInfo
from medhelm_spark.metrics import info
from medhelm_spark.statistics.clusters import ClusterTotals
from medhelm_spark.statistics.multiple import benjamini_hochberg
from medhelm_spark.statistics.summary import Summary, summarize
from medhelm_spark.subgroups.estimates import IntervalEstimate, difference, estimate
from medhelm_spark.subgroups.small_cells import Group, hidden_groups
from medhelm_spark.subgroups.tables import GroupStat

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


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedScores:
    """All values of one RunSpec's stats, once for each group of each column."""

    run_spec_id: str
    is_clustered: bool
    values: tuple[GroupedValue, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGroups:
    """The part of a RunSpec that the function of this stage reads."""

    metrics: tuple[MetricSpec, ...]
    split: str
    access_level: AccessLevel
    minimum: int
    """The patients that a group needs to be shown; 1 hides nothing."""


@dataclass(frozen=True, slots=True)
class GroupSummarizer:
    """The function of this stage: grouped scores in, rows of `stats_by_group` out."""

    runs: Mapping[str, RunGroups]

    def __call__(self, rows: Iterable[GroupedScores]) -> Iterator[GroupStat]:
        for row in rows:
            yield from rows_of_scores(row, self.runs[row.run_spec_id])


@dataclass(slots=True)
class _Cell:
    """The answers of one group."""

    counts: Counter[float] = field(default_factory=Counter)
    unscored: int = 0
    failures: int = 0
    unread: int = 0
    refused: int | None = None
    units: list[tuple[float, tuple[int, ...]]] = field(default_factory=list)
    patients: set[int] = field(default_factory=set)
    scored_patients: set[int] = field(default_factory=set)

    def add(self, held: GroupedValue) -> None:
        self.failures += held.failures
        self.unread += held.unread
        self.patients.update(held.units)
        if held.value is None:
            self.unscored += held.rows
        else:
            self.counts[held.value] += held.rows
            self.units.append((held.value, held.units))
            self.scored_patients.update(held.units)

    @property
    def num_patients(self) -> int:
        """The distinct patients of all its answers."""
        return len(self.patients) or self.counts.total() + self.unscored

    @property
    def num_seen(self) -> int:
        """The distinct patients whose answers have a value: of so many a mean tells."""
        return len(self.scored_patients) or self.counts.total()


def rows_of_scores(row: GroupedScores, run: RunGroups) -> Iterator[GroupStat]:
    """The rows of one RunSpec; unread answers and refusals are counted beside each of its stats.

    They are no rows of their own, unless a benchmark's main metric is one of them.
    """
    by_name: dict[str, list[GroupedValue]] = {}
    for held in sorted(row.values, key=_order):
        by_name.setdefault(held.name, []).append(held)
    counts = {name: _count(by_name[name]) for name in COUNTED if name in by_name}
    named = [name for name in by_name if name not in COUNTED] or list(by_name)
    for name in named:
        yield from group_stats(replace(row, values=tuple(by_name[name])), name, run, counts)


def _count(values: Iterable[GroupedValue]) -> Counter[Group]:
    """By group, how often a stat is 1."""
    count: Counter[Group] = Counter()
    for held in values:
        if held.value == 1:
            count[held.group_column, held.group_value] += held.rows
    return count


def group_stats(
    row: GroupedScores, name: str, run: RunGroups, counts: Mapping[str, Mapping[Group, int]]
) -> list[GroupStat]:
    """The rows of one stat: a mean for each group, with its difference to the rest of its column.

    A group is hidden where its patients, or those with a value, are fewer than the minimum.

    Args:
        row: the values of the stat, in order.
        name: its name.
        run: what is known of the RunSpec.
        counts: by each stat of COUNTED and by group, how often the stat is 1.
    """
    scale = info(name, run.metrics)
    columns: dict[str, dict[str, _Cell]] = {}
    for held in row.values:
        cells = columns.setdefault(held.group_column, {})
        cells.setdefault(held.group_value, _Cell()).add(held)
    groups = {(column, value): cell for column, of in columns.items() for value, cell in of.items()}
    gone = hidden_groups(
        {group: cell.num_patients for group, cell in groups.items()},
        {group: cell.num_seen for group, cell in groups.items()},
        run.minimum,
    )
    made: list[GroupStat] = []
    for column, cells in columns.items():
        totals = {value: _totals(cell) for value, cell in cells.items()}
        for value, cell in cells.items():
            named = GroupStat(
                run_spec_id=row.run_spec_id,
                name=name,
                split=run.split,
                group_column=column,
                group_value=value,
                access_level=run.access_level,
                minimum=run.minimum,
                is_hidden=(column, value) in gone,
            )
            others = [other for other in cells if other != value]
            rest = _merged([cells[other] for other in others])
            rest_totals = _joined([totals[other] for other in others])
            if UNREADABLE_STAT in counts:  # else the answers without a value for this reason
                cell.unread = counts[UNREADABLE_STAT].get((column, value), 0)
            if REFUSAL_STAT in counts:
                cell.refused = counts[REFUSAL_STAT].get((column, value), 0)
            full = _filled(named, cell, totals[value], scale, is_clustered=row.is_clustered)
            full = _beside(full, rest, rest_totals, scale)
            made.append(named if named.is_hidden else full)
    return adjusted(made)


def adjusted(rows: Sequence[GroupStat]) -> list[GroupStat]:
    """The rows with p-values adjusted for all that are shown of one stat of one RunSpec."""
    tested = [place for place, row in enumerate(rows) if row.p_value is not None]
    p_values = benjamini_hochberg([rows[place].p_value or 0.0 for place in tested])
    made = list(rows)
    for place, p_value in zip(tested, p_values, strict=True):
        made[place] = replace(made[place], adjusted_p=p_value)
    return made


def _order(held: GroupedValue) -> tuple[str, str, bool, float]:
    """Sums of floats depend on their order, and Spark keeps none."""
    value = 0.0 if held.value is None else held.value
    return held.group_column, held.group_value, held.value is None, value


def _merged(cells: Sequence[_Cell]) -> Counter[float]:
    counts: Counter[float] = Counter()
    for cell in cells:
        counts.update(cell.counts)
    return counts


Totals = tuple[NDArray[np.int64], ClusterTotals]
"""The clusters' hashes, and their answers."""


def _totals(cell: _Cell) -> Totals | None:
    """The answers by patient; None where each answer is one's own."""
    if not cell.scored_patients:
        return None
    units = np.concatenate([np.array(held, np.int64) for _, held in cell.units])
    values = np.concatenate([np.full(len(held), value) for value, held in cell.units])
    return _by_unit(units, ClusterTotals(np.ones(len(units)), values, values**2))


def _joined(totals: Sequence[Totals | None]) -> ClusterTotals | None:
    """The answers by patient of several groups; a patient may be in more than one."""
    held = [each for each in totals if each is not None]
    if not held:
        return None
    units = np.concatenate([units for units, _ in held])
    return _by_unit(
        units,
        ClusterTotals(
            sizes=np.concatenate([each.sizes for _, each in held]),
            totals=np.concatenate([each.totals for _, each in held]),
            squares=np.concatenate([each.squares for _, each in held]),
        ),
    )[1]


def _by_unit(units: NDArray[np.int64], parts: ClusterTotals) -> Totals:
    """The parts of each unit as one cluster."""
    labels, place = np.unique(units, return_inverse=True)
    return labels, ClusterTotals(
        sizes=np.bincount(place, weights=parts.sizes).astype(np.float64),
        totals=np.bincount(place, weights=parts.totals).astype(np.float64),
        squares=np.bincount(place, weights=parts.squares).astype(np.float64),
    )


def _filled(
    named: GroupStat,
    cell: _Cell,
    totals: Totals | None,
    scale: MetricInfo,
    *,
    is_clustered: bool,
) -> GroupStat:
    """The row with what the answers of its group come to."""
    summary = summarize(
        sorted(cell.counts.items()), cell.unscored, scale, totals[1] if totals else None
    )
    return replace(
        named,
        count=summary.count,
        num_unscored=summary.num_unscored,
        num_failures=cell.failures,
        num_unread=cell.unread,
        num_refused=cell.refused,
        num_patients=cell.num_patients,
        num_clusters=summary.num_clusters if is_clustered else None,
        num_effective_clusters=summary.num_effective_clusters,
        mean=summary.mean,
        ci_low=summary.ci_low,
        ci_high=summary.ci_high,
        ci_method=summary.ci_method,
    )


def _beside(
    row: GroupStat, counts: Counter[float], totals: ClusterTotals | None, scale: MetricInfo
) -> GroupStat:
    """The row with its difference to the answers of all other groups of its column."""
    summary = summarize(sorted(counts.items()), 0, scale, totals)
    ours, theirs = estimate_of(row), _estimate(summary)
    if ours is None or theirs is None:
        return replace(row, rest_mean=summary.mean)
    held = difference(ours, theirs)
    return replace(
        row,
        rest_mean=summary.mean,
        difference=held.value,
        difference_low=held.low,
        difference_high=held.high,
        p_value=held.p_value,
    )


def estimate_of(row: GroupStat) -> IntervalEstimate | None:
    """A group's mean as an estimate; None of one that is hidden or has no interval."""
    units = row.num_effective_clusters or row.count or 0
    return estimate(row.mean, row.ci_low, row.ci_high, row.ci_method, units)


def _estimate(summary: Summary) -> IntervalEstimate | None:
    units = summary.num_effective_clusters or summary.count
    return estimate(summary.mean, summary.ci_low, summary.ci_high, summary.ci_method, units)
