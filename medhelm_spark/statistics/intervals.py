"""95 % confidence intervals of a mean, by the scale of its values.

Wilson's for shares of 0/1 values, a score interval for means on a scale with two ends, Student's t
where an end is open; of clustered answers the same two with a cluster-robust standard error. None
of them has zero width. Coverage by simulation:
`benchmarks/interval_coverage.py`, docs/decisions/0012-intervals.md.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import Interval, IntervalMethod
from medhelm_spark.statistics.clusters import ClusterTotals, degrees_of_freedom
from medhelm_spark.statistics.student import quantile

Z95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""

PSEUDO_ANSWERS = 0.4
"""Pseudo-answers added at each end of a bounded scale when the spread is estimated."""

DRAWS = 1000
MAX_ROWS = 4096
_QUANTILES = (0.025, 0.975)
_T95 = (12.706204736174694, 4.302652729749462)
"""The 97.5 % quantiles of t with 1 and 2 degrees of freedom."""


def t_quantile(df: float) -> float:
    """The 97.5 % quantile of Student's t for df of 1 or more; a fraction below 3 is cut off.

    From 3 on by the expansion of Abramowitz and Stegun 26.7.5, within 0.15 %.

    >>> [round(t_quantile(df), 2) for df in (1, 2, 9, 99)]
    [12.71, 4.3, 2.26, 1.98]
    """
    if df < 3:
        return _T95[int(df) - 1]
    z, z2 = Z95, Z95 * Z95
    terms = (
        (z2 + 1) / 4,
        ((5 * z2 + 16) * z2 + 3) / 96,
        (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384,
        ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160,
    )
    return z * (1 + math.fsum(term / df**power for power, term in enumerate(terms, 1)))


def wilson(successes: float, n: float) -> Interval:
    """The score interval of a proportion (Wilson 1927); n must be positive, and may be effective.

    >>> interval = wilson(5, 10)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.2366, 0.7634)
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"wilson: {successes} successes of {n}; 0 <= successes <= n, n > 0")
    low, high = _score(successes / n, n, Z95)
    return Interval(low=low, high=high, method=IntervalMethod.WILSON)


def _score(p: float, n: float, z: float) -> tuple[float, float]:
    """All shares q that p, seen in n, is at most z standard errors sqrt(q (1 - q) / n) from."""
    z2 = z * z
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    low = 0.0 if p == 0 else max(0.0, centre - half)
    high = 1.0 if p == 1 else min(1.0, centre + half)
    return low, high


def mean_of_shares(shares: Sequence[tuple[float, float]]) -> Interval:
    """The interval of the mean of independent shares, each given as (successes, of how many).

    Of one share Wilson's. Of several by MOVER (Zou and Donner 2008; for two Newcombe 1998) from
    Wilson's l_k to u_k of each share p_k, p their mean:

        low = p - sqrt(sum (p_k - l_k)^2) / K      high = p + sqrt(sum (u_k - p_k)^2) / K

    >>> interval = mean_of_shares([(8, 10), (15, 20)])
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.5854, 0.8745)
    """
    parts = [wilson(successes, n) for successes, n in shares]
    if len(parts) == 1:
        return parts[0]
    means = [successes / n for successes, n in shares]
    mean = math.fsum(means) / len(means)
    below = math.hypot(*(p - part.low for p, part in zip(means, parts, strict=True)))
    above = math.hypot(*(part.high - p for p, part in zip(means, parts, strict=True)))
    return Interval(
        low=max(0.0, mean - below / len(means)),
        high=min(1.0, mean + above / len(means)),
        method=IntervalMethod.MOVER,
    )


def bounded_score(mean: float, variance: float, n: float, low: float, high: float) -> Interval:
    """The score interval of a mean of n values between `low` and `high`, on their scale.

    Wilson's interval assumes the largest variance that a mean allows, (high - mean) (mean - low)
    (Bhatia and Davis 2000). Here n is divided by the share of this variance that the values have.
    The share is estimated with PSEUDO_ANSWERS at each end of the scale, so that equal values do not
    give an interval without width. Instead of z it uses t with n - 1 degrees of freedom, at least
    1.

    Args:
        mean: of the values, on the scale.
        variance: the population's, not negative.
        n: how many values, 1 or more; may be effective.
        low: the least possible value.
        high: the greatest, above `low`.
    """
    if not (low <= mean <= high and low < high and n >= 1 and variance >= 0):
        raise ValueError(f"bounded_score: {n} values on the scale {low} to {high}; n >= 1")
    width = high - low
    p, pseudo = (mean - low) / width, PSEUDO_ANSWERS
    total = n + 2 * pseudo
    centre = (n * p + pseudo) / total
    square = (n * (variance / width**2 + p * p) + pseudo) / total
    share = min(1.0, (square - centre * centre) / (centre * (1 - centre)))
    below, above = _score(p, n / share, t_quantile(max(1.0, n - 1)))
    return Interval(
        low=low + width * below, high=low + width * above, method=IntervalMethod.BOUNDED_SCORE
    )


def student_t(
    mean: float, variance: float, n: float, low: float | None, high: float | None
) -> Interval | None:
    """Student's interval of a mean of n values, cut at the end of the scale that is not open.

    None where it would have no width: a single value, or equal ones. `variance` is the
    population's.
    """
    if n < 2 or variance <= 0:
        return None
    half = t_quantile(n - 1) * math.sqrt(variance / (n - 1))
    return Interval(
        low=mean - half if low is None else max(low, mean - half),
        high=mean + half if high is None else min(high, mean + half),
        method=IntervalMethod.T,
    )


def clustered(clusters: ClusterTotals, low: float | None, high: float | None) -> Interval | None:
    """The interval of the mean of clustered answers; None of a single cluster.

    On a scale with two ends the score interval of as many independent answers as would have the
    cluster-robust standard error, with t for few clusters. As in `bounded_score` that error is
    estimated with PSEUDO_ANSWERS at each end, here as many clusters of the mean size: where all
    clusters agree, each counts as one answer. Where an end is open it is t, cut at the other end,
    and None without a spread.
    """
    error = clusters.standard_error()
    if error is None:
        return None
    mean, t = clusters.mean, quantile(degrees_of_freedom(len(clusters)))
    means = clusters.totals / clusters.sizes
    low = None if low is None else min(low, float(means.min()))
    high = None if high is None else max(high, float(means.max()))
    if low is None or high is None:
        if error == 0:
            return None
        return Interval(
            low=mean - t * error if low is None else max(low, mean - t * error),
            high=mean + t * error if high is None else min(high, mean + t * error),
            method=IntervalMethod.CLUSTERED_T,
        )
    width = high - low
    p = min(max((mean - low) / width, 0.0), 1.0)
    below, above = _score(p, _effective(clusters, low, width), t)
    return Interval(
        low=low + width * below, high=low + width * above, method=IntervalMethod.CLUSTERED
    )


def _effective(clusters: ClusterTotals, low: float, width: float) -> float:
    """How many independent answers would have the standard error of these clusters."""
    sizes, totals = clusters.sizes, (clusters.totals - low * clusters.sizes) / width
    size = float(sizes.mean())  # of each pseudo-cluster, at either end
    answers = float(sizes.sum()) + 2 * PSEUDO_ANSWERS * size
    p = (float(totals.sum()) + PSEUDO_ANSWERS * size) / answers
    deviations = totals - p * sizes
    squares = float(deviations @ deviations) + PSEUDO_ANSWERS * size**2 * (p**2 + (1 - p) ** 2)
    correction = len(clusters) / (len(clusters) - 1)
    return p * (1 - p) * answers**2 / (correction * squares)


def mean_interval(
    counts: Sequence[tuple[float, int]], low: float | None, high: float | None, trials: int = 1
) -> Interval | None:
    """The interval of the mean of finite values, given as (value, how often), in order.

    A value beyond an end of the scale moves that end to it. With `trials` values per instance the
    sample size is the number of instances, as if the values of one instance were equal.
    """
    total = sum(count for _, count in counts)
    mean = math.fsum(value * count for value, count in counts) / total
    variance = math.fsum((value - mean) ** 2 * count for value, count in counts) / total
    n = max(1.0, total / trials)
    values = [value for value, _ in counts]
    low = None if low is None else min(low, *values)
    high = None if high is None else max(high, *values)
    if low is None or high is None:
        return student_t(mean, variance, n, low, high)
    return bounded_score(min(max(mean, low), high), variance, n, low, high)


def bootstrap_rows(
    measure: Callable[[NDArray[np.int64]], Sequence[float | None]],
    counts: NDArray[np.int64],
    *,
    seed: int,
    scales: Sequence[tuple[float | None, float | None]],
    trials: int = 1,
) -> list[Interval | None]:
    """Intervals of numbers that `measure` computes from how often each distinct row occurs.

    1,000 resamples of all instances are drawn as multinomial counts of the distinct rows (Efron
    1979). A number on a scale with two ends gets the score interval of a mean whose variance is
    the resamples', any other the percentiles of the resamples. None where a resample gives no
    number, where an interval would have no width, and for all numbers where there are more than
    4,096 distinct rows, because 1,000 resamples of them take too long.

    Args:
        measure: the numbers, always as many; None for one that does not exist.
        counts: how often each distinct row occurs.
        seed: of the resamples.
        scales: the least and greatest possible of each number, None for an open end.
        trials: how many rows an instance has; all of them count as one answer.
    """
    rows = int(counts.sum())
    n = max(1, rows // trials)
    if len(counts) > MAX_ROWS:
        return [None] * len(scales)
    generator = np.random.default_rng(seed)
    draws = [measure(trials * generator.multinomial(n, counts / rows)) for _ in range(DRAWS)]
    columns = zip(measure(counts), zip(*draws, strict=True), scales, strict=True)
    return [resampled_interval(value, drawn, n, *scale) for value, drawn, scale in columns]


def resampled_interval(
    value: float | None,
    drawn: Sequence[float | None],
    n: int,
    low: float | None,
    high: float | None,
) -> Interval | None:
    """The interval of a number from its resamples; None where one of them has no number.

    Args:
        value: the number.
        drawn: its resamples.
        n: how many instances or clusters were resampled.
        low: the least possible number, None for an open end.
        high: the greatest.
    """
    known = [number for number in drawn if number is not None and math.isfinite(number)]
    if value is None or len(known) < len(drawn):
        return None
    if low is not None and high is not None:
        ends = min(low, value), max(high, value)
        return bounded_score(value, n * float(np.var(known)), n, *ends)
    below, above = (float(limit) for limit in np.quantile(known, _QUANTILES))
    if below == above:
        return None
    return Interval(low=below, high=above, method=IntervalMethod.BOOTSTRAP)
