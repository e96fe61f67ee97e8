"""Stats of whole runs by group: of the stats over groups as splits to rows of `stats_by_group`."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from medhelm_spark.domain.stats import Stat
from medhelm_spark.metrics import info
from medhelm_spark.subgroups.estimates import estimate
from medhelm_spark.subgroups.group_stats import RunGroups, adjusted, beside
from medhelm_spark.subgroups.part_summarizer import MARK
from medhelm_spark.subgroups.small_cells import Group, hidden_groups, is_share_of_answers
from medhelm_spark.subgroups.tables import GroupStat, with_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedStat(Stat):
    """A stat over a group, and how many distinct patients the group has.

    Of a group's rest, whose split MARK begins, the patients are not counted.
    """

    patients: int | None


@dataclass(frozen=True, slots=True)
class RunLevelGroups:
    """The function of this step: stats over groups in, sorted by run; rows by group out."""

    runs: Mapping[str, RunGroups]

    def __call__(self, stats: Iterable[CountedStat]) -> Iterator[GroupStat]:
        for run_spec_id, run_stats in groupby(stats, lambda stat: stat.run_spec_id):
            yield from rows_of_run(list(run_stats), self.runs[run_spec_id])


def rows_of_run(stats: Sequence[CountedStat], run: RunGroups) -> Iterator[GroupStat]:
    """The rows of one RunSpec.

    All stats of a group are hidden together: a sensitivity could be computed from an accuracy and
    a specificity. So a group is hidden where one of them rests on too few patients, as where too
    few have the condition.
    """
    groups: dict[Group, list[CountedStat]] = {}
    rests: dict[tuple[str, Group], CountedStat] = {}
    for stat in stats:
        if info(stat.name, run.metrics).lower_is_better is None:
            continue  # the counts of a two-by-two table are cells of few patients
        column, _, value = stat.split.removeprefix(MARK).partition(MARK)
        if stat.split.startswith(MARK):
            rests[stat.name, (column, value)] = stat
        else:
            groups.setdefault((column, value), []).append(stat)
    gone = hidden_groups(
        {group: stats[0].patients or 0 for group, stats in groups.items()},
        {
            group: min(_num_seen(stat, run.requests_per_instance) for stat in stats)
            for group, stats in groups.items()
        },
        run.minimum,
    )
    by_name: dict[str, list[GroupStat]] = {}
    for group, of_group in groups.items():
        for stat in of_group:
            rest = rests.get((stat.name, group))
            row = _row(stat, rest, run, group, is_hidden=group in gone)
            by_name.setdefault(stat.name, []).append(row)
    for rows in by_name.values():
        yield from adjusted(rows)


def _num_seen(stat: CountedStat, requests_per_instance: int) -> int:
    """How many patients a stat rests on; of a share of some answers the patients of these.

    Without a cluster column every instance is a patient. So many answers are of no fewer instances
    than if each of them had an answer to every request.
    """
    if is_share_of_answers(stat.name):
        answers, clusters = stat.count, None
    else:
        answers, clusters = stat.num_counted, stat.num_clusters
    of_answers = math.ceil(answers / requests_per_instance) if clusters is None else clusters
    return min(stat.patients or 0, of_answers)


def _row(
    stat: CountedStat, rest: CountedStat | None, run: RunGroups, group: Group, *, is_hidden: bool
) -> GroupStat:
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
    full = replace(with_mean(named, stat), num_patients=stat.patients)
    if rest is None:
        return full
    units = rest.num_effective_clusters or rest.count
    theirs = estimate(rest.mean, rest.ci_low, rest.ci_high, rest.ci_method, units)
    return beside(full, rest.mean, theirs)
