"""Intervals of agreement that count clusters: a jackknife that leaves out one cluster at a time.

Answers about one patient are no independent tries: intervals by quantiles of F, and by resamples of
answers, are too narrow for them. With G clusters, the coefficient T and T_g without cluster g, the
variance of T is (G - 1) / G times the sum of the squared distances of the T_g from their mean
(Tukey 1958; Efron and Stein 1981), and the interval is that of t with G - 1 degrees of freedom.
Coefficients that end at 1 are taken to Fisher's z = atanh(T) before, and their ends back.
Coverage by simulation: `benchmarks/results/clustered_agreement.md`.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.student import quantile
from medhelm_spark.statistics.two_by_two import Estimated

Counted = NDArray[np.bool_]
"""Which answers count; shape (answers,)."""

Labels = NDArray[np.int64]
"""The cluster of each answer; shape (answers,)."""


def clustered_interval(
    measure: Callable[[Counted], float | None], labels: Labels, *, ends_at_one: bool = True
) -> Estimated | None:
    """A coefficient with its interval; None where it has no value.

    Without ends of a single cluster, of a coefficient of 1, and where one has no value without a
    cluster.

    >>> values = np.array([1.0, 2.0, 4.0, 7.0])
    >>> mean = clustered_interval(
    ...     lambda counted: float(values[counted].mean()), np.arange(4), ends_at_one=False
    ... )
    >>> round(mean.value, 2), round(mean.low, 2), round(mean.high, 2)
    (3.5, -0.71, 7.71)

    Args:
        measure: the coefficient of the answers that count.
        labels: the cluster of each answer.
        ends_at_one: it is a correlation or another coefficient that is 1 at most.
    """
    value = measure(np.ones(len(labels), bool))
    if value is None:
        return None
    clusters = np.unique(labels)
    groups = len(clusters)
    if groups < 2 or (ends_at_one and abs(value) >= 1):
        return Estimated(value)
    without = [measure(labels != cluster) for cluster in clusters]
    if any(each is None for each in without):
        return Estimated(value)
    moved = np.array(without, np.float64)
    if ends_at_one:
        # Without the only cluster that disagrees a coefficient is 1, whose z is endless.
        moved = np.arctanh(np.clip(moved, -1 + 1e-9, 1 - 1e-9))
    spread = float(((moved - moved.mean()) ** 2).sum()) * (groups - 1) / groups
    half = quantile(groups - 1) * math.sqrt(spread)
    if not ends_at_one:
        return Estimated(value, value - half, value + half)
    z = math.atanh(value)
    return Estimated(value, math.tanh(z - half), math.tanh(z + half))
