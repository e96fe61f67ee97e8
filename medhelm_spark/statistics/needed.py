"""How many instances an interval needs to lie on one side of a limit."""

import math

from medhelm_spark.domain.stats import IntervalMethod
from medhelm_spark.statistics.paired import PairedDifference
from medhelm_spark.statistics.student import detectable_errors, quantile

MANY = 1e6
"""Degrees of freedom of an interval that rests on the normal distribution."""

_NORMAL = (IntervalMethod.BONETT_PRICE, IntervalMethod.CONDITIONAL)


def needed_instances(held: PairedDifference, limit: float) -> int | None:
    """The instances at which the 95 % interval of a difference like this one excludes a limit.

    See `needed_for`; None too where nothing could be tested.
    """
    if held.mean_difference is None or held.ci_low is None or held.ci_high is None:
        return None
    df = MANY if held.ci_method in _NORMAL else max(1.0, (held.num_clusters or held.n) - 1)
    return needed_for(held.mean_difference, held.ci_low, held.ci_high, limit, held.n, df=df)


def needed_for(
    value: float, low: float, high: float, limit: float, n: int, *, df: float = MANY
) -> int | None:
    """The instances at which an interval excludes a limit with a power of 80 %.

    The value stays and the interval narrows by the square root of their number (clusters keep their
    size). None of an interval without width, and where the value is the limit: then no number of
    instances parts the two.

    >>> needed_for(0.0, -0.1, 0.1, -0.05, 100)
    818
    >>> needed_for(-0.05, -0.1, 0.0, -0.05, 100) is None
    True

    Args:
        value: what the interval is of.
        low: its lower end.
        high: its upper end.
        limit: what it has to exclude.
        n: the instances that it rests on.
        df: the degrees of freedom behind it.
    """
    half = value - low if value > limit else high - value
    distance = abs(value - limit)
    if half <= 0 or distance <= 1e-9 * max(1.0, abs(limit)):
        return None
    error = half / quantile(df)
    return math.ceil(n * (error * detectable_errors(MANY) / distance) ** 2)
