"""Worst at k: the expected worst of k answers to one question, estimated from n repeats."""

from collections.abc import Sequence
from math import comb, fsum


def worst_weights(n: int, k: int) -> tuple[float, ...]:
    """The weights of n values, from the worst to the best, in the expected worst of k of them.

    The value of rank j (from 1) is the worst of C(n - j, k - 1) of the C(n, k) sets of k values:
    the mean over all sets, which is unbiased (Arora et al. 2025, arXiv 2505.08775, "worst at k").

    >>> worst_weights(3, 2)
    (0.6666666666666666, 0.3333333333333333, 0.0)
    """
    return tuple(comb(n - rank, k - 1) / comb(n, k) for rank in range(1, n + 1))


def worst_at(values: Sequence[float], k: int, *, lower_is_better: bool = False) -> float | None:
    """The expected worst of k of these values; None where there are fewer than k.

    >>> worst_at([1.0, 0.0, 1.0], 2)
    0.3333333333333333
    """
    if len(values) < k:
        return None
    ordered = sorted(values, reverse=lower_is_better)
    weights = worst_weights(len(values), k)
    return fsum(weight * value for weight, value in zip(weights, ordered, strict=True))


def sizes_of(n: int) -> tuple[int, ...]:
    """The k of which worst-at-k is shown of n repeats: powers of two, and n.

    >>> sizes_of(1), sizes_of(3), sizes_of(8)
    ((), (2, 3), (2, 4, 8))
    """
    powers = [1 << exponent for exponent in range(1, n.bit_length()) if 1 << exponent < n]
    return (*powers, n) if n > 1 else ()
