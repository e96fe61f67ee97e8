"""Standard errors of means whose answers belong together: by patient, note, document, calculator.

Answers of one cluster are no independent tries. The variance of their mean is CR2 (Bell and
McCaffrey 2002) under independent answers of equal variance: each cluster's squared residual total
is divided by 1 - h, h the cluster's share of all answers, which makes the variance unbiased for
clusters of any sizes. The degrees of freedom of t are Bell and McCaffrey's, by Satterthwaite's
approximation. Both equal R's clubSandwich (`CR2`, `Satterthwaite`) for a model with an intercept
alone: `tests/unit/statistics/test_clusters.py`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ClusterTotals:
    """Of each cluster its number of answers, the sum of their values and of their squares.

    Each of shape (G,).
    """

    sizes: NDArray[np.float64]
    totals: NDArray[np.float64]
    squares: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def mean(self) -> float:
        """The mean over answers, not over clusters."""
        return float(self.totals.sum() / self.sizes.sum())

    def on_unit_scale(self, low: float, high: float) -> "ClusterTotals":
        """The totals of the same answers, moved from the scale `low` to `high` to 0 to 1."""
        width = high - low
        squares = self.squares - 2 * low * self.totals + low**2 * self.sizes
        return ClusterTotals(
            self.sizes, (self.totals - low * self.sizes) / width, squares / width**2
        )

    @property
    def are_single(self) -> bool:
        """Whether each cluster has one answer, so that nothing is clustered."""
        return bool((self.sizes == 1).all())

    def standard_error(self) -> float | None:
        """The CR2 standard error of the mean; None of a single cluster."""
        if len(self) < 2:
            return None
        residuals = self.totals - self.mean * self.sizes
        # Differences that are equal leave rounding errors, which are no spread.
        size = float(np.abs(self.totals).max())
        residuals = np.where(np.abs(residuals) <= 1e-12 * size, 0.0, residuals)
        answers = float(self.sizes.sum())
        return math.sqrt(float((residuals**2 / (1 - self.sizes / answers)).sum())) / answers

    @property
    def degrees_of_freedom(self) -> float:
        """Bell and McCaffrey's, of t for the mean; G - 1 for clusters of equal size.

        The residual totals are linear in the answers. With m_g answers of N in cluster g and
        q_g = m_g^2 / (N - m_g), the approximation of Satterthwaite (1946) comes to

            df = N^2 / (sum m_g^2 + (sum q_g)^2 - sum q_g^2)
        """
        if len(self) < 2:
            return 0.0
        sizes, answers = self.sizes, float(self.sizes.sum())
        q = sizes**2 / (answers - sizes)
        return answers**2 / float((sizes**2).sum() + q.sum() ** 2 - (q**2).sum())

    @property
    def variance(self) -> float:
        """The variance of all answers, the population's."""
        return max(0.0, float(self.squares.sum() / self.sizes.sum()) - self.mean**2)

    def correlation(self, pseudo: float = 0.0) -> float:
        """The correlation of two answers of a cluster, between 0 and 1; 1 where none differ.

        From the mean squares between and within clusters, of an analysis of variance (Donner 1986):

            (between - within) / (between + (m - 1) within),  m = (N - sum m_g^2 / N) / (G - 1)

        Args:
            pseudo: how many clusters of the mean size are added between at 0 and at 1 each, the
                ends of the answers' scale. Where few clusters differ from the rest, they alone say
                too little about how alike the answers of a cluster are.
        """
        sizes, answers, clusters = self.sizes, float(self.sizes.sum()), len(self)
        if clusters < 2:
            return 1.0
        explained = float((self.totals**2 / sizes).sum())
        added = pseudo * answers / clusters
        p = (float(self.totals.sum()) + added) / (answers + 2 * added)
        between = max(0.0, explained - answers * self.mean**2) + added * (p**2 + (1 - p) ** 2)
        between /= clusters - 1 + 2 * pseudo
        rest = max(0.0, float(self.squares.sum()) - explained)
        within = rest / (answers - clusters) if answers > clusters else 0.0
        size = (answers - float((sizes**2).sum()) / answers) / (clusters - 1)
        spread = between + (size - 1) * within
        return 1.0 if spread <= 0 else min(1.0, max(0.0, (between - within) / spread))

    @property
    def mean_size(self) -> float:
        """How many answers the cluster of an answer has, on average over answers.

        The largest cluster counts as the geometric mean of its size, three times, and the second
        largest's, once: its own residual is in CR2 already.
        """
        second, largest = np.partition(self.sizes, -2)[-2:] if len(self) > 1 else self.sizes[[0, 0]]
        counted = largest**0.75 * second**0.25
        squares = (self.sizes**2).sum() - largest**2 + counted**2
        return float(squares / (self.sizes.sum() - largest + counted))

    @property
    def effective(self) -> float:
        """How many clusters of equal size would have these degrees of freedom."""
        return self.degrees_of_freedom + 1


def cluster_totals(
    clusters: NDArray[np.int64] | NDArray[np.uint64], values: NDArray[np.float64]
) -> ClusterTotals:
    """The totals of values by cluster, given by one label per value."""
    _, inverse = np.unique(clusters, return_inverse=True)
    return ClusterTotals(
        sizes=np.bincount(inverse).astype(np.float64),
        totals=np.bincount(inverse, weights=values).astype(np.float64),
        squares=np.bincount(inverse, weights=values**2).astype(np.float64),
    )
