"""Which of two judges agrees better with raters, on the same answers.

Each measure of agreement is taken of both judges on the answers that both judged and people rated,
and the difference has the percentiles of a bootstrap in which both judges have the same resamples
(`statistics.bootstrap`: drawn by the hashes of patients or instances). On all answers a measure is
what `statistics.intraclass` and `statistics.agreement` give.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.bootstrap import MIN_UNITS, Units, weights
from medhelm_spark.statistics.two_by_two import Estimated

Values = NDArray[np.float64]
"""A value for each answer; shape (answers,)."""

Table = NDArray[np.float64]
"""Ratings of shape (answers, raters), NaN where a rater did not rate an answer."""

Weights = NDArray[np.float64]
"""How often each answer counts in each resample; shape (answers, resamples)."""


class AgreementMeasure(StrEnum):
    """How the agreement of a judge with raters is measured; the first one decides."""

    ICC = "ICC(A,1)"
    SPEARMAN = "Spearman"
    KAPPA = "weighted kappa"
    DISTANCE = "mean distance"

    @property
    def has_unit(self) -> bool:
        """Whether it needs a judge whose scale is the raters'."""
        return self is not AgreementMeasure.SPEARMAN

    @property
    def lower_is_better(self) -> bool:
        """Whether a low value is good agreement."""
        return self is AgreementMeasure.DISTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementDifference:
    """One measure of two judges on the same answers, and the first less the second."""

    measure: AgreementMeasure
    first: float
    second: float
    difference: Estimated
    """With its 95 % interval; without ends of fewer than MIN_UNITS patients or instances."""

    @property
    def first_is_better(self) -> bool | None:
        """Whether the first judge agrees better, for certain; None where the interval has 0."""
        low, high = self.difference.low, self.difference.high
        if low is None or high is None or low <= 0 <= high:
            return None
        return (low > 0) != self.measure.lower_is_better


def agreement_differences(
    first: Values, second: Values, ratings: Table, units: Units, *, has_unit: bool
) -> tuple[AgreementDifference, ...]:
    """The measures that are defined of both judges, in the order of AgreementMeasure.

    Args:
        first: the first judge's values.
        second: the second judge's.
        ratings: each answer has one rating at least.
        units: the hash of what is resampled together, shape (answers,).
        has_unit: both judges use the raters' scale; without it ranks alone are compared.
    """
    if not len(first):
        return ()
    order = np.lexsort((second, first, units))  # sums of floats depend on their order
    first, second, ratings, units = first[order], second[order], ratings[order], units[order]
    once = np.ones((len(first), 1))
    is_enough = len(np.unique(units)) >= MIN_UNITS
    drawn = weights(units) if is_enough else None
    found = []
    for measure in AgreementMeasure:
        if measure.has_unit and not has_unit:
            continue
        compute = _MEASURES[measure]
        ours, theirs = (float(compute(judge, ratings, once)[0]) for judge in (first, second))
        if np.isnan(ours) or np.isnan(theirs):
            continue
        low = high = None
        if drawn is not None:
            low, high = _ends(compute(first, ratings, drawn) - compute(second, ratings, drawn))
        found.append(
            AgreementDifference(
                measure=measure,
                first=ours,
                second=theirs,
                difference=Estimated(ours - theirs, low, high),
            )
        )
    return tuple(found)


def _ends(draws: Values) -> tuple[float, float] | tuple[None, None]:
    """The ends of the middle 95 %; none where half of the resamples have no value."""
    known = draws[~np.isnan(draws)]
    if len(known) < len(draws) / 2:
        return None, None
    low, high = np.quantile(known, (0.025, 0.975))
    return float(low), float(high)


def _ratio(above: Values, below: Values) -> Values:
    """NaN where the divisor is 0, or negative."""
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 1e-12)


def _moments(first: Values, second: Values, w: Weights) -> tuple[Values, ...]:
    """Number, both means, both variances and covariance in each resample, of the population."""
    n = w.sum(axis=0)
    safe = np.maximum(n, 1)
    of_first, of_second = first @ w / safe, second @ w / safe
    centred, other = first[:, None] - of_first, second[:, None] - of_second
    return (
        n,
        of_first,
        of_second,
        (w * centred**2).sum(axis=0) / safe,
        (w * other**2).sum(axis=0) / safe,
        (w * centred * other).sum(axis=0) / safe,
    )


def _mean_rating(ratings: Table) -> Values:
    mean: Values = np.nanmean(ratings, axis=1)
    return mean


def _intraclass(judge: Values, ratings: Table, w: Weights) -> Values:
    """ICC(A,1) of the judge and the raters' mean, as `statistics.intraclass` has it.

    With two columns of the variances u and v, the covariance c (divisor n - 1) and the means p and
    q the mean squares come to ICC(A,1) = 2 c / (u + v + (p - q)^2 - (u + v - 2 c) / n).
    """
    n, p, q, u, v, c = _moments(judge, _mean_rating(ratings), w)
    bessel = _ratio(n, n - 1)
    u, v, c = u * bessel, v * bessel, c * bessel
    return _ratio(2 * c, u + v + (p - q) ** 2 - _ratio(u + v - 2 * c, n))


def _kappa(judge: Values, ratings: Table, w: Weights) -> Values:
    """Quadratic weights, the mean over the raters with whom it is defined.

    As of `statistics.agreement.weighted_kappa` it is not defined with a rater of fewer than two
    answers, nor where a resample has fewer than two of them.
    """
    kappas = []
    for rater in ratings.T:
        is_rated = ~np.isnan(rater)
        drawn = w[is_rated]
        _, p, q, u, v, c = _moments(judge[is_rated], rater[is_rated], drawn)
        is_defined = (drawn > 0).sum(axis=0) >= 2
        kappas.append(np.where(is_defined, _ratio(2 * c, u + v + (p - q) ** 2), np.nan))
    table = np.stack(kappas)
    known = ~np.isnan(table)
    return _ratio(np.where(known, table, 0.0).sum(axis=0), known.sum(axis=0).astype(np.float64))


def _distance(judge: Values, ratings: Table, w: Weights) -> Values:
    """The mean distance of the judge from the raters' mean."""
    return _ratio(np.abs(judge - _mean_rating(ratings)) @ w, w.sum(axis=0))


def _spearman(judge: Values, ratings: Table, w: Weights) -> Values:
    """The correlation of ranks with the raters' mean; a resample ranks its own answers."""
    mean = _mean_rating(ratings)
    first, second = _ranks(judge, w), _ranks(mean, w)
    safe = np.maximum(w.sum(axis=0), 1)
    first = first - (w * first).sum(axis=0) / safe
    second = second - (w * second).sum(axis=0) / safe
    below = np.sqrt((w * first**2).sum(axis=0) * (w * second**2).sum(axis=0))
    return _ratio((w * first * second).sum(axis=0), below)


def _ranks(values: Values, w: Weights) -> Weights:
    """The middle rank of each answer's value in each resample; shape of `w`."""
    distinct, inverse = np.unique(values, return_inverse=True)
    counts = np.zeros((len(distinct), w.shape[1]))
    np.add.at(counts, inverse, w)
    middle: Weights = np.cumsum(counts, axis=0) - counts / 2
    return middle[inverse]


_MEASURES: dict[AgreementMeasure, Callable[[Values, Table, Weights], Values]] = {
    AgreementMeasure.ICC: _intraclass,
    AgreementMeasure.SPEARMAN: _spearman,
    AgreementMeasure.KAPPA: _kappa,
    AgreementMeasure.DISTANCE: _distance,
}
