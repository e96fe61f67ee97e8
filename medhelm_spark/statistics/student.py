"""Quantiles and tails of Student's t and of the normal distribution, by scipy.

scipy is imported when a function is called, for that takes as long as a small summary: intervals of
unclustered means use an expansion (`intervals.t_quantile`), tests and their intervals these.
"""

import math

LEVEL = 0.05
POWER = 0.8


def quantile(df: float) -> float:
    """The 97.5 % quantile of Student's t; of the normal distribution for an infinite `df`."""
    from scipy import special

    tail = 1 - LEVEL / 2
    return float(special.ndtri(tail) if math.isinf(df) else special.stdtrit(df, tail))


def two_sided(t: float, df: float) -> float:
    """The probability of a t at least as far from 0, of a normal one for an infinite `df`."""
    from scipy import special

    tail = special.ndtr(-abs(t)) if math.isinf(df) else special.stdtr(df, -abs(t))
    return 2 * float(tail)


def detectable(standard_error: float) -> float:
    """The difference that a two-sided test at 5 % finds with a power of 80 %.

    >>> round(detectable((0.2 / 250) ** 0.5), 3)
    0.079
    """
    from scipy import special

    return float(special.ndtri(1 - LEVEL / 2) + special.ndtri(POWER)) * standard_error
