"""Pseudo-values of a stat of a whole run: its standard error and its tests without a random draw.

The stat is measured once more without one instance of each distinct row. With n instances, the
stat T and T_i without instance i, the pseudo-value of instance i is T + (n - 1) (T - T_i), moved so
that the mean of all is T (Tukey 1958; Efron and Stein 1981). A stat of a whole run is then treated
as the mean of its pseudo-values: clusters, pairs and tests need no method of their own. The stat
must not depend on how often all answers are counted, but for a number of answers, which is
proportional to it.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

TIMES = 10
"""How often each answer is counted here: a tenth of the answers, with one and without it, is then a
whole number, and a stat that rests on a tenth moves by one answer and not by a rounding."""

Measure = Callable[[NDArray[np.int64]], Sequence[float | None]]


def pseudo_values(measure: Measure, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The pseudo-values of each stat in each distinct row.

    Args:
        measure: the stats, always as many, from how often each distinct row occurs; None for one
            that has no value.
        counts: how often each distinct row occurs, shape (rows,).

    Returns:
        Shape (stats, rows): NaN in the rows that do not occur, and for a stat that has no value or
        loses it without one instance.
    """
    n = int(counts.sum())
    whole = np.array(measure(counts), np.float64)
    occurring = np.flatnonzero(counts)
    values = np.full((len(whole), len(counts)), np.nan)
    if n < 2:
        return values
    many = TIMES * counts
    of_many = np.array(measure(many), np.float64)
    without = np.empty((len(whole), len(occurring)))
    for index, row in enumerate(occurring):
        many[row] -= TIMES
        without[:, index] = np.array(measure(many), np.float64)
        many[row] += TIMES
    moves = (n - 1) * (of_many[:, None] - without)
    is_number_of_answers = (of_many == TIMES * whole) & (whole != 0)
    moves[is_number_of_answers] /= TIMES
    centre = moves @ counts[occurring] / n
    values[:, occurring] = whole[:, None] + moves - centre[:, None]
    return values
