"""The calibration curve: how often answers are right, by how sure the model is of them.

Answers are put into bins of about equal size by their confidence, as the calibration error with
ten bins does (`metrics.calibration`), and of each bin the mean confidence and the share of right
answers are drawn (a reliability diagram: Murphy and Winkler 1977; Guo et al. 2017). On the diagonal
the model is as often right as it is sure; below it, it is too sure.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import SHARE
from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.summary import summarize
from medhelm_spark.statistics.two_by_two import Estimated, Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Answers of about the same confidence: its mean, how many there are, what share is right."""

    confidence: float
    count: int
    right: Estimated


def curve(
    confidence: NDArray[np.float64],
    right: NDArray[np.float64],
    edges: NDArray[np.float64],
    clusters: Labels | None = None,
) -> tuple[Bin, ...]:
    """The bins that have answers, the least sure first.

    Args:
        confidence: of each answer, from 0 to 1.
        right: 1 for a right answer, 0 for a wrong one.
        edges: the upper ends of the bins, ascending; a confidence on an edge is below it.
        clusters: a label for each answer, None where no two belong together.
    """
    bins = np.searchsorted(edges, confidence)
    return tuple(
        _bin(confidence[in_bin], right[in_bin], None if clusters is None else clusters[in_bin])
        for index in range(len(edges))
        if (in_bin := bins == index).any()
    )


def _bin(
    confidence: NDArray[np.float64], right: NDArray[np.float64], clusters: Labels | None
) -> Bin:
    totals = None if clusters is None else cluster_totals(clusters, right)
    found = summarize(list(Counter(right.tolist()).items()), 0, SHARE, totals)
    return Bin(
        confidence=float(confidence.mean()),
        count=len(right),
        right=Estimated(float(right.mean()), found.ci_low, found.ci_high),
    )
