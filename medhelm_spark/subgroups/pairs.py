"""Two models in a group of patients: whether one is worse there, and whether a gap widens.

The paired difference in the group says which model is worse for its patients. Whether a model's
advantage is smaller there than elsewhere is another question: the paired difference in the group is
compared with that in all other groups of its column. Both have no instance in common, so that they
are independent but for patients who are in several groups, which makes the interval wider than it
need be.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.board import BoardRun, board_of, paired
from medhelm_spark.board.measured import Measured
from medhelm_spark.board.measured_pairs import measured_pairs
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.groups import NOT_STATED
from medhelm_spark.domain.stages import ASSIGN_GROUPS
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.statistics.multiple import benjamini_hochberg
from medhelm_spark.statistics.paired import PairedDifference
from medhelm_spark.statistics.pairs import BoardPair
from medhelm_spark.statistics.student import LEVEL
from medhelm_spark.subgroups.estimates import IntervalEstimate, difference, estimate
from medhelm_spark.subgroups.model_groups import group_order
from medhelm_spark.subgroups.small_cells import Group, hidden_groups, is_share_of_answers
from medhelm_spark.subgroups.verdicts import GroupVerdict, verdict

_GROUPS = """
SELECT instance_id, group_column, group_value FROM ({assigned}) g
WHERE data_version IN ({versions})
"""

GroupsByInstance = Mapping[str, Mapping[str, str]]
"""By column and instance, the group."""


class GroupDecision(StrEnum):
    """Whether the first model's advantage over the second is the same as in all other groups.

    An advantage may be below 0. A model may be better in a group in which its advantage is smaller.
    """

    SMALLER = "advantage smaller"
    LARGER = "advantage larger"
    DIFFERENT = "different"
    NOT_SHOWN = "not shown"
    NOT_TESTED = "not tested"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPair:
    """Two models in one group and in all others of its column; of a hidden group names alone.

    Of each difference it is `first` less `second`, in the metric's own units.
    """

    scenario_name: str

    display_name: str

    main_metric: str

    lower_is_better: bool | None

    first: str

    second: str

    group_column: str

    group_value: str

    is_hidden: bool = False

    n: int | None = None
    """The instances of the group on which both have a value."""

    first_mean: float | None = None
    """The first model's score on them; None too where it would give away fewer left-out patients
    than a group needs to be shown."""

    second_mean: float | None = None
    """The second model's."""

    in_group: float | None = None
    """The paired difference in the group."""

    in_group_low: float | None = None

    in_group_high: float | None = None

    in_group_p: float | None = None
    """Of the paired difference in the group, two-sided."""

    in_group_adjusted_p: float | None = None
    """By Benjamini and Hochberg, for all groups, columns and pairs that are asked about at once."""

    in_group_num_adjusted: int | None = None

    in_rest: float | None = None
    """The paired difference in all other groups."""

    difference: float | None = None
    """The difference in the group less that in the rest."""

    difference_low: float | None = None

    difference_high: float | None = None

    p_value: float | None = None

    adjusted_p: float | None = None
    """Of the difference of differences, as `in_group_adjusted_p`."""

    num_adjusted: int | None = None

    @property
    def verdict(self) -> GroupVerdict:
        """Whether the first model is worse than the second in this group."""
        return verdict(
            self.in_group,
            self.in_group_adjusted_p,
            lower_is_better=self.lower_is_better,
            is_hidden=self.is_hidden,
        )

    @property
    def decision(self) -> GroupDecision:
        """Smaller, larger or different where the adjusted p-value is below 5 %."""
        if self.is_hidden:
            return GroupDecision.HIDDEN
        if self.adjusted_p is None or self.difference is None:
            return GroupDecision.NOT_TESTED
        if self.adjusted_p >= LEVEL:
            return GroupDecision.NOT_SHOWN
        if self.lower_is_better is None:
            return GroupDecision.DIFFERENT
        is_gain = (self.difference < 0) == self.lower_is_better
        return GroupDecision.LARGER if is_gain else GroupDecision.SMALLER


def group_pairs(
    reader: Reader,
    runs: Iterable[BoardRun],
    pairs: Sequence[BoardPair],
    *,
    minimum: int,
    by: Sequence[str] = (),
) -> list[GroupPair]:
    """The pairs by group, in their order, those where the first model is worse first.

    Args:
        reader: the lake; of a release what it froze.
        runs: the runs of the board.
        pairs: which of them are compared.
        minimum: the patients that a group of gated and private rows needs to be shown.
        by: the columns (none: all).
    """
    by_id = {run.run_spec.run_spec_id: run for run in runs}

    def version_of(pair: BoardPair) -> str:
        return by_id[pair.run_spec_ids[0]].run_spec.data_version

    versions = dict.fromkeys(map(version_of, pairs))
    groups = {version: groups_by_instance(reader, version) for version in versions}
    columns_by_version = {
        version: [name for name in (by or sorted(by_column)) if name in by_column]
        for version, by_column in groups.items()
    }
    made: list[GroupPair] = []
    with_groups = (pair for pair in pairs if columns_by_version[version_of(pair)])
    for measured in measured_pairs(reader, by_id.values(), with_groups):
        spec = measured.run.run_spec
        is_public = spec.access_level is AccessLevel.PUBLIC
        of_all = pairs_of(
            measured.stat,
            measured.pairs,
            measured.units,
            groups[spec.data_version],
            1 if is_public else minimum,
        )
        columns = columns_by_version[spec.data_version]
        made += sorted(
            (pair for pair in of_all if pair.group_column in columns),
            key=lambda pair: columns.index(pair.group_column),
        )
    return sorted(adjusted(made), key=_order)


def _order(pair: GroupPair) -> tuple[int, int]:
    return list(GroupVerdict).index(pair.verdict), list(GroupDecision).index(pair.decision)


def pairs_of_runs(
    reader: Reader,
    runs: Sequence[BoardRun],
    first: str,
    *,
    minimum: int,
    coverage_floor: float,
) -> list[GroupPair]:
    """One model against each other one, in each group of all columns.

    Args:
        reader: the lake; of a release what it froze.
        runs: the runs that are shown.
        first: the model from whose score the other's is subtracted.
        minimum: as in `group_pairs`.
        coverage_floor: the policy's.
    """
    rows = board_of(reader, runs, coverage_floor=coverage_floor).rows
    ordered = sorted(rows, key=lambda row: row.model_deployment != first)
    return group_pairs(reader, runs, paired(reader, runs, ordered), minimum=minimum)


def adjusted(pairs: Sequence[GroupPair]) -> list[GroupPair]:
    """The pairs with p-values adjusted for all of them; both questions are a family each."""
    inside = _all_adjusted([pair.in_group_p for pair in pairs])
    beside = _all_adjusted([pair.p_value for pair in pairs])
    num_inside, num_beside = (sum(p is not None for p in family) for family in (inside, beside))
    return [
        replace(
            pair,
            in_group_adjusted_p=ours,
            in_group_num_adjusted=num_inside if ours is not None else None,
            adjusted_p=theirs,
            num_adjusted=num_beside if theirs is not None else None,
        )
        for pair, ours, theirs in zip(pairs, inside, beside, strict=True)
    ]


def _all_adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """The p-values that there are, adjusted for each other."""
    left = iter(benjamini_hochberg([p for p in p_values if p is not None]))
    return [None if p is None else next(left) for p in p_values]


def groups_by_instance(reader: Reader, data_version: str) -> dict[str, dict[str, str]]:
    """The groups of a data version's instances, by column and instance."""
    assigned = output_of("instance_groups", ASSIGN_GROUPS, "data_version", [data_version])
    sql = _GROUPS.format(assigned=assigned, versions=literals([data_version]))
    rows = reader.query(sql).to_pydict()
    by_column: dict[str, dict[str, str]] = {}
    columns = (rows["instance_id"], rows["group_column"], rows["group_value"])
    for instance, column, value in zip(*columns, strict=True):
        by_column.setdefault(column, {})[instance] = value
    return by_column


def pairs_of(
    measured: Measured,
    pairs: Sequence[BoardPair],
    units: Sequence[str],
    groups: GroupsByInstance,
    minimum: int,
) -> Iterator[GroupPair]:
    """All pairs of the runs of one scenario, by all columns.

    Args:
        measured: the runs.
        pairs: which of them are compared.
        units: the ids of the runs in the order of `measured`.
        groups: by column and instance, the group.
        minimum: the patients that a group needs to be shown.
    """
    patients = np.unique(measured.units.indices.to_numpy(), return_inverse=True)[1]
    masks = dict(group_masks(measured.instances.to_pylist(), groups))
    sides = {group: (measured.among(mask), measured.among(~mask)) for group, mask in masks.items()}
    in_data = {group: len(np.unique(patients[mask])) for group, mask in masks.items()}
    for pair in pairs:
        first, second = (units.index(unit) for unit in pair.run_spec_ids)
        inside = {group: among.difference(first, second) for group, (among, _) in sides.items()}
        seen = {group: _num_seen(among, first, second) for group, (among, _) in sides.items()}
        gone = hidden_groups(in_data, seen, minimum)
        for group, (among, rest) in sides.items():
            named = _named(pair, group, is_hidden=group in gone)
            if group not in gone:
                means = among.on_common(first, second).values
                is_of_one = among.has_value(first) ^ among.has_value(second)
                dropped = _num_patients(among, is_of_one)
                if np.isfinite(means).all() and not 0 < dropped < minimum:
                    ours, theirs = map(float, means)
                    named = replace(named, first_mean=ours, second_mean=theirs)
                named = _with_differences(named, inside[group], rest.difference(first, second))
            yield named


def _num_seen(among: Measured, first: int, second: int) -> int:
    """The patients behind the comparison of two runs in a group.

    As in `of_whole_runs` no more than those behind any share of the metric, such as the positive
    ones: all its stats of a group are hidden together.
    """
    both = among.has_value(first) & among.has_value(second)
    parts = [
        part & both
        for name, part in among.denominators(first).items()
        if not is_share_of_answers(name)
    ]
    return min(_num_patients(among, part) for part in (both, *parts))


def _num_patients(among: Measured, chosen: NDArray[np.bool_]) -> int:
    return len(np.unique(among.units.indices.to_numpy()[chosen]))


def group_masks(
    instances: Sequence[str], groups: GroupsByInstance
) -> Iterator[tuple[Group, NDArray[np.bool_]]]:
    """Which instances are in each group, by column in the order of a table."""
    for column, by_instance in groups.items():
        values = np.array([by_instance.get(instance, NOT_STATED) for instance in instances])
        for name in sorted(set(values.tolist()), key=group_order):
            yield (column, name), values == name


def _named(pair: BoardPair, group: Group, *, is_hidden: bool) -> GroupPair:
    return GroupPair(
        scenario_name=pair.scenario_name,
        display_name=pair.display_name,
        main_metric=pair.main_metric,
        lower_is_better=pair.lower_is_better,
        first=pair.first,
        second=pair.second,
        group_column=group[0],
        group_value=group[1],
        is_hidden=is_hidden,
    )


def _with_differences(
    named: GroupPair, inside: PairedDifference, rest: PairedDifference
) -> GroupPair:
    pair = replace(
        named,
        n=inside.n,
        in_group=inside.mean_difference,
        in_group_low=inside.ci_low,
        in_group_high=inside.ci_high,
        in_group_p=inside.p_value,
        in_rest=rest.mean_difference,
    )
    ours, theirs = _estimate(inside), _estimate(rest)
    if ours is None or theirs is None:
        return pair
    to_rest = difference(ours, theirs)
    return replace(
        pair,
        difference=to_rest.value,
        difference_low=to_rest.low,
        difference_high=to_rest.high,
        p_value=to_rest.p_value,
    )


def _estimate(comparison: PairedDifference) -> IntervalEstimate | None:
    units = comparison.num_clusters or comparison.n
    return estimate(
        comparison.mean_difference,
        comparison.ci_low,
        comparison.ci_high,
        comparison.ci_method,
        units,
    )
