"""Whether one model falls behind another in a group: differences of paired differences.

Of each pair of models the paired difference in a group is compared with that in all other groups of
its column. Both have no instance in common, so that they are independent but for patients who are
in several groups, which makes the interval wider than it need be.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.board import BoardRun
from medhelm_spark.board.measured import Measured, measured, needed_stats
from medhelm_spark.board.scores import own_scores, scores_of
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
from medhelm_spark.subgroups.small_cells import Group, hidden_groups

_GROUPS = """
SELECT instance_id, group_column, group_value FROM ({assigned}) g
WHERE data_version IN ({versions})
"""

GroupsByInstance = Mapping[str, Mapping[str, str]]
"""By column and instance, the group."""


class GroupDecision(StrEnum):
    """What is known of the first model against the second in a group, beside all other groups."""

    FALLS_BEHIND = "falls behind"
    CATCHES_UP = "catches up"
    DIFFERENT = "different"
    NOT_TOLD_APART = "not told apart"
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

    in_group: float | None = None
    """The paired difference in the group."""

    in_group_low: float | None = None

    in_group_high: float | None = None

    in_rest: float | None = None
    """The paired difference in all other groups."""

    difference: float | None = None
    """The difference in the group less that in the rest."""

    difference_low: float | None = None

    difference_high: float | None = None

    p_value: float | None = None

    adjusted_p: float | None = None
    """By Benjamini and Hochberg, for all groups, columns and pairs that are asked about at once."""

    num_adjusted: int | None = None

    @property
    def decision(self) -> GroupDecision:
        """Told apart where the adjusted p-value is below 5 %."""
        if self.is_hidden:
            return GroupDecision.HIDDEN
        if self.adjusted_p is None or self.difference is None:
            return GroupDecision.NOT_TESTED
        if self.adjusted_p >= LEVEL:
            return GroupDecision.NOT_TOLD_APART
        if self.lower_is_better is None:
            return GroupDecision.DIFFERENT
        is_gain = (self.difference < 0) == self.lower_is_better
        return GroupDecision.CATCHES_UP if is_gain else GroupDecision.FALLS_BEHIND


def group_pairs(
    reader: Reader,
    runs: Iterable[BoardRun],
    pairs: Sequence[BoardPair],
    *,
    minimum: int,
    by: Sequence[str] = (),
) -> list[GroupPair]:
    """The pairs by group, in their order, those that fall behind first.

    Args:
        reader: the lake; of a release what it froze.
        runs: the runs of the board.
        pairs: which of them are compared.
        minimum: the patients that a group of gated and private rows needs to be shown.
        by: the columns (none: all).
    """
    by_id = {run.run_spec.run_spec_id: run for run in runs}
    columns: dict[tuple[str, str, str], list[BoardPair]] = {}
    for pair in pairs:
        spec = by_id[pair.run_spec_ids[0]].run_spec
        key = (spec.data_version, pair.main_metric, spec.main_split)
        columns.setdefault(key, []).append(pair)
    made: list[GroupPair] = []
    for (version, metric, split), alike in columns.items():
        run = by_id[alike[0].run_spec_ids[0]]
        groups = groups_by_instance(reader, version)
        shown = [name for name in (by or sorted(groups)) if name in groups]
        if not shown:
            continue
        units = list(dict.fromkeys(unit for pair in alike for unit in pair.run_spec_ids))
        scores = own_scores(
            scores_of(reader, units, needed_stats(run, metric), split), units, split
        )
        held = measured(run, metric, scores, units)
        is_public = run.run_spec.access_level is AccessLevel.PUBLIC
        of_all = pairs_of(held, alike, units, groups, 1 if is_public else minimum)
        made += sorted(
            (pair for pair in of_all if pair.group_column in shown),
            key=lambda pair: shown.index(pair.group_column),
        )
    return sorted(adjusted(made), key=lambda pair: list(GroupDecision).index(pair.decision))


def adjusted(pairs: Sequence[GroupPair]) -> list[GroupPair]:
    """The pairs with p-values adjusted for all of them."""
    tested = [place for place, pair in enumerate(pairs) if pair.p_value is not None]
    p_values = benjamini_hochberg([pairs[place].p_value or 0.0 for place in tested])
    made = list(pairs)
    for place, p_value in zip(tested, p_values, strict=True):
        made[place] = replace(made[place], adjusted_p=p_value, num_adjusted=len(tested))
    return made


def groups_by_instance(reader: Reader, data_version: str) -> dict[str, dict[str, str]]:
    """The groups of a data version's instances, by column and instance."""
    assigned = output_of("instance_groups", ASSIGN_GROUPS, "data_version", [data_version])
    sql = _GROUPS.format(assigned=assigned, versions=literals([data_version]))
    rows = reader.query(sql).to_pydict()
    held: dict[str, dict[str, str]] = {}
    columns = (rows["instance_id"], rows["group_column"], rows["group_value"])
    for instance, column, value in zip(*columns, strict=True):
        held.setdefault(column, {})[instance] = value
    return held


def pairs_of(
    held: Measured,
    pairs: Sequence[BoardPair],
    units: Sequence[str],
    groups: GroupsByInstance,
    minimum: int,
) -> Iterator[GroupPair]:
    """All pairs of the runs of one scenario, by all columns.

    Args:
        held: the runs.
        pairs: which of them are compared.
        units: the runs in the order of their places in `held`.
        groups: by column and instance, the group.
        minimum: the patients that a group needs to be shown.
    """
    patients = np.unique(held.units.indices.to_numpy(), return_inverse=True)[1]
    masks = dict(group_masks(held.instances.to_pylist(), groups))
    sides = {group: (held.among(mask), held.among(~mask)) for group, mask in masks.items()}
    in_data = {group: len(np.unique(patients[mask])) for group, mask in masks.items()}
    for pair in pairs:
        first, second = (units.index(unit) for unit in pair.run_spec_ids)
        inside = {group: among.difference(first, second) for group, (among, _) in sides.items()}
        seen = {group: each.num_clusters or each.n for group, each in inside.items()}
        gone = hidden_groups(in_data, seen, minimum)
        for group, (_, rest) in sides.items():
            named = _named(pair, group, is_hidden=group in gone)
            yield (
                named
                if group in gone
                else _told(named, inside[group], rest.difference(first, second))
            )


def group_masks(
    instances: Sequence[str], groups: GroupsByInstance
) -> Iterator[tuple[Group, NDArray[np.bool_]]]:
    """Which instances are in each group, by column in the order of a table."""
    for column, of in groups.items():
        values = np.array([of.get(instance, NOT_STATED) for instance in instances])
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


def _told(named: GroupPair, inside: PairedDifference, rest: PairedDifference) -> GroupPair:
    told = replace(
        named,
        n=inside.n,
        in_group=inside.mean_difference,
        in_group_low=inside.ci_low,
        in_group_high=inside.ci_high,
        in_rest=rest.mean_difference,
    )
    ours, theirs = _estimate(inside), _estimate(rest)
    if ours is None or theirs is None:
        return told
    held = difference(ours, theirs)
    return replace(
        told,
        difference=held.value,
        difference_low=held.low,
        difference_high=held.high,
        p_value=held.p_value,
    )


def _estimate(held: PairedDifference) -> IntervalEstimate | None:
    units = held.num_clusters or held.n
    return estimate(held.mean_difference, held.ci_low, held.ci_high, held.ci_method, units)
