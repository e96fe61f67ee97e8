"""How many instances an interval needs to lie on one side of a limit."""

import math

from medhelm_spark.domain.stats import IntervalMethod
from medhelm_spark.statistics.paired import PairedDifference
from medhelm_spark.statistics.student import detectable_errors, quantile

MANY = 1e6
"""Degrees of freedom of an interval that rests on the normal distribution."""

_NORMAL = (IntervalMethod.BONETT_PRICE, IntervalMethod.CONDITIONAL)


def needed_instances(difference: PairedDifference, limit: float) -> int | None:
    """How many instances the 95 % interval of this difference needs to exclude a limit.

    As `needed_for`; also None for a difference without a value or an interval.
    """
    if (
        difference.mean_difference is None
        or difference.ci_low is None
        or difference.ci_high is None
    ):
        return None
    df = (
        MANY
        if difference.ci_method in _NORMAL
        else max(1.0, (difference.num_clusters or difference.n) - 1)
    )
    return needed_for(
        difference.mean_difference,
        difference.ci_low,
        difference.ci_high,
        limit,
        difference.n,
        df=df,
    )


def needed_for(
    value: float, low: float, high: float, limit: float, n: int, *, df: float = MANY
) -> int | None:
    """How many instances an interval needs to exclude a limit with a power of 80 %.

    The formula assumes that the value stays and that the width falls with the square root of the
    number of instances (clusters keep their size). None for an interval without width, and for a
    value equal to the limit: no number of instances separates the two.

    >>> needed_for(0.0, -0.1, 0.1, -0.05, 100)
    818
    >>> needed_for(-0.05, -0.1, 0.0, -0.05, 100) is None
    True

    Args:
        value: the estimate.
        low: the interval's lower end.
        high: the interval's upper end.
        limit: the number that the interval has to exclude.
        n: how many instances the interval comes from.
        df: the interval's degrees of freedom.
    """
    half = value - low if value > limit else high - value
    distance = abs(value - limit)
    if half <= 0 or distance <= 1e-9 * max(1.0, abs(limit)):
        return None
    error = half / quantile(df)
    return math.ceil(n * (error * detectable_errors(MANY) / distance) ** 2)
