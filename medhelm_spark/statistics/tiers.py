"""Which rows of a board can be told apart, from resamples of instances and of benchmarks.

In each resample (`statistics.bootstrap`) every benchmark has other instances, and the benchmarks
themselves are drawn anew; the mean win rates of a resample are compared row by row. Two rows are
told apart where their win rates differ by more than the largest standardised difference of all
pairs does by chance in 95 of 100 resamples. So at most one board in twenty of equal models tells
any two of them apart, however many models and benchmarks there are (the ranks' confidence sets of
Mogstad, Romano, Shaikh and Wilhelm 2024). Tried by simulation: `benchmarks/rank_claims.py`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.student import LEVEL

SEED = 0
_EPSILON = 1e-9  # win rates are sums of a few fractions


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a row stands.

    `tier` is 1 for rows than which none is better; a row of tier k + 1 is told apart from one of
    tier k or better. All ranks from `rank_low` to `rank_high` are possible with 95 % confidence for
    all rows together. `probability_best` is the share of resamples in which it has the highest win
    rate.
    """

    tier: int
    rank_low: int
    rank_high: int
    probability_best: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedColumn:
    """One benchmark: `means` of shape (rows,), NaN where a row has none, `draws` (rows, draws).

    `units` is how many instances, or clusters of them, a mean rests on at least.
    """

    means: NDArray[np.float64]
    draws: NDArray[np.float64]
    lower_is_better: bool
    units: int


def standings(columns: Sequence[RankedColumn], is_ranked: NDArray[np.bool_]) -> list[Standing]:
    """The standing of each ranked row, in the order of the rows.

    Args:
        columns: the benchmarks that win rates are the mean of; all have the same rows and draws.
        is_ranked: the rows that have every benchmark, shape (rows,). The others are opponents only.
    """
    size = columns[0].draws.shape[1]
    wins = np.stack([_wins(each)[is_ranked] for each in columns])  # (columns, rows, 1 + draws)
    rates, drawn = wins[:, :, 0].mean(axis=0), wins[:, :, 1:]
    chosen = np.random.default_rng(SEED).multinomial(
        len(columns), np.full(len(columns), 1 / len(columns)), size=size
    )
    share = chosen.T[:, None, :] / len(columns)
    resampled = (share * drawn).sum(axis=0)
    scaled = np.stack([_scaled(each)[is_ranked] for each in columns])
    scores, redrawn = scaled[:, :, 0].mean(axis=0), (share * scaled[:, :, 1:]).sum(axis=0)
    df = sum(each.units - 1 for each in columns)
    is_better = _told_apart(rates, resampled, df) & _told_apart(scores, redrawn, df)
    tiers = _tiers(rates, is_better)
    is_highest = resampled >= resampled.max(axis=0) - _EPSILON
    best = (is_highest / is_highest.sum(axis=0)).mean(axis=1)
    return [
        Standing(
            tier=tiers[row],
            rank_low=1 + int(is_better[:, row].sum()),
            rank_high=len(rates) - int(is_better[row].sum()),
            probability_best=float(best[row]),
        )
        for row in range(len(rates))
    ]


def _wins(column: RankedColumn) -> NDArray[np.float64]:
    """The win rate of each row in this benchmark: as it is, then in each resample."""
    sign = -1.0 if column.lower_is_better else 1.0
    values = sign * np.concatenate([column.means[:, None], column.draws], axis=1)
    known = ~np.isnan(column.means)
    wins = np.zeros_like(values)
    for row in values[known]:
        wins += (values > row) + (values == row) / 2
    rates: NDArray[np.float64] = (wins - 0.5) / (known.sum() - 1)
    return rates


def _scaled(column: RankedColumn) -> NDArray[np.float64]:
    """The means and their resamples in units of their standard error, higher is better."""
    sign = -1.0 if column.lower_is_better else 1.0
    error = math.sqrt(float(np.nanmean(column.draws.var(axis=1))))
    values = np.concatenate([column.means[:, None], column.draws], axis=1)
    scaled: NDArray[np.float64] = sign * values / (error or 1.0)
    return scaled


def _told_apart(
    rates: NDArray[np.float64], resampled: NDArray[np.float64], df: int
) -> NDArray[np.bool_]:
    """Which row (first axis) is better than which (second), all pairs at 5 % together.

    Resamples of few units vary too little: what is needed grows as t with `df` is wider than z.
    """
    from scipy import special

    observed = rates[:, None] - rates[None, :]
    differences = resampled[:, None, :] - resampled[None, :, :]
    errors = differences.std(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.abs(differences - observed[:, :, None]) / errors[:, :, None]
    largest = np.where(errors[:, :, None] > _EPSILON, far, 0.0).max(axis=(0, 1))
    factor = special.stdtrit(df, special.ndtr(np.quantile(largest, 1 - LEVEL)))
    needed = np.maximum(factor * errors, _EPSILON)
    told: NDArray[np.bool_] = observed > needed
    return told


def _tiers(rates: NDArray[np.float64], is_better: NDArray[np.bool_]) -> list[int]:
    """1 where no other row is better; else one below the lowest of those that are."""
    tiers = [1] * len(rates)
    for row in sorted(range(len(rates)), key=lambda row: -rates[row]):
        betters = np.flatnonzero(is_better[:, row])
        tiers[row] = 1 + max((tiers[int(better)] for better in betters), default=0)
    return tiers
