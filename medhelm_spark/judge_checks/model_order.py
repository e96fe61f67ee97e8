"""Whether a jury puts models in the order in which raters put them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from medhelm_spark.domain.ids import digest
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.statistics.bootstrap import MIN_UNITS, weights
from medhelm_spark.statistics.paired import paired_difference
from medhelm_spark.statistics.two_by_two import Estimated

Pairs = Mapping[tuple[str, int], tuple[float, float]]
"""By instance and trial the jury's score and the raters' mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOrder:
    """The pairs of models that raters tell apart, and how many the jury puts in their order."""

    same: Estimated | None
    """The share in the raters' order, with its bootstrap interval; None where raters tell no pair
    apart, or there are too few instances to resample."""
    num_pairs: int
    """The pairs that raters tell apart."""
    num_models: int
    turned: tuple[str, ...]
    """The pairs in the other order, as `A before B`."""


def model_order(by_model: Mapping[str, Pairs], scale: MetricInfo) -> ModelOrder:
    """Compare the two orders, pair by pair, on the answers that have both values.

    A pair counts where the interval of the raters' paired difference excludes 0. Instances are
    resampled; in each resample a pair is in order where the jury's difference has the same sign
    as the raters' difference.
    """
    pairs: list[tuple[str, str, list[tuple[str, int]], int]] = []
    for first, second in combinations(sorted(by_model), 2):
        both = sorted(by_model[first].keys() & by_model[second].keys())
        if not both:
            continue
        first_ratings = np.array([by_model[first][name][1] for name in both])
        second_ratings = np.array([by_model[second][name][1] for name in both])
        difference = paired_difference(first_ratings, second_ratings, scale)
        if (
            difference.ci_low is None
            or difference.ci_high is None
            or difference.ci_low <= 0 <= difference.ci_high
        ):
            continue
        pairs.append((first, second, both, 1 if difference.ci_low > 0 else -1))
    if not pairs:
        return ModelOrder(same=None, num_pairs=0, num_models=len(by_model), turned=())
    signs, draws, turned = [], [], []
    for first, second, both, sign in pairs:
        scores = np.array([by_model[first][name][0] - by_model[second][name][0] for name in both])
        signs.append(np.sign(scores.sum()) == sign)
        if not signs[-1]:
            better, worse = (first, second) if sign > 0 else (second, first)
            turned.append(f"{worse} before {better}")
        if len({name for name, _ in both}) >= MIN_UNITS:
            units = np.array([int(digest(name)[:16], 16) for name, _ in both], dtype=np.uint64)
            draws.append(np.sign(scores @ weights(units)) == sign)
    share = float(np.mean(signs))
    if len(draws) < len(pairs):
        same = Estimated(share)
    else:
        low, high = np.quantile(np.mean(draws, axis=0), [0.025, 0.975])
        same = Estimated(share, float(low), float(high))
    return ModelOrder(
        same=same, num_pairs=len(pairs), num_models=len(by_model), turned=tuple(turned)
    )
