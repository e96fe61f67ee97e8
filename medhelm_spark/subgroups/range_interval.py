"""A 95 % interval of the largest of several numbers less the smallest one, both picked by the data.

Of groups that are alike the largest number less the smallest one is far above 0, the further the
more groups there are; of groups that differ it is near the truth. So each end allows for how many
groups may be the largest and the smallest ones:

- The lower end is 0 unless two groups are told apart beside all other pairs (Tukey's studentized
  range; of unequal sizes Tukey and Kramer's, which Hayter 1984 proved conservative). Then every
  group within MAYBE_EXTREME standard errors of an end counts as one that may be that end.
- The upper end counts those within NEARLY_EXTREME, and is moved up where a small group, whose
  number is uncertain, may be further out than the one that is seen there.

The errors of these groups are drawn from normal distributions whose halves are as wide as the
halves of their intervals. Coverage by simulation, from which the constants were chosen:
benchmarks/results/subgroups.md.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.intervals import Z95
from medhelm_spark.subgroups.estimates import IntervalEstimate

Numbers = NDArray[np.float64]

DRAWS = 4000
MAYBE_EXTREME, NEARLY_EXTREME = 3.0, 0.3
ABOVE, BELOW = 0.03, 0.02
"""The share of errors beyond the lower end, and beyond the upper one."""

_FAR = 1e300


def range_interval(groups: Sequence[IntervalEstimate]) -> tuple[float, float]:
    """The ends of the interval; two groups at least.

    >>> first = IntervalEstimate(value=0.5, low=0.4, high=0.6)
    >>> alike = [first, IntervalEstimate(value=0.52, low=0.42, high=0.62)]
    >>> range_interval(alike)[0]
    0.0
    """
    values = np.array([group.value for group in groups])
    # How far the truth may be below and above, in standard errors: 0 of neither.
    over = np.maximum(np.array([group.value - group.low for group in groups]) / Z95, 1e-12)
    under = np.maximum(np.array([group.high - group.value for group in groups]) / Z95, 1e-12)
    top, bottom = int(values.argmax()), int(values.argmin())
    if top == bottom:
        bottom = 1 - top if len(groups) == 2 else int(values.argsort()[0] != top)
    spread = float(values[top] - values[bottom])
    from_top = (values[top] - values) / np.hypot(over[top], under)
    from_bottom = (values - values[bottom]) / np.hypot(over, under[bottom])
    errors = _errors(len(groups))
    errors = np.where(errors > 0, errors * over, errors * under)

    low = 0.0
    if _are_told_apart(values, over, under):
        tops, bottoms = from_top <= MAYBE_EXTREME, from_bottom <= MAYBE_EXTREME
        drawn = _range(errors, tops, bottoms)
        low = max(0.0, spread - float(np.quantile(drawn, 1 - ABOVE)))

    is_upper = from_top <= from_bottom
    tops = is_upper & (from_top <= NEARLY_EXTREME)
    bottoms = ~is_upper & (from_bottom <= NEARLY_EXTREME)
    tops[[top, bottom]], bottoms[[top, bottom]] = (True, False), (False, True)
    high = spread - float(np.quantile(_range(errors, tops, bottoms), BELOW))
    return low, max(high, low, _furthest(values, over, under, spread, (top, bottom), high))


@cache
def _errors(groups: int) -> Numbers:
    """Draws of as many standard normal errors, the same in every call."""
    return np.random.default_rng(20260301).standard_normal((DRAWS, groups))


@cache
def _range_quantile(groups: int) -> float:
    """How many standard errors of a difference any two of so many equal groups are apart at 5 %."""
    drawn = _errors(groups)
    return float(np.quantile(drawn.max(axis=1) - drawn.min(axis=1), 0.95)) / 2**0.5


def _are_told_apart(values: Numbers, over: Numbers, under: Numbers) -> bool:
    """Whether any two groups differ, beside all other pairs."""
    apart = (values[:, None] - values[None, :]) / np.hypot(over[:, None], under[None, :])
    return bool(apart.max() > _range_quantile(len(values)))


def _range(errors: Numbers, tops: NDArray[np.bool_], bottoms: NDArray[np.bool_]) -> Numbers:
    """Of each draw the error of the range: the largest of the tops less the smallest bottom."""
    highest: Numbers = np.where(tops, errors, -_FAR).max(axis=1)
    drawn: Numbers = highest - np.where(bottoms, errors, _FAR).min(axis=1)
    return drawn


def _furthest(
    values: Numbers,
    over: Numbers,
    under: Numbers,
    spread: float,
    seen: tuple[int, int],
    high: float,
) -> float:
    """The upper end that the pair of groups needs which may be furthest apart.

    Less what the upper end of the pair that is seen was moved down for being picked.
    """
    half = np.hypot(under[:, None], over[None, :]) * Z95
    pairs = values[:, None] - values[None, :] + half
    np.fill_diagonal(pairs, -_FAR)
    moved = max(0.0, spread + float(half[seen]) - high)
    return float(pairs.max()) - moved
