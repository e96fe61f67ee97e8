"""95 % confidence intervals of a mean, by the scale of its values.

Wilson's for shares of 0/1 values, a score interval for means on a scale with two ends, Student's t
where an end is open; of clustered answers the same two with a cluster-robust standard error. None
of them has zero width. Coverage by simulation:
`benchmarks/interval_coverage.py`, docs/decisions/0012-intervals.md.
"""

import math
from collections.abc import Sequence

from medhelm_spark.domain.stats import Interval, IntervalMethod
from medhelm_spark.statistics.clusters import ClusterTotals
from medhelm_spark.statistics.student import quantile

Z95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""

PSEUDO_ANSWERS = 0.4
"""Pseudo-answers added at each end of a bounded scale when the spread is estimated."""

PSEUDO_CLUSTERS = 0.2
"""Clusters added at each end of it when the correlation within clusters is estimated."""


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


def mover(means: Sequence[float], intervals: Sequence[Interval]) -> Interval:
    """The interval of the mean of independent means, each with its own interval.

    Of one mean its own. Of K means p_k with the ends l_k and u_k by MOVER (Zou and Donner 2008; for
    two Newcombe 1998), p their mean:

        low = p - sqrt(sum (p_k - l_k)^2) / K      high = p + sqrt(sum (u_k - p_k)^2) / K

    >>> interval = mover([0.8, 0.75], [wilson(8, 10), wilson(15, 20)])
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.5854, 0.8745)
    """
    if len(intervals) == 1:
        return intervals[0]
    mean = math.fsum(means) / len(means)
    below = math.hypot(*(p - part.low for p, part in zip(means, intervals, strict=True)))
    above = math.hypot(*(part.high - p for p, part in zip(means, intervals, strict=True)))
    return Interval(
        low=max(0.0, mean - below / len(means)),
        high=min(1.0, mean + above / len(means)),
        method=IntervalMethod.MOVER,
    )


def bounded_score(
    mean: float,
    variance: float,
    n: float,
    low: float,
    high: float,
    *,
    degrees_of_freedom: float | None = None,
) -> Interval:
    """The score interval of a mean of n values between `low` and `high`, on their scale.

    Wilson's interval assumes the largest variance that a mean allows, (high - mean) (mean - low)
    (Bhatia and Davis 2000). Here n is divided by the share of this variance that the values have.
    The share is estimated with PSEUDO_ANSWERS at each end of the scale, so that equal values do not
    give an interval without width. Instead of z it uses t. Pseudo-values of a stat that rests on a
    part of the answers vary more than values on the scale can, and the share is above 1.

    Args:
        mean: of the values, on the scale.
        variance: the population's, not negative.
        n: how many values, 1 or more; may be effective.
        low: the least possible value.
        high: the greatest, above `low`.
        degrees_of_freedom: of t, 1 or more; None: n - 1, at least 1.
    """
    if not (low <= mean <= high and low < high and n >= 1 and variance >= 0):
        raise ValueError(f"bounded_score: {n} values on the scale {low} to {high}; n >= 1")
    width = high - low
    answers = effective_answers(mean, variance, n, low, high)
    t = quantile(degrees_of_freedom or max(1.0, n - 1))
    below, above = _score((mean - low) / width, answers, t)
    return Interval(
        low=low + width * below, high=low + width * above, method=IntervalMethod.BOUNDED_SCORE
    )


def effective_answers(mean: float, variance: float, n: float, low: float, high: float) -> float:
    """How many values at the two ends of the scale alone would have the spread of this mean.

    n divided by the share of the largest variance; arguments as in `bounded_score`.
    """
    width, pseudo = high - low, PSEUDO_ANSWERS
    p, total = (mean - low) / width, n + 2 * pseudo
    centre = (n * p + pseudo) / total
    square = (n * (variance / width**2 + p * p) + pseudo) / total
    return n * centre * (1 - centre) / (square - centre * centre)


def student_t(
    mean: float, variance: float, n: float, low: float | None, high: float | None
) -> Interval | None:
    """Student's interval of a mean of n values, cut at the end of the scale that is not open.

    None where it would have no width: a single value, or equal ones. `variance` is the
    population's.
    """
    if n < 2 or variance <= 0:
        return None
    half = quantile(n - 1) * math.sqrt(variance / (n - 1))
    return Interval(
        low=mean - half if low is None else max(low, mean - half),
        high=mean + half if high is None else min(high, mean + half),
        method=IntervalMethod.T,
    )


def clustered(clusters: ClusterTotals, low: float | None, high: float | None) -> Interval | None:
    """The interval of the mean of clustered answers; None of a single cluster.

    On a scale with two ends it covers two score intervals. One has the cluster-robust standard
    error (CR2). Where few clusters differ from the rest, that error rests on the sizes of these
    few, and is too small where they are small. The other follows from the correlation within
    clusters and the sizes of all. Where an end is open the interval is t, cut at the other end, and
    None without a spread.
    """
    error = clusters.standard_error()
    if error is None:
        return None
    if low is None or high is None:
        if error == 0:
            return None
        mean, t = clusters.mean, quantile(clusters.degrees_of_freedom)
        return Interval(
            low=mean - t * error if low is None else max(low, mean - t * error),
            high=mean + t * error if high is None else min(high, mean + t * error),
            method=IntervalMethod.CLUSTERED_T,
        )
    unit = clusters.on_unit_scale(low, high)
    correlation = unit.correlation(PSEUDO_CLUSTERS)
    robust, by_sizes = _robust(unit, correlation), _by_sizes(unit, correlation)
    return Interval(
        low=low + (high - low) * min(robust[0], by_sizes[0]),
        high=low + (high - low) * max(robust[1], by_sizes[1]),
        method=IntervalMethod.CLUSTERED,
    )


def _robust(clusters: ClusterTotals, correlation: float) -> tuple[float, float]:
    """The score interval of as many independent answers as would have the CR2 standard error.

    As in `bounded_score` the error is estimated with PSEUDO_ANSWERS at each end, here as many
    clusters of the mean size whose answers correlate as those of the others.
    """
    sizes, totals = clusters.sizes, clusters.totals
    size = float(sizes.mean())
    added = PSEUDO_ANSWERS * size
    answers = float(sizes.sum()) + 2 * added
    p = min(max(float(totals.sum()) + added, added), answers - added) / answers
    squares = float(((totals - p * sizes) ** 2 / (1 - sizes / sizes.sum())).sum())
    squares += added * (1 + (size - 1) * correlation) * (p**2 + (1 - p) ** 2)
    effective = p * (1 - p) * answers**2 / squares
    return _score(_share(clusters), effective, quantile(clusters.degrees_of_freedom))


def _by_sizes(clusters: ClusterTotals, correlation: float) -> tuple[float, float]:
    """The score interval whose number of answers is divided by the design effect of their clusters.

    The share of the variance that clusters bring has G - 1 degrees of freedom, the rest N - 1
    (Satterthwaite 1946).
    """
    answers, p = float(clusters.sizes.sum()), _share(clusters)
    design_effect = 1 + correlation * (clusters.mean_size - 1)
    share = correlation * clusters.mean_size / design_effect
    freedom = 1 / ((1 - share) ** 2 / (answers - 1) + share**2 / (len(clusters) - 1))
    alone = effective_answers(p, clusters.variance, answers, 0, 1)
    return _score(p, alone / design_effect, quantile(freedom))


def _share(clusters: ClusterTotals) -> float:
    """The mean on the unit scale, without rounding errors beyond its ends."""
    return min(max(clusters.mean, 0.0), 1.0)


def mean_interval(
    counts: Sequence[tuple[float, int]], low: float | None, high: float | None
) -> Interval | None:
    """The interval of the mean of finite values, given as (value, how often), in order.

    A value beyond an end of the scale moves that end to it.
    """
    n = sum(count for _, count in counts)
    mean = math.fsum(value * count for value, count in counts) / n
    variance = math.fsum((value - mean) ** 2 * count for value, count in counts) / n
    values = [value for value, _ in counts]
    low = None if low is None else min(low, *values)
    high = None if high is None else max(high, *values)
    if low is None or high is None:
        return student_t(mean, variance, n, low, high)
    return bounded_score(min(max(mean, low), high), variance, n, low, high)
