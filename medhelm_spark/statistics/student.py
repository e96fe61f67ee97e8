"""Quantiles, tails and power of Student's t and of the normal distribution, by scipy.

scipy is imported when a function is called: its import takes as long as a small summary.
"""

from functools import lru_cache

LEVEL = 0.05
POWER = 0.8


@lru_cache(maxsize=4096)
def quantile(df: float) -> float:
    """The 97.5 % quantile of Student's t.

    >>> [round(quantile(df), 2) for df in (1, 2, 9, 99)]
    [12.71, 4.3, 2.26, 1.98]
    """
    from scipy import special

    return float(special.stdtrit(df, 1 - LEVEL / 2))


def two_sided(t: float, df: float) -> float:
    """The probability of a t at least as far from 0."""
    from scipy import special

    return 2 * float(special.stdtr(df, -abs(t)))


@lru_cache(maxsize=4096)
def detectable_errors(df: float) -> float:
    """How many standard errors off 0 a two-sided t test at 5 % finds with a power of 80 %.

    The noncentrality of t; the chance to reject on the other side is left out.

    >>> [round(detectable_errors(df), 2) for df in (9, 99)]
    [3.15, 2.83]
    """
    from scipy import special

    return float(special.nctdtrinc(df, 1 - POWER, quantile(df)))
