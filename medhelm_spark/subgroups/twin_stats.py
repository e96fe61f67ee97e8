"""The rows of twins: both groups' means, and the difference pair by pair."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.statistics.paired import Labels, PairedDifference, paired_difference
from medhelm_spark.subgroups.group_answers import GroupAnswers, GroupedValue, filled, totals_of
from medhelm_spark.subgroups.small_cells import Group, hidden_groups
from medhelm_spark.subgroups.tables import GroupStat
from medhelm_spark.subgroups.twins import ORIGINAL, PERTURBED, TwinValue, twin_column

WITHOUT_COPY = "without copy"


def values_of_twins(twins: Iterable[TwinValue]) -> Iterator[GroupedValue]:
    """The originals that have a copy, and the copies, as values of their groups."""
    for twin in twins:
        if twin.has_copy:
            yield _side(twin, ORIGINAL)
            yield _side(twin, PERTURBED)


def _side(twin: TwinValue, group: str) -> GroupedValue:
    is_original = group == ORIGINAL
    return GroupedValue(
        name=twin.name,
        group_column=twin_column(twin.twin),
        group_value=group,
        value=twin.original if is_original else twin.perturbed,
        rows=twin.rows,
        failures=twin.original_failures if is_original else twin.perturbed_failures,
        unread=twin.original_unread if is_original else twin.perturbed_unread,
        units=twin.units,
    )


def twin_stats(
    twins: Sequence[TwinValue],
    blank: GroupStat,
    scale: MetricInfo,
    counts: Mapping[str, Mapping[Group, int]],
    *,
    is_clustered: bool,
) -> Iterator[GroupStat]:
    """The rows of one stat, two for each perturbation that has copies.

    The row of the copies has their paired difference to their originals. Both rows are hidden where
    too few patients have a copy or a pair of values, or so few have none that their score could be
    computed from the total.

    Args:
        twins: the values of the stat.
        blank: what all rows have in common.
        scale: of the stat.
        counts: as in `group_stats`.
        is_clustered: whether the card names a cluster column.
    """
    for name in sorted({twin.twin for twin in twins if twin.has_copy}):
        # Sums of floats depend on their order, and Spark keeps none.
        of_name = sorted((twin for twin in twins if twin.twin == name), key=_order)
        pairs = [twin for twin in of_name if twin.has_copy]
        named = replace(blank, group_column=twin_column(name), is_hidden=_hidden(of_name, blank))
        original, perturbed = (replace(named, group_value=side) for side in (ORIGINAL, PERTURBED))
        if named.is_hidden:
            yield from (original, perturbed)
            continue
        sides = []
        for row in (original, perturbed):
            answers = GroupAnswers()
            values = [_side(pair, row.group_value) for pair in pairs]
            for grouped in sorted(values, key=lambda each: (each.value is None, each.value or 0)):
                answers.add(grouped)
            answers.take_counts((row.group_column, row.group_value), counts)
            totals = totals_of(answers)
            sides.append(filled(row, answers, totals, scale, is_clustered=is_clustered))
        yield sides[0]
        yield _beside(sides[1], sides[0], _paired(pairs, scale))


def _order(twin: TwinValue) -> tuple[object, ...]:
    values = (twin.original, twin.perturbed)
    return (twin.has_copy, *((value is None, value or 0.0) for value in values))


def _hidden(twins: Sequence[TwinValue], blank: GroupStat) -> bool:
    """Whether the twins of one perturbation are hidden."""
    with_copy = [twin for twin in twins if twin.has_copy]
    scored = [
        twin for twin in with_copy if twin.original is not None and twin.perturbed is not None
    ]
    alone = [twin for twin in twins if not twin.has_copy]
    known = [twin for twin in alone if twin.original is not None]
    parts = {PERTURBED: (with_copy, scored), **({WITHOUT_COPY: (alone, known)} if alone else {})}
    return ("", PERTURBED) in hidden_groups(
        {("", part): _patients(members) for part, (members, _) in parts.items()},
        {("", part): _patients(seen) for part, (_, seen) in parts.items()},
        blank.minimum,
    )


def _patients(twins: Iterable[TwinValue]) -> int:
    """The distinct patients; the originals where each is a patient of its own."""
    rows = list(twins)
    units = {unit for each in rows for unit in each.units}
    return len(units) or sum(each.rows for each in rows)


def _paired(pairs: Sequence[TwinValue], scale: MetricInfo) -> PairedDifference:
    """Copies less originals, of the pairs in which both have a value."""
    rows = [pair.rows for pair in pairs]
    first, second = (
        np.repeat(np.array([np.nan if v is None else v for v in values], np.float64), rows)
        for values in ([pair.perturbed for pair in pairs], [pair.original for pair in pairs])
    )
    return paired_difference(first, second, scale, _labels(pairs))


def _labels(pairs: Sequence[TwinValue]) -> Labels | None:
    """The patient of each pair; None where no pair names its patient."""
    if not any(pair.units for pair in pairs):
        return None
    parts, last = [], 0
    for pair in pairs:
        alone = pair.rows - len(pair.units)
        parts.append(np.array([*pair.units, *range(last, last + alone)], np.int64))
        last += alone
    return np.concatenate(parts)


def _beside(perturbed: GroupStat, original: GroupStat, comparison: PairedDifference) -> GroupStat:
    return replace(
        perturbed,
        rest_mean=original.mean,
        difference=comparison.mean_difference,
        difference_low=comparison.ci_low,
        difference_high=comparison.ci_high,
        p_value=comparison.p_value,
    )
