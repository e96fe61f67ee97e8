"""Intraclass correlations of a complete table of ratings.

Of n items (rows) rated by k raters (columns), with the mean squares of rows (MSR), columns (MSC)
and error (MSE) of the two-way analysis of variance (McGraw and Wong 1996, Psychological Methods 1):

    ICC(C,1) = (MSR - MSE) / (MSR + (k - 1) MSE)                         consistency, one rater
    ICC(A,1) = (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / n)     absolute agreement
    ICC(C,k) = (MSR - MSE) / MSR                                         consistency, mean of k
    ICC(A,k) = (MSR - MSE) / (MSR + (MSC - MSE) / n)

The 95 % intervals are those of the same paper, by quantiles of F; that of ICC(A,1) is by
Satterthwaite's degrees of freedom, its lower end cut at -1, and that of ICC(A,k) follows from it by
Spearman and Brown: an end of ICC(A,1) at -1 / (k - 1) or below gives ICC(A,k) no such end.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.two_by_two import Estimated

_UPPER = 0.975
_FEWEST = 0.01
"""Degrees of freedom below which quantiles of F are beyond the largest float, or rounding alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Intraclass:
    """The four correlations; None of one that the table does not define."""

    agreement: Estimated | None
    """ICC(A,1): one rater may replace another, level and all."""
    consistency: Estimated | None
    """ICC(C,1): raters order the items alike, whatever their level."""
    mean_agreement: Estimated | None
    """ICC(A,k): the same of the mean of all raters."""
    mean_consistency: Estimated | None
    """ICC(C,k)."""


NOTHING = Intraclass(agreement=None, consistency=None, mean_agreement=None, mean_consistency=None)


def intraclass(ratings: NDArray[np.float64]) -> Intraclass:
    """The correlations of a table without a gap, shape (items, raters).

    Fewer than two items or raters, and ratings that are all equal, define none.
    """
    n, k = ratings.shape
    if n < 2 or k < 2 or np.ptp(ratings) == 0:
        return NOTHING
    mean = ratings.mean()
    rows = k * float(((ratings.mean(axis=1) - mean) ** 2).sum()) / (n - 1)
    columns = n * float(((ratings.mean(axis=0) - mean) ** 2).sum()) / (k - 1)
    total = float(((ratings - mean) ** 2).sum())
    error = (total - rows * (n - 1) - columns * (k - 1)) / ((n - 1) * (k - 1))
    error = max(error, 0.0)  # a rounding error below 0 where all raters order alike
    return Intraclass(
        agreement=_agreement(rows, columns, error, n, k),
        consistency=_consistency(rows, error, n, k),
        mean_agreement=_mean_agreement(rows, columns, error, n, k),
        mean_consistency=_mean_consistency(rows, error, n, k),
    )


def _quantile(first: float, second: float) -> float:
    from scipy.special import fdtri  # as `scipy.stats.f.ppf`, without its import of a second

    return float(fdtri(first, second, _UPPER))


def _ends(rows: float, error: float, n: int, k: int) -> tuple[float, float] | None:
    """The ends of MSR / MSE; None without an error, where there is nothing to be unsure of."""
    if error == 0:
        return None
    free = (n - 1) * (k - 1)
    ratio = rows / error
    return ratio / _quantile(n - 1, free), ratio * _quantile(free, n - 1)


def _consistency(rows: float, error: float, n: int, k: int) -> Estimated | None:
    below = rows + (k - 1) * error
    if below == 0:
        return None
    value = (rows - error) / below
    ends = _ends(rows, error, n, k)
    if ends is None:
        return Estimated(value)
    low, high = ((end - 1) / (end + k - 1) for end in ends)
    return Estimated(value, low, high)


def _mean_consistency(rows: float, error: float, n: int, k: int) -> Estimated | None:
    if rows == 0:
        return None
    ends = _ends(rows, error, n, k)
    value = (rows - error) / rows
    if ends is None:
        return Estimated(value)
    low, high = (1 - 1 / end for end in ends)
    return Estimated(value, low, high)


def _agreement(rows: float, columns: float, error: float, n: int, k: int) -> Estimated | None:
    below = rows + (k - 1) * error + k * (columns - error) / n
    if below <= 0:
        return None
    value = (rows - error) / below
    if value >= 1 or error == 0 == columns:
        return Estimated(value)
    a = k * value / (n * (1 - value))
    b = 1 + k * value * (n - 1) / (n * (1 - value))
    parts = (a * columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    free = (a * columns + b * error) ** 2 / parts if parts else 0.0
    if free < _FEWEST:
        return Estimated(value)
    rest = k * columns + (k * n - k - n) * error
    over, under = _quantile(n - 1, free), _quantile(free, n - 1)
    low = n * (rows - over * error) / (over * rest + n * rows)
    high = n * (under * rows - error) / (rest + n * under * rows)
    return Estimated(value, max(low, min(value, -1.0)), high)


def _mean_agreement(rows: float, columns: float, error: float, n: int, k: int) -> Estimated | None:
    below = rows + (columns - error) / n
    if below <= 0:
        return None
    value = (rows - error) / below
    one = _agreement(rows, columns, error, n, k)
    if one is None or one.low is None or one.high is None:
        return Estimated(value)
    return Estimated(value, _of_mean(one.low, k), _of_mean(one.high, k))


def _of_mean(one: float, k: int) -> float | None:
    """The reliability of the mean of k raters from that of one (Spearman and Brown).

    None where the divisor is not above 0: it falls without end there, and beyond it the raters who
    agree least would have the most reliable mean.
    """
    below = 1 + (k - 1) * one
    return k * one / below if below > 0 else None
