"""Paired difference of two models on the same instances."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.domain.stats import SHARE, IntervalMethod, MetricInfo
from medhelm_spark.statistics.intervals import Z95, mean_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """First model minus second, over the `n` instances on which both have a value.

    `num_dropped` instances lack one of the two values. `p_value` is McNemar's exact two-sided one
    where all values are 0 or 1 of a share, None otherwise. The 95 % interval is Bonett and Price's
    for 0/1 values, else `mean_interval` of the differences, which lie between -width and width of
    the scale. None for no pair, and with an open scale for a single pair or equal differences.
    """

    n: int
    num_dropped: int
    mean_difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_method: IntervalMethod = IntervalMethod.NONE
    p_value: float | None = None


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided exact McNemar test: a binomial tail with p = 1/2 over the discordant pairs.

    >>> round(mcnemar_exact(1, 7), 7)
    0.0703125
    """
    n, fewer = only_first + only_second, min(only_first, only_second)
    log_total = math.lgamma(n + 1) - n * math.log(2)
    # Terms grow towards the middle, and a logarithm keeps them in range for a million pairs.
    tail = math.fsum(
        math.exp(log_total - math.lgamma(k + 1) - math.lgamma(n - k + 1)) for k in range(fewer + 1)
    )
    return min(1.0, 2 * tail)


def bonett_price(only_first: int, only_second: int, n: int) -> tuple[float, float]:
    """Interval of a difference of paired proportions (Bonett and Price 2012), n pairs in all.

    A Wald interval after one pair is added to either kind of discordance.
    """
    first, second = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    difference = first - second
    half = Z95 * math.sqrt((first + second - difference * difference) / (n + 2))
    return max(-1.0, difference - half), min(1.0, difference + half)


def _binary(pairs: Mapping[tuple[float, float], int], n: int, dropped: int) -> PairedDifference:
    only_first, only_second = pairs.get((1, 0), 0), pairs.get((0, 1), 0)
    low, high = bonett_price(only_first, only_second, n)
    return PairedDifference(
        n=n,
        num_dropped=dropped,
        mean_difference=(only_first - only_second) / n,
        ci_low=low,
        ci_high=high,
        ci_method=IntervalMethod.BONETT_PRICE,
        p_value=mcnemar_exact(only_first, only_second),
    )


def _range_of_differences(scale: MetricInfo) -> tuple[float | None, float | None]:
    """The least and the greatest difference of two values; None where an end is open."""
    if scale.minimum is None or scale.maximum is None:
        return None, None
    width = scale.maximum - scale.minimum
    return -width, width


def paired_from_counts(
    counts: Sequence[tuple[float, float, int]], num_dropped: int, scale: MetricInfo = SHARE
) -> PairedDifference:
    """The paired difference from (first value, second value, number of instances), in any order."""
    pairs: Counter[tuple[float, float]] = Counter()
    for first, second, count in counts:
        pairs[first, second] += count
    n = pairs.total()
    if n == 0:
        return PairedDifference(n=0, num_dropped=num_dropped)
    if scale.is_share and all(value in (0, 1) for pair in pairs for value in pair):
        return _binary(pairs, n, num_dropped)
    differences: Counter[float] = Counter()
    for (first, second), count in pairs.items():
        differences[first - second] += count
    least, most = _range_of_differences(scale)
    interval = mean_interval(sorted(differences.items()), least, most)
    return PairedDifference(
        n=n,
        num_dropped=num_dropped,
        mean_difference=math.fsum(value * count for value, count in differences.items()) / n,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        ci_method=interval.method if interval else IntervalMethod.NONE,
    )


def paired_difference(
    first: Mapping[str, float | None],
    second: Mapping[str, float | None],
    scale: MetricInfo = SHARE,
) -> PairedDifference:
    """The paired difference of values by instance; None is an instance without a value."""
    pairs: Counter[tuple[float, float]] = Counter()
    for instance, value in first.items():
        other = second.get(instance)
        if value is not None and other is not None:
            pairs[value, other] += 1
    return paired_from_counts(
        [(value, other, count) for (value, other), count in pairs.items()],
        len(first.keys() | second.keys()) - pairs.total(),
        scale,
    )
