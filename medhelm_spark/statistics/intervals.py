"""95 % confidence intervals of a mean: Wilson for 0/1 values, a seeded bootstrap otherwise."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import Interval, IntervalMethod

Z95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""

DRAWS = 1000
_MAX_CELLS = 4096
_DRAWS_AT_ONCE = 100
_QUANTILES = (0.025, 0.975)


def wilson(successes: float, n: float) -> Interval:
    """The score interval of a proportion (Wilson 1927); n must be positive, and may be effective.

    >>> interval = wilson(5, 10)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.2366, 0.7634)
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"wilson: {successes} successes of {n}; 0 <= successes <= n, n > 0")
    p, z2 = successes / n, Z95 * Z95
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(low=low, high=high, method=IntervalMethod.WILSON)


def _cells(
    values: NDArray[np.float64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Distinct sorted values with counts, at most `_MAX_CELLS` of them.

    More distinct values share equal-width cells, each standing at its own mean: the mean is kept,
    and what a cell loses of the variance is at most (range / _MAX_CELLS)^2 / 4.
    """
    distinct, where = np.unique(values, return_inverse=True)
    weights = np.bincount(where, weights=counts).astype(np.int64)
    if len(distinct) <= _MAX_CELLS:
        return distinct, weights
    scale = _MAX_CELLS / (distinct[-1] - distinct[0])
    cell = np.minimum(((distinct - distinct[0]) * scale).astype(np.int64), _MAX_CELLS - 1)
    sums = np.bincount(cell, weights=distinct * weights)
    cell_counts = np.bincount(cell, weights=weights).astype(np.int64)
    filled = cell_counts > 0
    return sums[filled] / cell_counts[filled], cell_counts[filled]


def bootstrap_mean(
    values: Sequence[float],
    counts: Sequence[int] | None = None,
    *,
    seed: int,
    size: int | None = None,
) -> Interval:
    """Percentile interval of the mean over 1,000 resamples of all values (Efron 1979).

    `size` is how many values a resample has, as many as there are by default.

    `counts[i]` tells how often `values[i]` occurs, once each by default. A resample is drawn as the
    multinomial counts of the distinct values, so memory depends neither on n nor on the order of
    the values; the same values in any order give the same interval.
    """
    given = np.asarray(values, dtype=np.float64)
    times = np.ones(len(given), np.int64) if counts is None else np.asarray(counts, np.int64)
    if len(given) == 0 or len(given) != len(times) or not np.isfinite(given).all():
        raise ValueError(f"bootstrap_mean: {len(given)} values, {len(times)} counts; finite values")
    points, weights = _cells(given, times)
    n = int(weights.sum())
    drawn = n if size is None else size
    generator = np.random.default_rng(seed)
    means = np.concatenate(
        [
            generator.multinomial(drawn, weights / n, size=_DRAWS_AT_ONCE) @ points / drawn
            for _ in range(DRAWS // _DRAWS_AT_ONCE)
        ]
    )
    low, high = np.clip(np.quantile(means, _QUANTILES), points[0], points[-1])
    return Interval(low=float(low), high=float(high), method=IntervalMethod.BOOTSTRAP)


def bootstrap_rows(
    measure: Callable[[NDArray[np.int64]], Sequence[float | None]],
    counts: NDArray[np.int64],
    *,
    seed: int,
) -> list[Interval | None]:
    """Percentile intervals of numbers that `measure` makes of how often each row counts.

    Each of the 1,000 resamples of all instances is drawn as multinomial counts of the distinct
    rows. None where a resample gives no number, where there is one instance only, and for all where
    more than 4,096 distinct rows would make this slower than what it says is worth.
    """
    n = int(counts.sum())
    if n < 2 or len(counts) > _MAX_CELLS:
        return [None] * len(measure(counts))
    generator = np.random.default_rng(seed)
    draws = [measure(generator.multinomial(n, counts / n)) for _ in range(DRAWS)]
    return [_percentiles(column) for column in zip(*draws, strict=True)]


def _percentiles(drawn: Sequence[float | None]) -> Interval | None:
    known = [value for value in drawn if value is not None and math.isfinite(value)]
    if len(known) < len(drawn):
        return None
    low, high = np.quantile(known, _QUANTILES)
    return Interval(low=float(low), high=float(high), method=IntervalMethod.BOOTSTRAP)
