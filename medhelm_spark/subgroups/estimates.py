"""Differences and gaps of independent numbers that have an interval each.

A difference is made of the two intervals by MOVER (Zou and Donner 2008; of two shares Newcombe
1998), so that small groups keep the score intervals that suit them. Its p-value is below 5 %
exactly where its interval excludes 0. Coverage by simulation: `benchmarks/subgroups.py`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from medhelm_spark.domain.stats import IntervalMethod
from medhelm_spark.statistics.student import quantile, two_sided

MANY = 1e6
"""Degrees of freedom of an interval that rests on the normal distribution."""

_NORMAL = (
    IntervalMethod.WILSON,
    IntervalMethod.MOVER,
    IntervalMethod.BONETT_PRICE,
    IntervalMethod.CONDITIONAL,
)
_CLUSTERED = (IntervalMethod.CLUSTERED, IntervalMethod.CLUSTERED_T)


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalEstimate:
    """A number with the ends of its 95 % interval and the degrees of freedom behind them."""

    value: float
    low: float
    high: float
    df: float = MANY

    @property
    def error(self) -> float:
        """The standard error that an interval of this width has."""
        return (self.high - self.low) / 2 / quantile(self.df)


def estimate(
    value: float | None,
    low: float | None,
    high: float | None,
    method: IntervalMethod | None,
    units: float,
) -> IntervalEstimate | None:
    """A number with its interval; None where one of them is missing.

    `units` is how many answers the interval counts, or of clustered ones how many clusters.
    """
    if value is None or low is None or high is None or not low < high:
        return None
    return IntervalEstimate(value=value, low=low, high=high, df=_freedom(method, units))


def _freedom(method: IntervalMethod | None, units: float) -> float:
    return MANY if method in _NORMAL else max(1.0, units - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A first number less a second one, with its 95 % interval and two-sided p-value."""

    value: float
    low: float
    high: float
    p_value: float


def difference(first: IntervalEstimate, second: IntervalEstimate) -> Difference:
    """The difference of independent estimates, first less second.

    With d = p1 - p2 and the ends l and u of both, by MOVER:

        low = d - sqrt((p1 - l1)^2 + (u2 - p2)^2)      high = d + sqrt((u1 - p1)^2 + (p2 - l2)^2)

    The p-value is that of t at d in units of the half that points to 0, which is as wide as t's
    quantile in standard errors; its degrees of freedom are Welch's.

    >>> first = IntervalEstimate(value=0.8, low=0.7, high=0.9)
    >>> less = difference(first, IntervalEstimate(value=0.5, low=0.4, high=0.6))
    >>> round(less.low, 3), round(less.high, 3), less.p_value < 0.001
    (0.159, 0.441, True)
    """
    value = first.value - second.value
    below = (first.value - first.low, second.high - second.value)
    above = (first.high - first.value, second.value - second.low)
    towards = below if value > 0 else above
    df = _welch(towards, (first.df, second.df))
    half = math.hypot(*towards)
    distance = abs(value) / half * quantile(df) if half else math.inf
    return Difference(
        value=value,
        low=value - math.hypot(*below),
        high=value + math.hypot(*above),
        p_value=1.0 if value == 0 else two_sided(distance, df),
    )


def _welch(halves: Sequence[float], freedoms: Sequence[float]) -> float:
    """Welch's degrees of freedom of the difference of two numbers with these half intervals."""
    squares = [(half / quantile(df)) ** 2 for half, df in zip(halves, freedoms, strict=True)]
    total = sum(squares)
    if total == 0:
        return MANY
    parts = sum(square**2 / df for square, df in zip(squares, freedoms, strict=True))
    return min(MANY, total**2 / parts) if parts else MANY
