"""The alternative annotator test: may a judge replace a human rater?

Calderon, Reichart and Dror (2025, The Alternative Annotator Test for LLM-as-a-Judge). Each rater in
turn is left out. On an item that this rater and others rated, the judge wins where its value lies
as near to the others' as the rater's does, or nearer. Nearness is the share of equal values for
classes, and minus the root mean square of the differences for numbers. With rho the share of items
that the judge wins and rho_h the rater's, the judge is worth its while against this rater where
rho_h - rho < epsilon, tested one-sided by t over the items; epsilon is what a judge's lower cost is
worth. p-values are adjusted for all raters by Benjamini and Yekutieli (2001).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.multiple import benjamini_hochberg
from medhelm_spark.statistics.student import LEVEL

EPSILON = 0.2
"""The authors' value where the raters are experts, 0.15 for skilled ones, 0.1 for a crowd."""
PASSED = 0.5
"""A judge passes where its winning rate is at least so high."""
FEWEST = 30
"""With fewer items of a rater the authors do not rely on t: then `AltTest.is_small` is true."""

Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class AltTest:
    """What the test comes to over all raters."""

    winning_rate: float
    """omega: the share of raters against whom the judge is worth its while."""
    advantage: float
    """rho: the mean over raters of the share of items that the judge wins."""
    epsilon: float
    num_raters: int
    fewest_items: int
    """The number of items of the rater with the fewest."""

    @property
    def is_passed(self) -> bool:
        """Whether the judge may replace a rater."""
        return self.winning_rate >= PASSED

    @property
    def is_small(self) -> bool:
        """Whether a rater has fewer items than the test relies on."""
        return self.fewest_items < FEWEST


def alt_test(
    ratings: Table, judge: Table, *, is_class: bool, epsilon: float = EPSILON
) -> AltTest | None:
    """Compare a judge with each rater.

    Args:
        ratings: shape (items, raters), NaN where a rater did not rate an item.
        judge: the judge's value of each item, NaN where it has none; shape (items,).
        is_class: the values are classes, not numbers.
        epsilon: from 0 on, see EPSILON.

    Returns:
        None where no rater shares two items with the judge and another rater.
    """
    results = [
        _against(ratings, judge, rater, is_class, epsilon) for rater in range(ratings.shape[1])
    ]
    tested = [result for result in results if result is not None]
    if not tested:
        return None
    adjusted = _benjamini_yekutieli([p for p, _, _ in tested])
    return AltTest(
        winning_rate=sum(p < LEVEL for p in adjusted) / len(tested),
        advantage=math.fsum(share for _, share, _ in tested) / len(tested),
        epsilon=epsilon,
        num_raters=len(tested),
        fewest_items=min(items for _, _, items in tested),
    )


def _against(
    ratings: Table, judge: Table, rater: int, is_class: bool, epsilon: float
) -> tuple[float, float, int] | None:
    """p-value, share of items that the judge wins, and number of items, against one rater."""
    own, others = ratings[:, rater], np.delete(ratings, rater, axis=1)
    is_shared = ~np.isnan(own) & ~np.isnan(judge) & (~np.isnan(others)).any(axis=1)
    items = int(is_shared.sum())
    if items < 2:
        return None
    others = others[is_shared]
    of_judge = _nearness(judge[is_shared], others, is_class)
    of_rater = _nearness(own[is_shared], others, is_class)
    wins = (of_judge >= of_rater).astype(np.float64)
    losses = (of_rater >= of_judge).astype(np.float64)
    return _p_value(losses - wins, epsilon), float(wins.mean()), items


def _nearness(values: Table, others: Table, is_class: bool) -> Table:
    apart = others - values[:, None]
    if is_class:
        same = np.where(np.isnan(apart), np.nan, apart == 0)
        shares: Table = np.nanmean(same, axis=1)
        return shares
    nearness: Table = -np.sqrt(np.nanmean(apart**2, axis=1))
    return nearness


def _p_value(differences: Table, epsilon: float) -> float:
    """Of the hypothesis that the mean difference is epsilon or more, by t."""
    from scipy import special

    n, mean = len(differences), float(differences.mean())
    spread = float(differences.std(ddof=1))
    if spread == 0:
        return 0.0 if mean < epsilon else 1.0
    return float(special.stdtr(n - 1, (mean - epsilon) / (spread / math.sqrt(n))))


def _benjamini_yekutieli(p_values: Sequence[float]) -> list[float]:
    harmonic = math.fsum(1 / rank for rank in range(1, len(p_values) + 1))
    return benjamini_hochberg([min(1.0, harmonic * p) for p in p_values])
