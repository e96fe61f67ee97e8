"""Whether a mean lies beyond a bound, asked at every look, with one error rate over all looks.

The unit is what is drawn independently: a cluster of instances, else an instance. Looks ask the
same units again, so that looks depend on each other in an unknown way. A look gives an
e-value: a number that is 1 or less in expectation where the mean lies within the bound (a product
of bets on each unit, averaged over stakes: Waudby-Smith and Ramdas, Estimating means of bounded
random variables by betting, 2024). The evidence of all looks is the sum of `look_share` times the
e-value. Its expectation is at most 1 however looks depend on each other, and it never falls, so
that it reaches 1 / LEVEL at any look with a probability of at most LEVEL (Markov's inequality).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STAKES = 2.0 ** -np.arange(8)
"""The shares of the largest stake that are bet; each has the same weight."""

FIRST = 10
"""The number of the first look in the series of shares: a larger one leaves more to later looks."""

SUM_OF_SHARES = 0.4441
"""Above the sum of 1 / (n ln(n)^2) over all n from FIRST on, which is 0.44401..."""

_HALVINGS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTotals:
    """Values on a scale with two ends, added up by unit; equal units are counted.

    The arrays have the shape (different units,).
    """

    sums: NDArray[np.float64]
    """The sum of a unit's values."""
    sizes: NDArray[np.float64]
    """How many values a unit has."""
    counts: NDArray[np.float64]
    """How many units have this sum and size."""
    low: float
    """The lowest value that there can be."""
    high: float
    """The highest."""

    @property
    def num_units(self) -> int:
        """The units."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean over all values."""
        return float((self.sums * self.counts).sum() / (self.sizes * self.counts).sum())

    @property
    def negated(self) -> "UnitTotals":
        """The same of the values with the other sign."""
        return UnitTotals(
            sums=-self.sums, sizes=self.sizes, counts=self.counts, low=-self.high, high=-self.low
        )


def unit_totals(
    values: NDArray[np.float64], labels: NDArray[np.int64] | None, low: float, high: float
) -> UnitTotals:
    """The totals of the units.

    Args:
        values: a value of each instance.
        labels: the unit of each instance; None where each is its own.
        low: the lowest value that there can be.
        high: the highest.
    """
    sums, sizes = values, np.ones(len(values))
    if labels is not None:
        inverse = np.unique(labels, return_inverse=True)[1].reshape(-1)
        sums = np.bincount(inverse, weights=values).astype(np.float64)
        sizes = np.bincount(inverse).astype(np.float64)
    both, counts = np.unique(np.stack([sums, sizes]), axis=1, return_counts=True)
    return UnitTotals(
        sums=both[0], sizes=both[1], counts=counts.astype(np.float64), low=low, high=high
    )


def log_evidence_below(totals: UnitTotals, bound: float) -> float:
    """The logarithm of the e-value of one look that the mean lies below a bound.

    Where the mean is the bound or more, and no cluster of the population is larger than the largest
    one here, the expectation of the e-value is at most 1. It does not fall where the bound rises.

    >>> hit = unit_totals(np.array([-1.0, 0.0, 0.0]), None, -1.0, 1.0)
    >>> log_evidence_below(hit, 0.0) > log_evidence_below(hit, -0.5)
    True

    Args:
        totals: the values of a look.
        bound: above the lowest value that there can be, and below the highest.
    """
    if totals.num_units == 0:
        return 0.0
    stake = totals.sizes.max() * (totals.high - bound)
    wins = np.maximum((bound * totals.sizes - totals.sums) / stake, -1.0)
    with np.errstate(divide="ignore"):  # a bet of all that is lost
        capital = np.log1p(np.outer(STAKES, wins)) @ totals.counts
    return float(np.logaddexp.reduce(capital) - math.log(len(STAKES)))


def log_evidence_above(totals: UnitTotals, bound: float) -> float:
    """The same that the mean lies above the bound."""
    return log_evidence_below(totals.negated, -bound)


def betting_interval(totals: UnitTotals, level: float) -> tuple[float, float]:
    """An interval of the mean that misses the mean with a probability of at most `level`."""
    if totals.num_units == 0:
        return totals.low, totals.high
    needed = math.log(2 / level)
    return -_upper_end(totals.negated, needed), _upper_end(totals, needed)


def _upper_end(totals: UnitTotals, needed: float) -> float:
    """The least bound below which the mean is shown to lie."""
    inside, outside = totals.mean, totals.high
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if middle >= totals.high or log_evidence_below(totals, middle) >= needed:
            outside = middle
        else:
            inside = middle
    return outside


def look_share(look: int) -> float:
    """The share of the error rate that a look has, looks counted from 1 on; all have 1 at most."""
    number = look - 1 + FIRST
    return 1 / (number * math.log(number) ** 2 * SUM_OF_SHARES)


def p_over_looks(evidence: Iterable[tuple[float, float]]) -> float:
    """The p-value over all looks so far; below LEVEL at any look with that probability at most.

    Args:
        evidence: of each look its share, and the logarithm of its e-value.
    """
    terms = [math.log(share) + log_e for share, log_e in evidence if share > 0]
    if not terms:
        return 1.0
    return float(min(1.0, math.exp(-min(np.logaddexp.reduce(terms), 700.0))))
