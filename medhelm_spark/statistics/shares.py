"""Intervals of shares of a part of the answers, of F1s, and of the means of several of them.

A share rests on the answers that count in it: on the positives for a sensitivity, on the positive
answers for a predictive value. An F1 is a share in disguise: with tp, fp and fn the share
J = tp / (tp + fp + fn) of the answers that concern a class gives F1 = 2 J / (1 + J), which rises
with J. So the ends of J's interval give those of F1's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import Interval
from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.intervals import clustered, mover, wilson

Floats = NDArray[np.float64]
Counted = Callable[[Floats, NDArray[np.int64]], Sequence[Sequence[tuple[int, int]]]]
"""Of each stat its shares, as (hits, counts), in rows with weights; adds up over rows."""


@dataclass(frozen=True, slots=True)
class Share:
    """By distinct row of answers: whether such an answer hits, and whether it counts at all.

    Both of shape (rows,), hits at most counts.
    """

    hits: Floats
    counts: Floats

    def mean(self, weights: NDArray[np.int64]) -> float:
        """The share, with how many answers each row has; at least one must count."""
        return float(weights @ self.hits / (weights @ self.counts))


def shares_by_row(counted: Counted, rows: Floats) -> list[list[Share]]:
    """Of each stat its shares by row; none of a stat that is no mean of shares.

    Args:
        counted: gives the shares.
        rows: distinct rows of what it reads, shape (rows, columns), at least one.
    """
    one = np.ones(1, np.int64)
    by_row = [counted(row[None], one) for row in rows]
    return [
        [Share(*np.array(parts, np.float64).T) for parts in zip(*shares, strict=True)]
        for shares in zip(*by_row, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Clustering:
    """The distinct row and the label of the cluster of each answer, both of shape (answers,)."""

    rows: NDArray[np.int64]
    labels: NDArray[np.uint64]


def share_interval(
    share: Share, weights: NDArray[np.int64], clustering: Clustering | None = None
) -> Interval | None:
    """Wilson's interval; of clustered answers that count the cluster-robust one.

    None where no answer counts, and where those that count are of a single cluster.
    """
    n = float(weights @ share.counts)
    if n == 0:
        return None
    if clustering:
        counts = share.counts[clustering.rows] > 0
        labels, rows = clustering.labels[counts], clustering.rows[counts]
        totals = cluster_totals(labels, share.hits[rows])
        if not totals.are_single:
            return clustered(totals, 0.0, 1.0)
    return wilson(float(weights @ share.hits), n)


def f1_of(interval: Interval) -> Interval:
    """The interval of an F1 from that of its J."""
    return replace(
        interval,
        low=2 * interval.low / (1 + interval.low),
        high=2 * interval.high / (1 + interval.high),
    )


def mean_interval_of(
    shares: Sequence[Share],
    weights: NDArray[np.int64],
    clustering: Clustering | None = None,
    *,
    are_f1: bool = False,
) -> Interval | None:
    """The interval of the mean of shares, or of their F1s, as if the parts were independent.

    None where one of the parts has none.
    """
    means, intervals = [], []
    for share in shares:
        interval = share_interval(share, weights, clustering)
        if interval is None:
            return None
        mean = share.mean(weights)
        means.append(2 * mean / (1 + mean) if are_f1 else mean)
        intervals.append(f1_of(interval) if are_f1 else interval)
    return mover(means, intervals) if intervals else None


def wider(first: Interval | None, second: Interval | None) -> Interval | None:
    """Both intervals together, by the method of the first; None where one is None."""
    if first is None or second is None:
        return None
    return replace(first, low=min(first.low, second.low), high=max(first.high, second.high))
