"""Whether a jury puts models in the order in which raters put them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.ids import digest
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.statistics.bootstrap import MIN_UNITS, weights
from medhelm_spark.statistics.paired import paired_difference
from medhelm_spark.statistics.two_by_two import Estimated


class JudgedAnswer(NamedTuple):
    """One answer with the values of the jury and of the raters."""

    score: float
    """The jury's."""
    rating: float
    """The raters' mean."""
    cluster: str
    """The patient, else the question: answers with the same one are not independent."""


JudgedAnswers = Mapping[tuple[str, int], JudgedAnswer]
"""By instance and trial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOrder:
    """The pairs of models that raters tell apart, and how many the jury puts in their order."""

    same: Estimated | None
    """The share in the raters' order, with its bootstrap interval; None where raters tell no pair
    apart, without ends where a pair has too few clusters to resample."""
    num_pairs: int
    """The pairs that raters tell apart."""
    num_models: int
    turned: tuple[str, ...]
    """The pairs in the other order, as `A before B`."""
    tied: tuple[str, ...]
    """The pairs to which the jury gives equal scores, as `A and B`; they are not in order."""


def model_order(by_model: Mapping[str, JudgedAnswers], scale: MetricInfo) -> ModelOrder:
    """Compare the two orders, pair by pair, on the answers that have both values.

    A pair counts where the interval of the raters' paired difference, whose standard error counts
    clusters, excludes 0. Clusters are resampled; in each resample a pair is in order where the
    jury's difference has the same sign as the raters' difference.
    """
    num_pairs, num_same = 0, 0
    draws, turned, tied = [], [], []
    for first, second in combinations(sorted(by_model), 2):
        both = sorted(by_model[first].keys() & by_model[second].keys())
        ours, theirs = ([by_model[model][name] for name in both] for model in (first, second))
        sign = _order_of_raters(ours, theirs, scale)
        if not sign:
            continue
        num_pairs += 1
        scores = np.array([a.score - b.score for a, b in zip(ours, theirs, strict=True)])
        order = _sign(scores)
        if order == sign:
            num_same += 1
        elif order == 0:
            tied.append(f"{first} and {second}")
        else:
            turned.append(f"{first} before {second}" if order > 0 else f"{second} before {first}")
        if len({answer.cluster for answer in ours}) >= MIN_UNITS:
            hashes = [int(digest(answer.cluster)[:16], 16) for answer in ours]
            draws.append(np.sign(scores @ weights(np.array(hashes, dtype=np.uint64))) == sign)
    same = None
    if num_pairs:
        low, high = (
            np.quantile(np.mean(draws, axis=0), [0.025, 0.975]).tolist()
            if len(draws) == num_pairs
            else (None, None)
        )
        same = Estimated(num_same / num_pairs, low, high)
    return ModelOrder(
        same=same,
        num_pairs=num_pairs,
        num_models=len(by_model),
        turned=tuple(turned),
        tied=tuple(tied),
    )


def _order_of_raters(
    first: Sequence[JudgedAnswer], second: Sequence[JudgedAnswer], scale: MetricInfo
) -> int:
    """1 where raters show the first model to be better, -1 the second, 0 where they show neither.

    The two have the answers to the same instances and trials, in the same order.
    """
    clusters = np.unique([answer.cluster for answer in first], return_inverse=True)[1]
    difference = paired_difference(
        np.array([answer.rating for answer in first]),
        np.array([answer.rating for answer in second]),
        scale,
        clusters.astype(np.int64),
    )
    low, high = difference.ci_low, difference.ci_high
    if low is None or high is None or low <= 0 <= high:
        return 0
    return 1 if low > 0 else -1


def _sign(differences: NDArray[np.float64]) -> int:
    """The sign of the sum, 0 where it is a rounding error."""
    total = math.fsum(differences)
    if abs(total) <= 1e-12 * math.fsum(np.abs(differences)):
        return 0
    return 1 if total > 0 else -1
