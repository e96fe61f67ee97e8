"""Which rows of a board can be told apart by their means over the benchmarks that decide.

Two rows differ by the mean over those benchmarks of their difference on the instances that both
have. In each resample (`statistics.bootstrap`) every benchmark has other instances, the same ones
for all rows; the benchmarks stay. Two rows are told apart where they differ by more than the
largest standardised difference of all pairs does by chance in 95 of 100 resamples, stepped down
(Romano and Wolf 2005). The ranks are the confidence
sets of Mogstad, Romano, Shaikh and Wilhelm (2024). About one board in twenty of models that are
equal on these benchmarks has two that are told apart: `benchmarks/results/rank_claims.md`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.student import LEVEL

_EPSILON = 1e-9  # differences are sums of a few fractions
_MIN_UNITS_ALIKE = 6
"""So many units that all differ alike have p = 2 / 2^6 < 0.05 by the sign test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TierRank:
    """The tier of a row, and the range of its ranks.

    `tier` is 1 where no other row is better; a row of tier k + 1 is told apart from one of tier k.
    All ranks from `rank_low` to `rank_high` are possible with 95 % confidence for all rows
    together.
    """

    tier: int
    rank_low: int
    rank_high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidingColumn:
    """One benchmark by pairs of rows, in the order of `itertools.combinations`.

    `differences` of the two means, first minus second, have the shape (pairs,), in each resample
    `draws` of shape (pairs, draws). `units` is how many instances, or clusters of equal size, a
    mean rests on at least; `width` is the distance of the scale's two ends, None where one is open.
    """

    differences: NDArray[np.float64]
    draws: NDArray[np.float64]
    lower_is_better: bool
    units: float
    width: float | None


def standings(rows: int, columns: Sequence[DecidingColumn]) -> list[TierRank]:
    """The tier of each row, `rows` in number; all columns have the same draws."""
    gains = _gains(columns)
    is_better = np.zeros((rows, rows), bool)
    first, second = np.triu_indices(rows, 1)
    is_significant = _significant(gains[:, 0], gains[:, 1:], min(each.units for each in columns))
    is_better[first, second] = is_significant & (gains[:, 0] > 0)
    is_better[second, first] = is_significant & (gains[:, 0] < 0)
    tiers = _tiers(is_better)
    return [
        TierRank(
            tier=tiers[row],
            rank_low=1 + int(is_better[:, row].sum()),
            rank_high=rows - int(is_better[row].sum()),
        )
        for row in range(rows)
    ]


def _gains(columns: Sequence[DecidingColumn]) -> NDArray[np.float64]:
    """By pair how much better the first row is, mean over the columns; shape (pairs, 1 + draws).

    The first is the difference as it is, the others in each resample. Every column counts in shares
    of its scale. Where one has no such width, every column counts in its standard errors: a mixture
    would be decided by those columns alone.
    """
    widths = [each.width for each in columns]
    if None in widths:
        widths = [math.sqrt(float(each.draws.var(axis=1).mean())) for each in columns]
    scaled = [
        (-1.0 if each.lower_is_better else 1.0)
        * np.concatenate([each.differences[:, None], each.draws], axis=1)
        / (width or 1.0)
        for each, width in zip(columns, widths, strict=True)
    ]
    gains: NDArray[np.float64] = np.mean(scaled, axis=0)
    return gains


def _significant(
    observed: NDArray[np.float64], resampled: NDArray[np.float64], units: float
) -> NDArray[np.bool_]:
    """Which differences are more than chance, all pairs at 5 % together; shape (pairs,)."""
    errors = resampled.std(axis=1)
    varies = errors > _EPSILON
    is_significant = (np.abs(observed) > _EPSILON) & (units >= _MIN_UNITS_ALIKE)
    far = np.abs(resampled - observed[:, None])[varies] / errors[varies, None]
    is_significant[varies] = _step_down(np.abs(observed[varies]) / errors[varies], far, units - 1)
    return is_significant


def _step_down(t: NDArray[np.float64], far: NDArray[np.float64], df: float) -> NDArray[np.bool_]:
    """Which of the differences are further from 0 than chance explains.

    A significant difference no longer raises the bound of the others. Resamples of few units vary
    too little: the bound grows as t with `df` is wider than z.

    Args:
        t: the standardised differences, shape (pairs,).
        far: how far each is from the observed one in each resample, shape (pairs, draws).
        df: degrees of freedom of the smallest benchmark.
    """
    from scipy import special

    is_significant = np.zeros(len(t), bool)
    while not is_significant.all():
        largest = np.quantile(far[~is_significant].max(axis=0), 1 - LEVEL)
        further = ~is_significant & (t > -special.stdtrit(df, special.ndtr(-largest)))
        if not further.any():
            break
        is_significant |= further
    return is_significant


def _tiers(is_better: NDArray[np.bool_]) -> list[int]:
    """1 where no other row is better; else one below the lowest of the better rows.

    Pairs that have other instances each can be better than one another in a circle: the rows of a
    circle share their tier.
    """
    reaches = is_better.copy()
    for via in range(len(reaches)):  # Warshall's closure
        reaches |= reaches[:, [via]] & reaches[[via], :]
    is_above = reaches & ~reaches.T
    tiers = np.ones(len(reaches), np.int64)
    for _ in reaches:  # no chain of rows is longer
        tiers = 1 + np.where(is_above, tiers[:, None], 0).max(axis=0)
    numbers: list[int] = tiers.tolist()
    return numbers
