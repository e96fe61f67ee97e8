"""Summary of one stat: count, mean, spread and interval, from a histogram of its values."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from medhelm_spark.domain.stats import Interval, IntervalMethod, MetricInfo, Summary
from medhelm_spark.statistics.clusters import ClusterTotals
from medhelm_spark.statistics.intervals import bounded_score, clustered, mean_interval, wilson

NOTHING = Summary(
    count=0,
    num_unscored=0,
    mean=None,
    stddev=None,
    minimum=None,
    maximum=None,
    ci_low=None,
    ci_high=None,
    ci_method=IntervalMethod.NONE,
)
"""The summary of no answer."""


def _interval(
    counts: Sequence[tuple[float, int]],
    n: int,
    scale: MetricInfo,
    clusters: ClusterTotals | None,
) -> Interval | None:
    if clusters:
        values = [value for value, _ in counts]
        return clustered(
            clusters,
            None if scale.minimum is None else min(scale.minimum, *values),
            None if scale.maximum is None else max(scale.maximum, *values),
        )
    if scale.is_share and all(value in (0, 1) for value, _ in counts):
        return wilson(sum(count for value, count in counts if value == 1), n)
    return mean_interval(counts, scale.minimum, scale.maximum)


def summarize(
    histogram: Sequence[tuple[float, int]],
    num_unscored: int,
    scale: MetricInfo,
    clusters: ClusterTotals | None = None,
) -> Summary:
    """Summarise scored values given as (value, how often), in any order.

    The interval is Wilson's where every value is 0 or 1 and the scale is that of a share, a score
    interval on another scale with two ends, Student's t where an end is open. None for no value,
    and with an open end for a single value or equal ones. Where the scale has `clips_mean`, mean
    and interval are clipped to it; stddev, minimum and maximum stay those of the values.

    With `clusters`, the same values by cluster, interval and standard error count clusters; several
    answers to one instance are such a cluster. Clusters of one answer each change nothing.
    """
    merged: Counter[float] = Counter()
    for value, count in histogram:
        if not math.isfinite(value) or count < 0:
            raise ValueError("summarize: a value that is not finite, or a negative count")
        merged[value] += count
    counts = sorted((value, count) for value, count in merged.items() if count)
    n = sum(count for _, count in counts)
    if n == 0:
        return replace(NOTHING, num_unscored=num_unscored)
    mean = math.fsum(value * count for value, count in counts) / n
    variance = math.fsum((value - mean) ** 2 * count for value, count in counts) / n
    joint = None if clusters is None or clusters.are_single else clusters
    interval = _interval(counts, n, scale, joint)
    summary = Summary(
        count=n,
        num_unscored=num_unscored,
        mean=min(max(mean, counts[0][0]), counts[-1][0]),
        stddev=math.sqrt(variance),
        minimum=counts[0][0],
        maximum=counts[-1][0],
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        ci_method=interval.method if interval else IntervalMethod.NONE,
        num_clusters=len(clusters) if clusters else None,
        num_effective_clusters=clusters.effective if clusters else None,
        standard_error=_standard_error(variance, n, joint),
    )
    return (
        _onto_scale(summary, scale, len(clusters) if clusters else n)
        if scale.clips_mean
        else summary
    )


def _standard_error(variance: float, n: float, clusters: ClusterTotals | None) -> float | None:
    """Of the mean of n answers with the population's variance; None of a single one."""
    if clusters:
        return clusters.standard_error()
    return math.sqrt(variance / (n - 1)) if n > 1 else None


def _onto_scale(summary: Summary, scale: MetricInfo, n: int) -> Summary:
    """The summary with mean and interval cut at the ends of the scale.

    The answers to a single instance have no interval. One that lies wholly beyond an end becomes
    the interval of values that all equal the end.
    """
    low, high = scale.minimum, scale.maximum
    if low is None or high is None or summary.mean is None:
        return summary
    mean = min(max(summary.mean, low), high)
    if summary.ci_low is None or summary.ci_high is None:
        return replace(summary, mean=mean)
    below, above = (min(max(end, low), high) for end in (summary.ci_low, summary.ci_high))
    if below == above:
        at_end = bounded_score(below, 0.0, n, low, high)
        below, above = at_end.low, at_end.high
    return replace(summary, mean=mean, ci_low=below, ci_high=above)
