"""A judge's share of two classes, corrected by the classes that people gave to some answers.

A judge with a sensitivity (how often it gives the class to an answer of the class) and a
specificity (how often it does not give it to another answer) finds a share that is not the true one
(Rogan and Gladen 1978). With q the judge's share of all answers, a the true share of the class
among the rated answers to which the judge gave it, and b among the other rated ones, the share is

    p = q a + (1 - q) b          sensitivity = q a / p      specificity = (1 - q) (1 - b) / (1 - p)

Tenenbein's estimate for double sampling (1970), the one with the highest likelihood: with it
q = p sensitivity + (1 - p) (1 - specificity), which is Rogan and Gladen's. A judge whose classes
are independent of the truth has a = b, which leaves the share of the ratings. The interval is
MOVER's (Zou and Donner 2008) from Wilson's intervals of a, b and q, which count both samples. Where
answers are clustered the numbers behind them are divided by their design effects. The rated answers
have to be a random sample. Coverage by simulation: `benchmarks/results/corrected_means.md`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.intervals import wilson
from medhelm_spark.statistics.prediction_powered import lacking

Classes = NDArray[np.bool_]
"""Whether each answer is of the class."""

Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedShare:
    """The share of a class, by a judge and by ratings."""

    value: float
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end."""
    sensitivity: float | None
    """The judge's; None where no answer is of the class."""
    specificity: float | None
    """The judge's; None where all answers are of the class."""
    num_rated: int


def corrected_share(
    rated: Classes,
    judged: Classes,
    others: Classes,
    *,
    clusters: tuple[Labels, Labels] | None = None,
) -> CorrectedShare | None:
    """The share of answers of a class, corrected.

    None where something is `lacking`.

    >>> truth = np.arange(1000) % 10 < 6  # six of ten
    >>> judge = truth | (np.arange(1000) % 20 == 9)  # and one in eight of the others
    >>> share = corrected_share(truth[:200], judge[:200], judge[200:])
    >>> [round(x, 3) for x in (share.value, share.sensitivity, share.specificity)]
    [0.6, 1.0, 0.875]

    Args:
        rated: the classes from people; shape (n,).
        judged: the judge's classes of the same answers.
        others: the judge's classes of the answers that people did not rate; shape (N,).
        clusters: of the rated answers and of the others, the cluster of each; None: each its own.
    """
    n, more = len(rated), len(others)
    ours, theirs = clusters or (np.arange(n), np.arange(n, n + more))
    if lacking(rated.astype(np.float64), (ours, theirs)):
        return None
    everyone = np.concatenate([judged, others]).astype(np.float64)
    q = float(everyone.mean())
    a, low_a, high_a = _share(rated[judged], ours[judged])
    b, low_b, high_b = _share(rated[~judged], ours[~judged])
    _, low_q, high_q = _share(everyone > 0, np.concatenate([ours, theirs]))
    value = q * a + (1 - q) * b
    below = math.hypot(q * (a - low_a), (1 - q) * (b - low_b), _move(a - b, q, low_q, high_q))
    above = math.hypot(q * (high_a - a), (1 - q) * (high_b - b), _move(b - a, q, low_q, high_q))
    return CorrectedShare(
        value=value,
        low=max(0.0, value - below),
        high=min(1.0, value + above),
        sensitivity=q * a / value if value > 0 else None,
        specificity=(1 - q) * (1 - b) / (1 - value) if value < 1 else None,
        num_rated=n,
    )


def _move(slope: float, q: float, low: float, high: float) -> float:
    """How far the share moves where q lies at the end of its interval that lowers it."""
    return slope * (q - low) if slope > 0 else slope * (q - high)


def _share(is_one: Classes, labels: Labels) -> tuple[float, float, float]:
    """A share with the ends of its interval, 0 and 1 without an answer."""
    n = len(is_one)
    if not n:
        return 0.5, 0.0, 1.0
    share = float(is_one.mean())
    effective = n / _design_effect(is_one, labels)
    interval = wilson(share * effective, effective)
    return share, interval.low, interval.high


def _design_effect(is_one: Classes, labels: Labels) -> float:
    """How much more a share of clustered answers varies, 1 at least.

    By the correlation within clusters and their sizes; of answers that are all alike the largest.
    """
    totals = cluster_totals(labels, is_one.astype(np.float64))
    if totals.are_single:
        return 1.0
    return max(1.0, 1 + totals.correlation() * (totals.mean_size - 1))
