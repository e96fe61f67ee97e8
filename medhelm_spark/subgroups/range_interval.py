"""A 95 % interval of the largest of several numbers less the smallest one, both picked by the data.

Of groups that are alike the largest number less the smallest one is far above 0, the further the
more groups there are; of groups that differ it is near the truth. So each end allows for how many
groups may be the largest and the smallest ones:

- The lower end is 0 unless two groups differ by a test of all pairs at once (Tukey's studentized
  range; of unequal sizes Tukey and Kramer's, which Hayter 1984 proved conservative). Then every
  group within MAYBE_EXTREME standard errors of an end counts as one that may be that end.
- The upper end counts those within NEARLY_EXTREME, and is moved up where a small group, whose
  number is uncertain, may be further out than the one that is seen there.

The errors of these groups are drawn from normal distributions whose halves are as wide as the
halves of their intervals. Coverage by simulation, from which the constants were chosen:
benchmarks/results/subgroups.md.
"""

from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.intervals import Z95
from medhelm_spark.subgroups.estimates import IntervalEstimate

Numbers = NDArray[np.float64]

DRAWS = 4000
MAYBE_EXTREME, NEARLY_EXTREME = 3.0, 0.3
ABOVE, BELOW = 0.03, 0.02
"""The share of errors beyond the lower end, and beyond the upper one."""
MOVED = 0.75
"""How much of the way that the upper end of the pair that is seen moves the furthest pair's does.

All of it left 9 % of intervals below the gap of one group of 12 that is worst among larger ones.
"""

_FAR = 1e300


@lru_cache(maxsize=20_000)  # a board and the page beside it need the same ones
def range_interval(*groups: IntervalEstimate) -> tuple[float, float]:
    """The ends of the interval; two groups at least.

    >>> first = IntervalEstimate(value=0.5, low=0.4, high=0.6)
    >>> range_interval(first, IntervalEstimate(value=0.52, low=0.42, high=0.62))[0]
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
    low = 0.0
    if _any_differ(values, over, under):
        tops, bottoms = from_top <= MAYBE_EXTREME, from_bottom <= MAYBE_EXTREME
        low = max(0.0, spread - _quantile(_range(over, under, tops, bottoms), 1 - ABOVE))

    is_upper = from_top <= from_bottom
    tops = is_upper & (from_top <= NEARLY_EXTREME)
    bottoms = ~is_upper & (from_bottom <= NEARLY_EXTREME)
    tops[[top, bottom]], bottoms[[top, bottom]] = (True, False), (False, True)
    high = spread - _quantile(_range(over, under, tops, bottoms), BELOW)
    return low, max(high, low, _furthest(values, over, under, spread, (top, bottom), high))


@cache
def _errors(groups: int) -> Numbers:
    """Draws of as many standard normal errors, the same in every call; shape (groups, DRAWS)."""
    drawn = np.random.default_rng(20260301).standard_normal((DRAWS, groups))
    return np.ascontiguousarray(drawn.T)


@cache
def _range_quantile(groups: int) -> float:
    """How many standard errors of a difference any two of so many equal groups are apart at 5 %."""
    drawn = _errors(groups)
    return _quantile(drawn.max(axis=0) - drawn.min(axis=0), 0.95) / 2**0.5


def _quantile(drawn: Numbers, share: float) -> float:
    """As `numpy.quantile`, which takes ten times as long for so few numbers."""
    position = share * (len(drawn) - 1)
    below = int(position)
    first, second = np.partition(drawn, (below, below + 1))[[below, below + 1]]
    return float(first + (position - below) * (second - first))


def _any_differ(values: Numbers, over: Numbers, under: Numbers) -> bool:
    """Whether any two groups differ, by a test of all pairs at once."""
    apart = (values[:, None] - values[None, :]) / np.hypot(over[:, None], under[None, :])
    return bool(apart.max() > _range_quantile(len(values)))


def _range(
    over: Numbers, under: Numbers, tops: NDArray[np.bool_], bottoms: NDArray[np.bool_]
) -> Numbers:
    """Of each draw the error of the range: the largest of the tops less the smallest bottom."""
    drawn: Numbers = _scaled(over, under, tops).max(axis=0) - _scaled(over, under, bottoms).min(
        axis=0
    )
    return drawn


def _scaled(over: Numbers, under: Numbers, chosen: NDArray[np.bool_]) -> Numbers:
    """The errors of some groups, each half as wide as that of its interval."""
    errors = _errors(len(chosen))[chosen]
    scaled: Numbers = np.where(
        errors > 0, errors * over[chosen, None], errors * under[chosen, None]
    )
    return scaled


def _furthest(
    values: Numbers,
    over: Numbers,
    under: Numbers,
    spread: float,
    seen: tuple[int, int],
    high: float,
) -> float:
    """The upper end that the pair of groups needs which may be furthest apart.

    Less MOVED of what the upper end of the pair that is seen was moved down for being picked.
    """
    half = np.hypot(under[:, None], over[None, :]) * Z95
    pairs = values[:, None] - values[None, :] + half
    np.fill_diagonal(pairs, -_FAR)
    moved = max(0.0, spread + float(half[seen]) - high)
    return float(pairs.max()) - MOVED * moved
