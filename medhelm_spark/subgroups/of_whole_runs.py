"""Stats of whole runs by group: of the stats over groups as splits to rows of `stats_by_group`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from medhelm_spark.domain.stats import Stat
from medhelm_spark.metrics import info
from medhelm_spark.subgroups.group_stats import RunGroups
from medhelm_spark.subgroups.small_cells import Group, hidden_groups
from medhelm_spark.subgroups.tables import GroupStat, with_mean

MARK = chr(31)
"""Between a column's name and a group's in the name of a split: ASCII's unit separator."""


SHARES_OF_ANSWERS = ("ppv", "npv")
"""Shares of what a model answered: their denominators are no patients that the data tells apart.

They follow from sensitivity and specificity, and are hidden where one of these is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedStat(Stat):
    """A stat over a group, and how many distinct patients the group has."""

    patients: int


@dataclass(frozen=True, slots=True)
class RunLevelGroups:
    """The function of this step: stats over groups in, sorted by run; rows by group out."""

    runs: Mapping[str, RunGroups]

    def __call__(self, stats: Iterable[CountedStat]) -> Iterator[GroupStat]:
        for run_spec_id, held in groupby(stats, lambda stat: stat.run_spec_id):
            yield from rows_of_run(list(held), self.runs[run_spec_id])


def rows_of_run(stats: Sequence[CountedStat], run: RunGroups) -> Iterator[GroupStat]:
    """The rows of one RunSpec.

    All stats of a group are hidden together: a sensitivity could be computed from an accuracy and
    a specificity. So a group is hidden where one of them rests on too few patients, as where too
    few have the condition.
    """
    groups: dict[Group, list[CountedStat]] = {}
    for stat in stats:
        if info(stat.name, run.metrics).lower_is_better is None:
            continue  # the counts of a two-by-two table are cells of few patients
        column, _, value = stat.split.partition(MARK)
        groups.setdefault((column, value), []).append(stat)
    gone = hidden_groups(
        {group: stats[0].patients for group, stats in groups.items()},
        {group: min(map(_num_seen, stats)) for group, stats in groups.items()},
        run.minimum,
    )
    for group, of_group in groups.items():
        for stat in of_group:
            yield _row(stat, run, group, is_hidden=group in gone)


def _num_seen(stat: CountedStat) -> int:
    """How many patients a stat rests on; of a share of a part of them at most so many."""
    is_of_data = stat.denominator is not None and stat.name not in SHARES_OF_ANSWERS
    parts = [stat.patients, stat.count]
    return min([*parts, stat.denominator or 0] if is_of_data else parts)


def _row(stat: CountedStat, run: RunGroups, group: Group, *, is_hidden: bool) -> GroupStat:
    named = GroupStat(
        run_spec_id=stat.run_spec_id,
        name=stat.name,
        split=run.split,
        group_column=group[0],
        group_value=group[1],
        access_level=run.access_level,
        minimum=run.minimum,
        is_hidden=is_hidden,
    )
    if is_hidden:
        return named
    return replace(with_mean(named, stat), num_patients=stat.patients)
