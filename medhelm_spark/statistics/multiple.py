"""p-values of several questions asked at once, adjusted so that chance answers few of them.

Holm (1979) controls the probability of any false answer at 5 %: for the few questions that were
declared beforehand. Benjamini and Hochberg (1995) control the expected share of false ones among
the answers at 5 %: for maps of everything against everything. `scipy.stats.false_discovery_control`
gives the same numbers (tests/unit/statistics/test_multiple.py) and its import takes longer than a
board, docs/decisions/0029.
"""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03, 0.005])]
    [0.03, 0.06, 0.06, 0.02]
    """
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(_ascending(p_values)):
        highest = max(highest, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(1.0, highest)
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given.

    >>> [round(p, 3) for p in benjamini_hochberg([0.01, 0.04, 0.03, 0.005])]
    [0.02, 0.04, 0.04, 0.02]
    """
    adjusted, lowest = [0.0] * len(p_values), 1.0
    for rank, index in reversed(list(enumerate(_ascending(p_values), start=1))):
        lowest = min(lowest, len(p_values) / rank * p_values[index])
        adjusted[index] = lowest
    return adjusted


def _ascending(p_values: Sequence[float]) -> list[int]:
    return sorted(range(len(p_values)), key=p_values.__getitem__)
