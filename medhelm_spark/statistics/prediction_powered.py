"""A judge's mean, corrected by the ratings that people gave to some of the answers.

Prediction-powered inference (Angelopoulos and others, Science 2023), with the weight of the judge
tuned to the ratings (PPI++, Angelopoulos, Duchi and Zrnic 2023). With n rated answers, whose
ratings are Y and judge's values f, and N others with the judge's values f', the mean is

    mean = w mean(f') + mean(Y - w f)        w = cov(Y, f) / ((1 + n / N) var(f)), 0 to 1

A judge without correlation to the ratings has the weight 0, which leaves the mean of the ratings.
PPI++ takes the variance of f and f' together; that of f alone, as in regression, covers better
where few answers are rated. The mean rests on the rated answers being a random sample of all.
Coverage by simulation: `benchmarks/results/corrected_means.md`.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.student import quantile, spread_degrees_of_freedom

FEWEST_RATED = 30
"""Clusters of rated answers below which no mean is corrected: the weight and the spread are
estimated from them, and an interval of fewer contains the mean too seldom."""

FEWEST_OTHERS = 2
"""Clusters of answers that the judge alone scored, of which the spread is estimated."""


class Lacking(StrEnum):
    """Why ratings correct no mean."""

    RATED = "rated answers"
    OTHERS = "answers that nobody rated"
    SPREAD = "ratings that differ"


Values = NDArray[np.float64]
Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMean:
    """A mean that counts the judge's values and the ratings."""

    value: float
    low: float
    """Lower end of the 95 % interval, on the scale."""
    high: float
    """Upper end."""
    weight: float
    """How much the judge counts: 0, not at all, to 1."""
    num_rated: int
    """The answers that were rated and judged."""


def lacking(rated: Values, clusters: tuple[Labels, Labels]) -> Lacking | None:
    """What is lacking to correct a mean; None where nothing is.

    Args:
        rated: the ratings; shape (n,).
        clusters: of the rated answers and of the others, the cluster of each.
    """
    ours, theirs = (len(np.unique(labels)) for labels in clusters)
    if ours < FEWEST_RATED:
        return Lacking.RATED
    if theirs < FEWEST_OTHERS:
        return Lacking.OTHERS
    return None if np.ptp(rated) else Lacking.SPREAD


def corrected_mean(
    rated: Values,
    judged: Values,
    others: Values,
    scale: tuple[float | None, float | None] = (None, None),
    *,
    clusters: tuple[Labels, Labels] | None = None,
    weight: float | None = None,
) -> CorrectedMean | None:
    """The judge's mean, corrected.

    None where something is `lacking`, and of ratings that are all at an end of the scale, as those
    of two classes: their few errors have no spread that is known.

    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal(3.0, 0.5, 1000)
    >>> judge = truth + 0.6
    >>> corrected = corrected_mean(truth[:40], judge[:40], judge[40:])
    >>> tuple(round(float(x), 2) for x in (corrected.value, judge.mean(), corrected.weight))
    (2.98, 3.58, 0.96)

    Args:
        rated: the ratings; shape (n,).
        judged: the judge's values of the same answers.
        others: the judge's values of the answers that people did not rate; shape (N,).
        scale: the lowest and the highest value, at which the interval is cut; None of an open end.
        clusters: of the rated answers and of the others, the cluster of each; None: each its own.
        weight: of the judge; None: the one with the smallest variance.
    """
    n, num_others = len(rated), len(others)
    ours, theirs = clusters or (np.arange(n), np.arange(n, n + num_others))
    groups, more = len(np.unique(ours)), len(np.unique(theirs))
    if lacking(rated, (ours, theirs)) or _is_at_ends(rated, scale):
        return None
    if weight is None:
        weight = _weight(rated, judged, num_others)
    corrections = rated - weight * judged
    value = weight * float(others.mean()) + float(corrections.mean())
    of_rated = (corrections - corrections.mean()) / n * math.sqrt(groups / (groups - 1))
    of_others = weight * (others - others.mean()) / num_others * math.sqrt(more / (more - 1))
    _, inverse = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    totals = np.bincount(inverse, weights=np.concatenate([of_rated, of_others]))
    variance = float((totals**2).sum())
    df = _degrees_of_freedom(of_rated, of_others, groups, more)
    half = quantile(df) * math.sqrt(variance)
    low, high = scale
    return CorrectedMean(
        value=_cut(value, low, high),
        low=_cut(value - half, low, high),
        high=_cut(value + half, low, high),
        weight=weight,
        num_rated=n,
    )


def _is_at_ends(rated: Values, scale: tuple[float | None, float | None]) -> bool:
    ends = [end for end in scale if end is not None]
    return bool(ends) and bool(np.isin(rated, ends).all())


def _weight(rated: Values, judged: Values, num_others: int) -> float:
    """The weight with the smallest variance, 0 to 1; 0 where the judge's values are all equal."""
    spread = float(judged.var())
    if not spread:
        return 0.0
    together = float(((rated - rated.mean()) * (judged - judged.mean())).mean())
    return min(1.0, max(0.0, together / ((1 + len(rated) / num_others) * spread)))


def _degrees_of_freedom(of_rated: Values, of_others: Values, groups: int, more: int) -> float:
    """Welch's, of the sum of two independent means; of the ratings' own by their kurtosis."""
    first, second = float((of_rated**2).sum()), float((of_others**2).sum())
    fewest = min(groups - 1.0, spread_degrees_of_freedom(of_rated)) if first else groups - 1.0
    if not first + second:
        return fewest
    return (first + second) ** 2 / (first**2 / fewest + second**2 / (more - 1))


def _cut(value: float, low: float | None, high: float | None) -> float:
    value = value if low is None else max(low, value)
    return value if high is None else min(high, value)


def corrected_difference(
    rated: tuple[Values, Values],
    judged: tuple[Values, Values],
    others: tuple[Values, Values],
    scale: tuple[float | None, float | None] = (None, None),
    *,
    clusters: tuple[Labels, Labels] | None = None,
    weight: float | None = None,
) -> CorrectedMean | None:
    """The difference of two models' means, first less second, corrected on the same instances.

    It is the corrected mean of the differences of each instance: with one weight for both models,
    the difference of their corrected means. Arguments are as those of `corrected_mean`, of both
    models: rated are the instances on which people rated both answers.

    >>> rng = np.random.default_rng(0)
    >>> truth = rng.normal([[3.5], [3.0]], 0.5, (2, 1000))
    >>> judge = truth + [[0.6], [0.0]]  # the judge favours the first model
    >>> parts = (tuple(truth[:, :40]), tuple(judge[:, :40]), tuple(judge[:, 40:]))
    >>> corrected = corrected_difference(*parts)
    >>> round(corrected.value, 1), round(float((judge[0] - judge[1]).mean()), 1)
    (0.5, 1.1)
    """
    low, high = scale
    width = None if low is None or high is None else high - low
    ends = (None, None) if width is None else (-width, width)
    return corrected_mean(
        rated[0] - rated[1],
        judged[0] - judged[1],
        others[0] - others[1],
        ends,
        clusters=clusters,
        weight=weight,
    )
