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
    for held in twins:
        if held.has_copy:
            yield _side(held, ORIGINAL)
            yield _side(held, PERTURBED)


def _side(held: TwinValue, group: str) -> GroupedValue:
    is_original = group == ORIGINAL
    return GroupedValue(
        name=held.name,
        group_column=twin_column(held.twin),
        group_value=group,
        value=held.original if is_original else held.perturbed,
        rows=held.rows,
        failures=held.original_failures if is_original else held.perturbed_failures,
        unread=held.original_unread if is_original else held.perturbed_unread,
        units=held.units,
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

    In the row of the copies stands their paired difference to their originals. Both rows are hidden
    where too few patients have a copy or a pair of values, or so few have none that what these
    score could be computed from the total.

    Args:
        twins: the values of the stat.
        blank: what all rows have in common.
        scale: of the stat.
        counts: as in `group_stats`.
        is_clustered: whether the card names a cluster column.
    """
    for name in sorted({held.twin for held in twins if held.has_copy}):
        # Sums of floats depend on their order, and Spark keeps none.
        of_name = sorted((held for held in twins if held.twin == name), key=_order)
        pairs = [held for held in of_name if held.has_copy]
        named = replace(blank, group_column=twin_column(name), is_hidden=_hidden(of_name, blank))
        original, perturbed = (replace(named, group_value=side) for side in (ORIGINAL, PERTURBED))
        if named.is_hidden:
            yield from (original, perturbed)
            continue
        sides = []
        for row in (original, perturbed):
            answers = GroupAnswers()
            held_values = [_side(held, row.group_value) for held in pairs]
            for held in sorted(held_values, key=lambda each: (each.value is None, each.value or 0)):
                answers.add(held)
            answers.take_counts((row.group_column, row.group_value), counts)
            totals = totals_of(answers)
            sides.append(filled(row, answers, totals, scale, is_clustered=is_clustered))
        yield sides[0]
        yield _beside(sides[1], sides[0], _paired(pairs, scale))


def _order(held: TwinValue) -> tuple[object, ...]:
    values = (held.original, held.perturbed)
    return (held.has_copy, *((value is None, value or 0.0) for value in values))


def _hidden(twins: Sequence[TwinValue], blank: GroupStat) -> bool:
    """Whether the twins of one perturbation are hidden."""
    with_copy = [held for held in twins if held.has_copy]
    scored = [
        held for held in with_copy if held.original is not None and held.perturbed is not None
    ]
    alone = [held for held in twins if not held.has_copy]
    known = [held for held in alone if held.original is not None]
    parts = {PERTURBED: (with_copy, scored), **({WITHOUT_COPY: (alone, known)} if alone else {})}
    return ("", PERTURBED) in hidden_groups(
        {("", part): _patients(held) for part, (held, _) in parts.items()},
        {("", part): _patients(seen) for part, (_, seen) in parts.items()},
        blank.minimum,
    )


def _patients(twins: Iterable[TwinValue]) -> int:
    """The distinct patients; originals where each is one's own."""
    held = list(twins)
    units = {unit for each in held for unit in each.units}
    return len(units) or sum(each.rows for each in held)


def _paired(pairs: Sequence[TwinValue], scale: MetricInfo) -> PairedDifference:
    """Copies less originals, of the pairs in which both have a value."""
    rows = [held.rows for held in pairs]
    first, second = (
        np.repeat(np.array([np.nan if v is None else v for v in values], np.float64), rows)
        for values in ([held.perturbed for held in pairs], [held.original for held in pairs])
    )
    return paired_difference(first, second, scale, _labels(pairs))


def _labels(pairs: Sequence[TwinValue]) -> Labels | None:
    """The patient of each pair; None where each is one's own, as those are that nothing names."""
    if not any(held.units for held in pairs):
        return None
    parts, last = [], 0
    for held in pairs:
        alone = held.rows - len(held.units)
        parts.append(np.array([*held.units, *range(last, last + alone)], np.int64))
        last += alone
    return np.concatenate(parts)


def _beside(perturbed: GroupStat, original: GroupStat, held: PairedDifference) -> GroupStat:
    return replace(
        perturbed,
        rest_mean=original.mean,
        difference=held.mean_difference,
        difference_low=held.ci_low,
        difference_high=held.ci_high,
        p_value=held.p_value,
    )
