"""Summary of one stat: count, mean, spread and interval, from a histogram of its values."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from medhelm_spark.domain.stats import Interval, IntervalMethod, MetricInfo
from medhelm_spark.statistics.intervals import bounded_score, mean_interval, wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The numbers of a `domain.stats.Stat`, with its field names and meanings."""

    count: int
    num_unscored: int
    mean: float | None = None
    stddev: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_method: IntervalMethod = IntervalMethod.NONE


def _interval(
    counts: Sequence[tuple[float, int]], n: int, scale: MetricInfo, trials: int
) -> Interval | None:
    if scale.is_share and all(value in (0, 1) for value, _ in counts):
        return wilson(sum(count for value, count in counts if value == 1) / trials, n / trials)
    return mean_interval(counts, scale.minimum, scale.maximum, trials)


def summarize(
    histogram: Sequence[tuple[float, int]], num_unscored: int, scale: MetricInfo, trials: int = 1
) -> Summary:
    """Summarise scored values given as (value, how often), in any order.

    The interval is Wilson's where every value is 0 or 1 and the scale is that of a share, a score
    interval on another scale with two ends, Student's t where an end is open. There is none for no
    value, and with an open end none for a single value or equal ones. Where the scale `clips_mean`,
    mean and interval are brought onto it; spread, minimum and maximum stay those of the values.

    Of `trials` values per instance the interval is that of the instances, as if the values of one
    were alike: asking again says nothing of other instances. It is too wide where they differ.
    """
    merged: Counter[float] = Counter()
    for value, count in histogram:
        if not math.isfinite(value) or count < 0:
            raise ValueError("summarize: a value that is not finite, or a negative count")
        merged[value] += count
    counts = sorted((value, count) for value, count in merged.items() if count)
    n = sum(count for _, count in counts)
    if n == 0:
        return Summary(count=0, num_unscored=num_unscored)
    mean = math.fsum(value * count for value, count in counts) / n
    variance = math.fsum((value - mean) ** 2 * count for value, count in counts) / n
    interval = _interval(counts, n, scale, trials)
    found = Summary(
        count=n,
        num_unscored=num_unscored,
        mean=min(max(mean, counts[0][0]), counts[-1][0]),
        stddev=math.sqrt(variance),
        minimum=counts[0][0],
        maximum=counts[-1][0],
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        ci_method=interval.method if interval else IntervalMethod.NONE,
    )
    return _onto_scale(found, scale, trials) if scale.clips_mean else found


def _onto_scale(found: Summary, scale: MetricInfo, trials: int) -> Summary:
    """The summary with mean and interval cut at the ends of the scale.

    An interval that lies beyond an end becomes that of answers which all stand at this end.
    """
    low, high = scale.minimum, scale.maximum
    if low is None or high is None or found.mean is None:
        return found
    ends = found.ci_low, found.ci_high
    below, above = (min(max(end, low), high) for end in ends if end is not None)
    mean = min(max(found.mean, low), high)
    if below == above:
        at_end = bounded_score(below, 0.0, max(1.0, found.count / trials), low, high)
        below, above = at_end.low, at_end.high
    return replace(found, mean=mean, ci_low=below, ci_high=above)
