"""Standard errors of means whose answers belong together: by patient, note, document, calculator.

Answers of one cluster are no independent tries. The variance of their mean is summed over clusters
(Liang and Zeger 1986), with the correction G / (G - 1) of statsmodels' `cov_type="cluster"`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FEW_CLUSTERS = 30
"""Below so many clusters t with one degree of freedom less than clusters stands for z."""


@dataclass(frozen=True, slots=True)
class ClusterTotals:
    """Of each cluster its number of answers and the sum of their values; both of shape (G,)."""

    sizes: NDArray[np.float64]
    totals: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def mean(self) -> float:
        """The mean over answers, not over clusters."""
        return float(self.totals.sum() / self.sizes.sum())

    def standard_error(self, around: float | None = None) -> float | None:
        """The cluster-robust standard error of the mean; None of a single cluster.

        With `around` it is the one that the mean would have if that were the true mean: the
        deviations are taken from it, and nothing is corrected for having estimated it.
        """
        clusters = len(self.sizes)
        if around is None and clusters < 2:
            return None
        centre = self.mean if around is None else around
        deviations = self.totals - centre * self.sizes
        correction = clusters / (clusters - 1) if around is None else 1.0
        return math.sqrt(correction * float(deviations @ deviations)) / float(self.sizes.sum())


def cluster_totals(
    clusters: NDArray[np.int64] | NDArray[np.uint64], values: NDArray[np.float64]
) -> ClusterTotals:
    """The totals of values by cluster, given by one label per value."""
    _, place = np.unique(clusters, return_inverse=True)
    totals = np.bincount(place, weights=values).astype(np.float64)
    return ClusterTotals(sizes=np.bincount(place).astype(np.float64), totals=totals)


def degrees_of_freedom(clusters: int) -> float:
    """Of t for a mean over so many clusters; infinite, which is z, where they are many."""
    return clusters - 1 if clusters < FEW_CLUSTERS else math.inf
