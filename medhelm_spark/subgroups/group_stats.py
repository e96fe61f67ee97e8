"""From the scores of a RunSpec's stats, by group, to the rows of `stats_by_group`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import Summary
from medhelm_spark.metrics import info
from medhelm_spark.statistics.clusters import ClusterTotals
from medhelm_spark.statistics.multiple import benjamini_hochberg
from medhelm_spark.statistics.summary import summarize
from medhelm_spark.subgroups.estimates import IntervalEstimate, difference, estimate
from medhelm_spark.subgroups.group_answers import (
    COUNTED,
    GroupAnswers,
    GroupedValue,
    Totals,
    by_unit,
    filled,
    totals_of,
)
from medhelm_spark.subgroups.small_cells import Group, hidden_groups
from medhelm_spark.subgroups.tables import GroupStat
from medhelm_spark.subgroups.twin_stats import twin_stats, values_of_twins
from medhelm_spark.subgroups.twins import TwinValue

Named = TypeVar("Named", GroupedValue, TwinValue)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedScores:
    """All values of one RunSpec's stats, once for each group of each column."""

    run_spec_id: str
    is_clustered: bool
    values: tuple[GroupedValue, ...]
    twins: tuple[TwinValue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGroups:
    """The part of a RunSpec that the function of this stage reads."""

    metrics: tuple[MetricSpec, ...]
    split: str
    access_level: AccessLevel
    minimum: int
    """The patients that a group needs to be shown; 1 hides nothing."""
    requests_per_instance: int = 1


@dataclass(frozen=True, slots=True)
class GroupSummarizer:
    """The function of this stage: grouped scores in, rows of `stats_by_group` out."""

    runs: Mapping[str, RunGroups]

    def __call__(self, rows: Iterable[GroupedScores]) -> Iterator[GroupStat]:
        for row in rows:
            yield from rows_of_scores(row, self.runs[row.run_spec_id])


def rows_of_scores(row: GroupedScores, run: RunGroups) -> Iterator[GroupStat]:
    """The rows of one RunSpec; unread answers and refusals are counted beside each of its stats.

    They are no rows of their own, unless a benchmark's main metric is one of them.
    """
    values, twins = _by_name(row.values), _by_name(row.twins)
    by_name = {
        name: replace(
            row,
            values=tuple(sorted(values.get(name, ()), key=_order)),
            twins=tuple(twins.get(name, ())),
        )
        for name in sorted(values.keys() | twins.keys())
    }
    counts = {name: _count(by_name[name]) for name in COUNTED if name in by_name}
    named = [name for name in by_name if name not in COUNTED] or list(by_name)
    for name in named:
        yield from group_stats(by_name[name], name, run, counts)


def _by_name(values: Iterable[Named]) -> dict[str, list[Named]]:
    """The values of each stat, in their order."""
    by_name: dict[str, list[Named]] = {}
    for each in values:
        by_name.setdefault(each.name, []).append(each)
    return by_name


def _count(row: GroupedScores) -> Counter[Group]:
    """By group, how often a stat is 1."""
    count: Counter[Group] = Counter()
    for grouped in (*row.values, *values_of_twins(row.twins)):
        if grouped.value == 1:
            count[grouped.group_column, grouped.group_value] += grouped.rows
    return count


def group_stats(
    row: GroupedScores, name: str, run: RunGroups, counts: Mapping[str, Mapping[Group, int]]
) -> list[GroupStat]:
    """The rows of one stat: a mean for each group, with its difference to the rest of its column.

    For twins it is the difference of the copies to their originals. A group is hidden where its
    patients, or the patients with a value, are fewer than the minimum.

    Args:
        row: the values of the stat, in order.
        name: its name.
        run: the part of the RunSpec that this stage reads.
        counts: by each stat of COUNTED and by group, how often the stat is 1.
    """
    scale = info(name, run.metrics)
    columns: dict[str, dict[str, GroupAnswers]] = {}
    for grouped in row.values:
        cells = columns.setdefault(grouped.group_column, {})
        cells.setdefault(grouped.group_value, GroupAnswers()).add(grouped)
    groups = {
        (column, value): cell for column, cells in columns.items() for value, cell in cells.items()
    }
    gone = hidden_groups(
        {group: cell.num_patients for group, cell in groups.items()},
        {group: cell.num_seen for group, cell in groups.items()},
        run.minimum,
    )
    blank = GroupStat(
        run_spec_id=row.run_spec_id,
        name=name,
        split=run.split,
        group_column="",
        group_value="",
        access_level=run.access_level,
        minimum=run.minimum,
        is_hidden=True,
    )
    made: list[GroupStat] = []
    for column, cells in columns.items():
        totals = {value: totals_of(cell) for value, cell in cells.items()}
        for value, cell in cells.items():
            named = replace(
                blank,
                group_column=column,
                group_value=value,
                is_hidden=(column, value) in gone,
            )
            others = [other for other in cells if other != value]
            rest = _merged([cells[other] for other in others])
            rest_totals = _joined([totals[other] for other in others])
            cell.take_counts((column, value), counts)
            full = filled(named, cell, totals[value], scale, is_clustered=row.is_clustered)
            of_rest = summarize(sorted(rest.items()), 0, scale, rest_totals)
            full = beside(full, of_rest.mean, _estimate(of_rest))
            made.append(named if named.is_hidden else full)
    made += twin_stats(row.twins, blank, scale, counts, is_clustered=row.is_clustered)
    return adjusted(made)


def adjusted(rows: Sequence[GroupStat]) -> list[GroupStat]:
    """The rows with p-values adjusted for all that are shown of one stat of one RunSpec."""
    tested = [index for index, row in enumerate(rows) if row.p_value is not None]
    p_values = benjamini_hochberg([rows[index].p_value or 0.0 for index in tested])
    made = list(rows)
    for index, p_value in zip(tested, p_values, strict=True):
        made[index] = replace(made[index], adjusted_p=p_value)
    return made


def _order(grouped: GroupedValue) -> tuple[str, str, bool, float]:
    """Sums of floats depend on their order, and Spark keeps none."""
    value = 0.0 if grouped.value is None else grouped.value
    return grouped.group_column, grouped.group_value, grouped.value is None, value


def _merged(cells: Sequence[GroupAnswers]) -> Counter[float]:
    counts: Counter[float] = Counter()
    for cell in cells:
        counts.update(cell.counts)
    return counts


def _joined(totals: Sequence[Totals | None]) -> ClusterTotals | None:
    """The answers by patient of several groups; a patient may be in more than one."""
    clustered = [each for each in totals if each is not None]
    if not clustered:
        return None
    units = np.concatenate([units for units, _ in clustered])
    return by_unit(
        units,
        ClusterTotals(
            sizes=np.concatenate([each.sizes for _, each in clustered]),
            totals=np.concatenate([each.totals for _, each in clustered]),
            squares=np.concatenate([each.squares for _, each in clustered]),
        ),
    )[1]


def beside(row: GroupStat, mean: float | None, rest: IntervalEstimate | None) -> GroupStat:
    """The row with its difference to all other groups of its column, whose mean is `mean`."""
    ours = estimate_of(row)
    if ours is None or rest is None:
        return replace(row, rest_mean=mean)
    to_rest = difference(ours, rest)
    return replace(
        row,
        rest_mean=mean,
        difference=to_rest.value,
        difference_low=to_rest.low,
        difference_high=to_rest.high,
        p_value=to_rest.p_value,
    )


def estimate_of(row: GroupStat) -> IntervalEstimate | None:
    """A group's mean as an estimate; None of one that is hidden or has no interval."""
    units = row.num_effective_clusters or row.count or 0
    return estimate(row.mean, row.ci_low, row.ci_high, row.ci_method, units)


def _estimate(summary: Summary) -> IntervalEstimate | None:
    units = summary.num_effective_clusters or summary.count
    return estimate(summary.mean, summary.ci_low, summary.ci_high, summary.ci_method, units)
