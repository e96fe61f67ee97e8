"""Agreement of raters: Krippendorff's alpha, kappas, rank correlations, Bland and Altman's limits.

A table of ratings has the shape (items, raters) and NaN where a rater did not rate an item.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.student import quantile
from medhelm_spark.statistics.two_by_two import Estimated

Table = NDArray[np.float64]

DRAWS = 1000
_SEED = 20_180_623
"""The seed of the draws, so that the same ratings give the same interval."""


class MeasurementLevel(StrEnum):
    """What a difference of two ratings means."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"


def krippendorff(ratings: Table, scale: MeasurementLevel) -> float | None:
    """Krippendorff's alpha: 1 - observed / expected disagreement.

    By coincidences of values within an item (Krippendorff 2011, Computing Krippendorff's
    Alpha-Reliability): an item with m ratings counts each of its pairs 1 / (m - 1) times; an item
    with one rating counts nothing.

    Returns:
        None where no item has two ratings, or where all ratings that count are equal.
    """
    values, tallies = _tallied(ratings)
    return _alpha(tallies, _distances(values, scale))


def krippendorff_interval(ratings: Table, scale: MeasurementLevel) -> Estimated | None:
    """Alpha with a 95 % interval: percentiles of alpha over DRAWS resamples of the items."""
    values, tallies = _tallied(ratings)
    own = _alpha(tallies, _distances(values, scale))
    if own is None:
        return None
    chance = np.random.default_rng(_SEED)
    n = len(tallies)
    drawn = []
    distances = _distances(values, scale)
    for _ in range(DRAWS):
        weights = np.bincount(chance.integers(n, size=n), minlength=n)
        if (found := _alpha(tallies, distances, weights)) is not None:
            drawn.append(found)
    if n < 2 or len(drawn) < DRAWS / 2:
        return Estimated(own)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Estimated(own, float(low), float(high))


def _tallied(ratings: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The values that occur, and how often each item has each: shapes (values,), (items, values).

    Items with fewer than two ratings are left out.
    """
    rated = ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]
    values = np.unique(rated[~np.isnan(rated)])
    tallies = np.stack(
        [(rated == value).sum(axis=1) for value in values] or [np.zeros(0)], axis=1
    ).astype(np.float64)
    return values, tallies


def _distances(values: NDArray[np.float64], scale: MeasurementLevel) -> NDArray[np.float64] | None:
    """The squared distances of values; None for an ordinal scale, which depends on their counts."""
    first, second = values[:, None], values[None, :]
    match scale:
        case MeasurementLevel.NOMINAL:
            apart: NDArray[np.float64] = (first != second).astype(np.float64)
            return apart
        case MeasurementLevel.INTERVAL:
            squares: NDArray[np.float64] = (first - second) ** 2
            return squares
        case MeasurementLevel.RATIO:
            whole = first + second
            parts = np.divide(first - second, whole, out=np.zeros_like(whole), where=whole != 0)
            ratios: NDArray[np.float64] = parts**2
            return ratios
        case MeasurementLevel.ORDINAL:
            return None


def _ordinal(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The squared number of ratings between two values, the half of each of the two with them."""
    middle = np.cumsum(counts) - counts / 2
    squares: NDArray[np.float64] = (middle[:, None] - middle[None, :]) ** 2
    return squares


def _alpha(
    tallies: NDArray[np.float64],
    distances: NDArray[np.float64] | None,
    weights: NDArray[np.int64] | None = None,
) -> float | None:
    if not tallies.size:
        return None
    each = np.ones(len(tallies)) if weights is None else weights.astype(np.float64)
    sizes = tallies.sum(axis=1)
    counts = each @ tallies
    total = counts.sum()
    if distances is None:
        distances = _ordinal(counts)
    within = ((tallies @ distances) * tallies).sum(axis=1) / (sizes - 1)
    observed = float(each @ within) / total if total else 0.0
    expected = float(counts @ distances @ counts) / (total * (total - 1)) if total > 1 else 0.0
    return 1 - observed / expected if expected > 0 else None


def fleiss(counts: Table) -> float | None:
    """Fleiss' kappa of items that all have the same number of ratings.

    Args:
        counts: how many raters gave each item each class, shape (items, classes).

    Returns:
        None without an item, with a single rating for each, or where all are of one class.
    """
    if not len(counts) or counts[0].sum() < 2:
        return None
    n, raters = len(counts), counts[0].sum()
    shares = counts.sum(axis=0) / (n * raters)
    expected = float((shares**2).sum())
    observed = float(((counts**2).sum(axis=1) - raters).mean() / (raters * (raters - 1)))
    return (observed - expected) / (1 - expected) if expected < 1 else None


def weighted_kappa(first: Table, second: Table) -> float | None:
    """Cohen's kappa with quadratic weights (Cohen 1968) of two raters' values on the same items.

    Returns:
        None with fewer than two items, or where both raters give one and the same value: of one
        item kappa is 0 however near the two values are.
    """
    if len(first) < 2:
        return None
    # The mean squared distance of each value of the one from each of the other.
    expected = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    return float(1 - ((first - second) ** 2).mean() / expected) if expected > 0 else None


def spearman(first: Table, second: Table) -> Estimated | None:
    """Spearman's correlation of ranks; 95 % interval by Fisher's z with Bonett and Wright's error.

    The standard error of z is sqrt((1 + r^2 / 2) / (n - 3)) (Bonett and Wright 2000).

    Returns:
        None where one of the two is constant, or with fewer than three items.
    """
    from scipy.stats import rankdata

    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    value = float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])
    if len(first) < 4 or abs(value) >= 1:
        return Estimated(value)
    half = 1.959963984540054 * math.sqrt((1 + value**2 / 2) / (len(first) - 3))
    z = math.atanh(value)
    return Estimated(value, math.tanh(z - half), math.tanh(z + half))


def kendall(first: Table, second: Table) -> float | None:
    """Kendall's tau-b; None where one of the two is constant, or with fewer than two items."""
    from scipy.stats import kendalltau

    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(kendalltau(first, second).statistic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bias:
    """The mean difference of two, and the limits between which 95 % of differences lie."""

    bias: Estimated
    """With the 95 % interval of the mean by t."""
    low: float | None
    """Bland and Altman's lower limit, bias - 1.96 standard deviations; None of a single item."""
    high: float | None


def bland_altman(first: Table, second: Table) -> Bias | None:
    """The bias of the first against the second (Bland and Altman 1986); None without an item."""
    differences = first - second
    n = len(differences)
    if not n:
        return None
    mean = float(differences.mean())
    if n == 1:
        return Bias(bias=Estimated(mean), low=None, high=None)
    spread = float(differences.std(ddof=1))
    half = quantile(n - 1) * spread / math.sqrt(n)
    width = 1.959963984540054 * spread
    return Bias(bias=Estimated(mean, mean - half, mean + half), low=mean - width, high=mean + width)
