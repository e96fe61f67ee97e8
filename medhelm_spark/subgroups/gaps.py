"""The gap of a model: its best group's number less its worst group's, by one column."""

from collections.abc import Mapping
from dataclasses import dataclass

from medhelm_spark.subgroups.estimates import IntervalEstimate
from medhelm_spark.subgroups.range_interval import range_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The largest number less the smallest one, with a 95 % interval.

    The interval allows for both being picked from all groups; `low` is 0 where the groups do not
    differ.
    """

    best: str
    """The group that is best off."""

    worst: str
    """The group that is worst off."""

    value: float

    low: float

    high: float


def gap_of(
    groups: Mapping[str, IntervalEstimate], *, lower_is_better: bool, width: float | None
) -> Gap | None:
    """The gap between independent groups; None of fewer than two.

    Args:
        groups: their numbers, by name; of equals the first one named counts.
        lower_is_better: which end of the scale is the good one.
        width: the largest difference that the scale allows; None where an end is open.
    """
    if len(groups) < 2:
        return None
    names = list(groups)
    largest = max(names, key=lambda name: groups[name].value)
    smallest = min(reversed(names), key=lambda name: groups[name].value)
    best, worst = (smallest, largest) if lower_is_better else (largest, smallest)
    low, high = range_interval(*groups.values())
    return Gap(
        best=best,
        worst=worst,
        value=groups[largest].value - groups[smallest].value,
        low=low,
        high=high if width is None else min(high, width),
    )
