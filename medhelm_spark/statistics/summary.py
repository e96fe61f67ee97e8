"""Summary of one stat: count, mean, spread and interval, from a histogram of its values."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from medhelm_spark.domain.stats import Interval, IntervalMethod
from medhelm_spark.statistics.intervals import bootstrap_mean, wilson


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
    counts: Sequence[tuple[float, int]], n: int, seed: int, trials: int, *, may_be_binary: bool
) -> Interval | None:
    if may_be_binary and all(value in (0, 1) for value, _ in counts):
        return wilson(sum(count for value, count in counts if value == 1) / trials, n / trials)
    if n <= trials:
        return None
    size = max(1, round(n / trials))
    return bootstrap_mean([v for v, _ in counts], [c for _, c in counts], seed=seed, size=size)


def summarize(
    histogram: Sequence[tuple[float, int]],
    num_unscored: int,
    seed: int,
    *,
    may_be_binary: bool = True,
    trials: int = 1,
) -> Summary:
    """Summarise scored values given as (value, how often), in any order.

    The interval is Wilson's where every value is 0 or 1, else a bootstrap seeded by `seed`, and
    none for no value or a single other one. `may_be_binary=False` is for scales that reach beyond
    0 and 1 (a jury's ratings), of which a stat may happen to hold only ones.

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
    interval = _interval(counts, n, seed, trials, may_be_binary=may_be_binary)
    return Summary(
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


def clipped(summary: Summary, low: float | None, high: float | None) -> Summary:
    """The summary with mean and interval brought onto a scale that single values may leave.

    Spread, minimum and maximum stay those of the values. None leaves that end open.
    """

    def onto_scale(value: float | None) -> float | None:
        if value is None:
            return None
        value = value if low is None else max(low, value)
        return value if high is None else min(high, value)

    return replace(
        summary,
        mean=onto_scale(summary.mean),
        ci_low=onto_scale(summary.ci_low),
        ci_high=onto_scale(summary.ci_high),
    )
