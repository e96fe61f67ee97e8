"""Poisson bootstrap with equal resamples for all runs over the same instances.

The number of copies of a unit (an instance, or a cluster of instances) in a resample has Poisson's
distribution with mean 1, the limit of drawing many units with replacement (Chamandy and others
2012). `weights` computes the number from the unit's hash and the resample's number alone. So each
run computes its resamples in its own task, two runs over the same instances have the same
resamples, and the differences of their resampled means are paired.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

DRAWS = 1000
MIN_UNITS = 10
"""Fewest units that are resampled: fewer units say too little about other units."""

WEIGHTS_AT_ONCE = 1 << 16
"""Most weights in memory at once: 512 KB, which a cache has and for which BLAS starts no thread."""

Units = NDArray[np.uint64]
Weights = NDArray[np.float64]

_BITS = 16
_PER_HASH = 64 // _BITS
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)


def _poisson() -> Weights:
    """Poisson's quantiles with mean 1 at the middles of 2^16 equal steps."""
    counts, term = [np.exp(-1.0)], np.exp(-1.0)
    for k in range(1, 16):
        term /= k
        counts.append(counts[-1] + term)
    middles = (np.arange(1 << _BITS) + 0.5) / (1 << _BITS)
    return np.searchsorted(np.array(counts), middles).astype(np.float64)


_POISSON = _poisson()


def weights(units: Units, draws: int = DRAWS) -> Weights:
    """How many copies of each unit each resample has; shape (units, draws).

    Args:
        units: the hash of each unit, shape (units,).
        draws: how many resamples, a multiple of 4.
    """
    steps = np.arange(1, draws // _PER_HASH + 1, dtype=np.uint64) * _GOLDEN
    hashed = units[:, None] + steps
    for shift, factor in _MIX:  # the finalizer of SplitMix64 (Steele and others 2014)
        hashed ^= hashed >> shift
        hashed *= factor
    hashed ^= hashed >> np.uint64(31)
    drawn: Weights = np.take(_POISSON, hashed.view(np.uint16))
    return drawn


def _blocks(units: Units, draws: int) -> Iterator[tuple[slice, Weights]]:
    size = max(1, WEIGHTS_AT_ONCE // draws)
    for start in range(0, len(units), size):
        part = slice(start, start + size)
        yield part, weights(units[part], draws)


def resampled_sums(
    rows: NDArray[np.float64], units: Units, draws: int = DRAWS
) -> NDArray[np.float64]:
    """Numbers of shape (rows, units) summed in each resample: shape (rows, draws)."""
    sums = np.zeros((len(rows), draws))
    for part, drawn in _blocks(units, draws):
        sums += rows[:, part] @ drawn
    return sums


def mean_draws(
    units: Units,
    sizes: NDArray[np.int64] | NDArray[np.float64],
    totals: NDArray[np.float64],
    draws: int = DRAWS,
) -> NDArray[np.float64] | None:
    """The mean over answers in each resample; None for fewer than MIN_UNITS units.

    Args:
        units: the hash of each unit, shape (units,).
        sizes: how many answers each unit has, shape (units,).
        totals: the sum of the answers' values by unit, shape (units,).
        draws: how many resamples, a multiple of 4.

    Returns:
        Shape (draws,). A resample without answers gets the mean of all answers.
    """
    if len(units) < MIN_UNITS:
        return None
    order = np.argsort(units)  # sums of floats depend on their order
    rows: NDArray[np.float64] = np.stack([totals, sizes]).astype(np.float64)[:, order]
    sums = resampled_sums(rows, units[order], draws)
    mean = totals.sum() / sizes.sum()
    means: NDArray[np.float64] = np.where(sums[1] > 0, sums[0] / np.maximum(sums[1], 1), mean)
    return means


def measure_draws(
    measure: Callable[[NDArray[np.int64]], Sequence[float | None]],
    units: Units,
    rows: NDArray[np.int64],
    num_rows: int,
    draws: int = DRAWS,
) -> list[Sequence[float | None]] | None:
    """The result of `measure` for each resample; None for fewer than MIN_UNITS units.

    Args:
        measure: maps the count of each distinct row, shape (num_rows,), to numbers.
        units: the hash of the unit of each answer, shape (answers,).
        rows: the index of each answer's row among the distinct rows, shape (answers,).
        num_rows: how many distinct rows there are.
        draws: how many resamples, a multiple of 4.
    """
    if len(np.unique(units)) < MIN_UNITS:
        return None
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    counts = np.zeros((num_rows, draws))
    for part, drawn in _blocks(units[order], draws):
        starts = np.flatnonzero(np.diff(rows[part], prepend=-1))
        counts[rows[part][starts]] += np.add.reduceat(drawn, starts, axis=0)
    return [measure(drawn) for drawn in counts.T.astype(np.int64)]
