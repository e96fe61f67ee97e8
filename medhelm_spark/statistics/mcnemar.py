"""Shares of two models on the same instances: McNemar's mid-p test, its interval, its power."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import Interval, IntervalMethod
from medhelm_spark.statistics.intervals import Z95
from medhelm_spark.statistics.student import LEVEL, POWER

PLANNED_DISCORDANT = 0.2
"""The share of pairs that disagree, where no pair was seen."""

PRECISION = 1e-9


def mcnemar_mid_p(only_first: int, only_second: int) -> float:
    """Two-sided mid-p McNemar test (Fagerland, Lydersen and Laake 2013).

    A binomial tail with p = 1/2 over the discordant pairs, in which the pairs as they are count
    half.

    >>> round(mcnemar_mid_p(1, 7), 7)
    0.0390625
    """
    from scipy import special

    n, fewer = only_first + only_second, min(only_first, only_second)
    if only_first == only_second:
        return 1.0
    here = special.bdtr(fewer, n, 0.5) - (special.bdtr(fewer - 1, n, 0.5) if fewer else 0.0)
    return float(2 * special.bdtr(fewer, n, 0.5) - here)


def bonett_price(only_first: int, only_second: int, n: int) -> tuple[float, float]:
    """Interval of a difference of paired proportions (Bonett and Price 2012), n pairs in all.

    A Wald interval after one pair is added to either kind of discordance.
    """
    first, second = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    difference = first - second
    half = Z95 * math.sqrt((first + second - difference * difference) / (n + 2))
    return max(-1.0, difference - half), min(1.0, difference + half)


def _mid_p_share(successes: int, n: int) -> tuple[float, float]:
    """The mid-p interval of a proportion: the shares that a one-sided mid-p of 2.5 % refuses."""
    from scipy import special

    def lower(k: int) -> float:
        """The share at which k or more of n have a mid-p of 2.5 %."""
        if k == 0:
            return 0.0
        low, high = 0.0, k / n
        for _ in range(60):
            share = (low + high) / 2
            tail = special.bdtrc(k - 1, n, share) / 2 + special.bdtrc(k, n, share) / 2
            low, high = (share, high) if tail < LEVEL / 2 else (low, share)
        return low

    return lower(successes), 1 - lower(n - successes)


def difference_interval(only_first: int, only_second: int, n: int, p_value: float) -> Interval:
    """The interval of a difference of paired proportions that agrees with the mid-p test on 0.

    Bonett and Price's; where it has 0 and the test has not, or the other way round, its end next
    to 0 is that of the interval which inverts the test: of the share q of discordant pairs that
    the first model wins, as (2 q - 1) times the share of discordant pairs.
    """
    low, high = bonett_price(only_first, only_second, n)
    if (low > 0 or high < 0) == (p_value < LEVEL):
        return Interval(low=low, high=high, method=IntervalMethod.BONETT_PRICE)
    discordant = only_first + only_second
    ends = _mid_p_share(only_first, discordant)
    below, above = ((2 * share - 1) * discordant / n for share in ends)
    if only_first > only_second:
        low = below
    else:
        high = above
    return Interval(low=low, high=high, method=IntervalMethod.CONDITIONAL)


@lru_cache(maxsize=4096)
def mid_p_detectable(n: int, discordant: float) -> float | None:
    """The difference of two shares that McNemar's mid-p test finds in n pairs at a power of 80 %.

    The number of pairs that disagree is binomial with the share `discordant`, and the first model
    wins (1 + d / discordant) / 2 of them, d the difference. None where the test finds not even
    d = discordant so often.

    >>> [round(mid_p_detectable(n, 0.2), 3) for n in (40, 50, 100)]
    [0.181, 0.164, 0.121]
    """
    from scipy import special

    spread = 6 * math.sqrt(n * discordant * (1 - discordant)) + 1
    centre = n * discordant
    ks = np.arange(max(0, int(centre - spread)), min(n, math.ceil(centre + spread)) + 1)
    below = np.where(ks > 0, special.bdtr(np.maximum(ks - 1, 0), n, discordant), 0.0)
    chances = special.bdtr(ks, n, discordant) - below
    most = _refused_up_to(ks)
    ks, chances, most = ks[most >= 0], chances[most >= 0], most[most >= 0]

    def lacking(difference: float) -> float:
        wins = (1 + difference / discordant) / 2
        found = special.bdtr(most, ks, 1 - wins) + special.bdtr(most, ks, wins)
        return POWER - float(chances @ found)

    return _root(lacking, discordant) if lacking(discordant) <= 0 else None


def _root(falling: Callable[[float], float], high: float) -> float:
    """Where a function that falls from above 0 at 0 to below 0 at `high` is 0.

    False position with the Illinois step (Dowell and Jarratt 1971): a third of bisection's calls.
    """
    low, at_low, at_high = 0.0, falling(0.0), falling(high)
    side = 0
    while high - low > PRECISION:
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        at_middle = falling(middle)
        if abs(at_middle) < PRECISION:
            return middle
        if at_middle > 0:
            low, at_low = middle, at_middle
            at_high = at_high / 2 if side > 0 else at_high
            side = 1
        else:
            high, at_high = middle, at_middle
            at_low = at_low / 2 if side < 0 else at_low
            side = -1
    return high


def _refused_up_to(ks: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most pairs of the rarer kind, of k that disagree, at which mid-p is below 5 %; or -1."""
    from scipy import special

    near = np.floor(ks / 2 - Z95 * np.sqrt(ks) / 2).astype(np.int64)  # never off by more than 2
    low, high = np.maximum(near - 3, -1), np.minimum(near + 3, ks // 2)
    for _ in range(4):
        middle = (low + high + 1) // 2
        tail = special.bdtr(np.maximum(middle, 0), ks, 0.5)
        under = np.where(middle > 0, special.bdtr(np.maximum(middle - 1, 0), ks, 0.5), 0.0)
        refused = (tail + under < LEVEL) & (middle >= 0) & (2 * middle < ks)
        low, high = np.where(refused, middle, low), np.where(refused, high, middle - 1)
        high = np.maximum(low, high)
    return low


def planned_detectable(n: int) -> float | None:
    """The difference that n pairs find with a power of 80 % if PLANNED_DISCORDANT of them disagree.

    None below 33 pairs, which find no difference so often.
    """
    return mid_p_detectable(n, PLANNED_DISCORDANT)
