"""Which rows of a board can be told apart by their means over the benchmarks that decide.

A row's score is its mean over those benchmarks. In each resample (`statistics.bootstrap`) every
benchmark has other instances, the same ones for all rows; the benchmarks stay. Two rows are told
apart where their scores differ by more than the largest standardised difference of all pairs does
by chance in 95 of 100 resamples, stepped down (Romano and Wolf 2005). The ranks are the confidence
sets of Mogstad, Romano, Shaikh and Wilhelm (2024). About one board in twenty of models that are
equal on these benchmarks tells any two apart: `benchmarks/results/rank_claims.md`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.student import LEVEL

_EPSILON = 1e-9  # scores are sums of a few fractions
_MIN_UNITS_ALIKE = 6
"""So many units that all differ alike have p = 2 / 2^6 < 0.05 by the sign test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a row stands by its score.

    `tier` is 1 for rows than which none is better; a row of tier k + 1 is told apart from one of
    tier k. All ranks from `rank_low` to `rank_high` are possible with 95 % confidence for all rows
    together.
    """

    tier: int
    rank_low: int
    rank_high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidingColumn:
    """One benchmark: `means` of shape (rows,), `draws` (rows, draws).

    `units` is how many instances, or clusters of equal size, a mean rests on at least; `width` is
    the distance of the scale's two ends, None where one is open.
    """

    means: NDArray[np.float64]
    draws: NDArray[np.float64]
    lower_is_better: bool
    units: float
    width: float | None


def standings(columns: Sequence[DecidingColumn]) -> list[Standing]:
    """The standing of each row; all columns have the same rows and draws."""
    scores = _scores(columns)
    is_better = _told_apart(scores[:, 0], scores[:, 1:], min(each.units for each in columns))
    tiers = _tiers(scores[:, 0], is_better)
    return [
        Standing(
            tier=tiers[row],
            rank_low=1 + int(is_better[:, row].sum()),
            rank_high=len(scores) - int(is_better[row].sum()),
        )
        for row in range(len(scores))
    ]


def _scores(columns: Sequence[DecidingColumn]) -> NDArray[np.float64]:
    """Each row's mean over the columns, as it is and in each resample; shape (rows, 1 + draws).

    Every column counts in shares of its scale. Where one has no such width, every column counts in
    its standard errors: a mixture would be decided by those columns alone.
    """
    widths = [each.width for each in columns]
    if None in widths:
        widths = [math.sqrt(float(each.draws.var(axis=1).mean())) for each in columns]
    scaled = [
        (-1.0 if each.lower_is_better else 1.0)
        * np.concatenate([each.means[:, None], each.draws], axis=1)
        / (width or 1.0)
        for each, width in zip(columns, widths, strict=True)
    ]
    scores: NDArray[np.float64] = np.mean(scaled, axis=0)
    return scores


def _told_apart(
    scores: NDArray[np.float64], drawn: NDArray[np.float64], units: float
) -> NDArray[np.bool_]:
    """Which row (first axis) is better than which (second), all pairs at 5 % together."""
    first, second = np.triu_indices(len(scores), 1)
    observed, resampled = scores[first] - scores[second], drawn[first] - drawn[second]
    errors = resampled.std(axis=1)
    varies = errors > _EPSILON
    told = (np.abs(observed) > _EPSILON) & (units >= _MIN_UNITS_ALIKE)
    far = np.abs(resampled - observed[:, None])[varies] / errors[varies, None]
    told[varies] = _step_down(np.abs(observed[varies]) / errors[varies], far, units - 1)
    is_better = np.zeros((len(scores), len(scores)), bool)
    is_better[first, second] = told & (observed > 0)
    is_better[second, first] = told & (observed < 0)
    return is_better


def _step_down(t: NDArray[np.float64], far: NDArray[np.float64], df: float) -> NDArray[np.bool_]:
    """Which of the differences are further from 0 than chance explains.

    Those that are told apart no longer raise what the others need. Resamples of few units vary too
    little: what is needed grows as t with `df` is wider than z.

    Args:
        t: the standardised differences, shape (pairs,).
        far: how far each is from the observed one in each resample, shape (pairs, draws).
        df: degrees of freedom of the smallest benchmark.
    """
    from scipy import special

    told = np.zeros(len(t), bool)
    while not told.all():
        largest = np.quantile(far[~told].max(axis=0), 1 - LEVEL)
        further = ~told & (t > -special.stdtrit(df, special.ndtr(-largest)))
        if not further.any():
            break
        told |= further
    return told


def _tiers(scores: NDArray[np.float64], is_better: NDArray[np.bool_]) -> list[int]:
    """1 where no other row is better; else one below the lowest of those that are."""
    tiers = [1] * len(scores)
    for row in sorted(range(len(scores)), key=lambda row: -scores[row]):
        betters = np.flatnonzero(is_better[:, row])
        tiers[row] = 1 + max((tiers[int(better)] for better in betters), default=0)
    return tiers
