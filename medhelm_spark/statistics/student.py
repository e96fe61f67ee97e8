"""Quantiles, tails and power of Student's t and of the normal distribution, by scipy.

scipy is imported when a function is called: its import takes as long as a small summary.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

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


def spread_degrees_of_freedom(values: NDArray[np.float64]) -> float:
    """The degrees of freedom of the sample variance of values that need not be normal.

    A variance with d degrees of freedom has a variance of 2 s^4 / d (Satterthwaite 1946); that of n
    values with kurtosis k has about (k - 1) s^4 / n. So d = 2 n / (k - 1), here n - 1 at most and 1
    at least: values of which few are far off estimate their variance badly, and t with n - 1
    degrees would call the rest of them a difference. `values` are not all equal; shape (n,).

    >>> spread_degrees_of_freedom(np.array([0.0] * 99 + [1.0])).__round__(2)
    2.06
    """
    n = len(values)
    squares = (values - values.mean()) ** 2
    excess = float((squares**2).mean() / squares.mean() ** 2) - 1.0
    return float(n - 1) if excess <= 0 else min(n - 1.0, max(1.0, 2.0 * n / excess))
