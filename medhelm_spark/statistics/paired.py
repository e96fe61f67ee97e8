"""Paired difference of two models on the same instances: one test, and an interval to match it.

Values of 0 and 1 are tested by McNemar's mid-p test and given Bonett and Price's interval; other
values on a scale with two ends by the score test of a bounded mean and its interval; values whose
scale has an open end, and all that are clustered, by t. Differences that are all equal and not 0
are tested by their sign. A difference has an interval without 0 exactly where its p-value is below
5 % (tests `test_test_and_interval_never_disagree`, `test_score_test_and_interval_never_disagree`),
but equal differences on an open scale have no interval.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import SHARE, Interval, IntervalMethod, MetricInfo
from medhelm_spark.statistics.clusters import ClusterTotals, cluster_totals
from medhelm_spark.statistics.intervals import bounded_score, effective_answers
from medhelm_spark.statistics.mcnemar import (
    PLANNED_DISCORDANT,
    difference_interval,
    mcnemar_mid_p,
    mid_p_detectable,
)
from medhelm_spark.statistics.student import (
    LEVEL,
    detectable_errors,
    quantile,
    spread_degrees_of_freedom,
    two_sided,
)

Values = NDArray[np.float64]
"""A value per instance, NaN where it has none; shape (instances,)."""

Labels = NDArray[np.int64]
"""The cluster of each instance; shape (instances,)."""


class PairedTest(StrEnum):
    """How a p-value was made."""

    MCNEMAR = "mcnemar_mid_p"
    SCORE = "paired_score"
    T = "paired_t"
    CLUSTERED_T = "clustered_t"
    SIGN = "sign_test"
    NONE = "none"

    @property
    def label(self) -> str:
        """What it is called below a table."""
        return _LABELS[self]


_LABELS = {
    PairedTest.MCNEMAR: "McNemar's mid-p test",
    PairedTest.SCORE: "score test of the mean difference on its scale",
    PairedTest.T: "paired t test",
    PairedTest.CLUSTERED_T: "t test with a cluster-robust standard error",
    PairedTest.SIGN: "sign test of equal differences",
    PairedTest.NONE: "no test",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """First model minus second, over the `n` instances on which both have a value.

    `num_dropped` instances lack one of the two values. `num_higher`, `num_equal` and `num_lower`
    count instances by which value is the higher one; None of a stat of the whole run. `p_value` is
    two-sided, by `test`; `ci_low` and `ci_high` are the ends of the 95 % interval, cut at the ends
    of the scale. Both are None for no pair, and for a single one or a single cluster.

    `effect_size` is the mean difference divided by the standard deviation of the differences
    (Cohen's d_z), None where they have none. `detectable` is the difference that is found with a
    power of 80 %: of 0/1 values by McNemar's mid-p test and the share of pairs that disagree
    (PLANNED_DISCORDANT where none does), of others by t and the standard error; None where no
    difference is found so often.
    """

    n: int
    num_dropped: int
    mean_difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_method: IntervalMethod = IntervalMethod.NONE
    p_value: float | None = None
    test: PairedTest = PairedTest.NONE
    num_higher: int | None = None
    num_equal: int | None = None
    num_lower: int | None = None
    effect_size: float | None = None
    detectable: float | None = None
    num_clusters: int | None = None


def paired_difference(
    first: Values,
    second: Values,
    scale: MetricInfo = SHARE,
    clusters: Labels | None = None,
    *,
    is_of_runs: bool = False,
) -> PairedDifference:
    """The paired difference of values on the same instances, in the same order.

    With `clusters` the standard error is cluster-robust. Where the scale has `clips_mean` the two
    means are brought onto it, as a board's are, before they are compared. `is_of_runs`: the values
    are pseudo-values of a stat of whole runs, which lie off the scale and are no wins.
    """
    both = ~(np.isnan(first) | np.isnan(second))
    has_any = ~(np.isnan(first) & np.isnan(second))
    ours, theirs = first[both], second[both]
    n = len(ours)
    dropped = int(has_any.sum()) - n
    if n == 0:
        return PairedDifference(n=0, num_dropped=dropped)
    # On an instance the higher value wins, whatever the mean's move onto the scale does to both.
    counts = (ours > theirs).sum(), (ours == theirs).sum(), (ours < theirs).sum()
    higher, equal, lower = map(int, counts)
    if scale.clips_mean:
        ours, theirs = _onto_scale(ours, scale), _onto_scale(theirs, scale)
    differences = ours - theirs
    totals = cluster_totals(clusters[both], differences) if clusters is not None else None
    joint = None if totals is None or totals.are_single else totals
    is_binary = scale.is_share and not is_of_runs and bool(np.isin([ours, theirs], (0, 1)).all())
    mean = math.fsum(differences) / n
    units = joint or ClusterTotals(np.ones(n), differences, differences**2)
    spread = float(differences.std(ddof=1)) if n > 1 else 0.0
    if spread <= 1e-12 * abs(mean):  # equal differences, with rounding errors
        spread = 0.0
    width = _width(scale)
    if joint is None and is_binary:
        found = _by_mcnemar(higher, lower, n)
        detected = mid_p_detectable(n, (higher + lower) / n or PLANNED_DISCORDANT)
    else:
        is_bounded = joint is None and not (is_of_runs or scale.clips_mean) and width is not None
        found = _tested(
            units, mean, spread, width, is_bounded=is_bounded, is_joint=joint is not None
        )
        error = units.standard_error()
        df = _degrees_of_freedom(units, is_bounded) if error and spread else 0.0
        detected = error * detectable_errors(df) if error and df else None
    p_value, interval, test = found
    interval = interval and _cut(interval, width)
    return PairedDifference(
        n=n,
        num_dropped=dropped,
        mean_difference=mean,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        ci_method=interval.method if interval else IntervalMethod.NONE,
        p_value=p_value,
        test=test,
        num_higher=None if is_of_runs else higher,
        num_equal=None if is_of_runs else equal,
        num_lower=None if is_of_runs else lower,
        effect_size=mean / spread if spread and not is_of_runs else None,
        detectable=detected,
        num_clusters=len(totals) if totals else None,
    )


_Found = tuple[float | None, Interval | None, PairedTest]
"""p-value, interval and test of a mean difference."""


def _width(scale: MetricInfo) -> float | None:
    """How far apart two means can be; None on a scale with an open end."""
    if scale.minimum is None or scale.maximum is None:
        return None
    return scale.maximum - scale.minimum


def _onto_scale(values: Values, scale: MetricInfo) -> Values:
    """The values, moved together so that their mean is on the scale."""
    mean = float(values.mean())
    return values + (float(np.clip(mean, scale.minimum, scale.maximum)) - mean)


def _cut(interval: Interval, width: float | None) -> Interval:
    """The interval of a difference, cut at the ends of the scale of differences."""
    if width is None:
        return interval
    low, high = max(-width, min(interval.low, width)), min(width, max(interval.high, -width))
    return Interval(low=low, high=high, method=interval.method)


def _by_mcnemar(higher: int, lower: int, n: int) -> _Found:
    p_value = mcnemar_mid_p(higher, lower)
    return p_value, difference_interval(higher, lower, n, p_value), PairedTest.MCNEMAR


def _tested(
    units: ClusterTotals,
    mean: float,
    spread: float,
    width: float | None,
    *,
    is_bounded: bool,
    is_joint: bool,
) -> _Found:
    """The test of a mean difference that is no share of 0/1 pairs; `units` are its tries."""
    if len(units) < 2:
        return None, None, PairedTest.NONE
    error, n = units.standard_error(), len(units)
    by_t = PairedTest.CLUSTERED_T if is_joint else PairedTest.T
    if not error or not spread:
        at_mean = None if width is None else bounded_score(mean, 0.0, n, -width, width)
        if not np.any(units.totals):
            return 1.0, at_mean, PairedTest.SCORE if is_bounded else by_t
        return _by_sign(n, mean, at_mean)
    df = _degrees_of_freedom(units, is_bounded)
    if is_bounded and width is not None:
        variance = spread**2 * (n - 1) / n
        answers = effective_answers(mean, variance, n, -width, width)
        # The score statistic of the middle of the scale of differences, whose variance is 1/4.
        t = mean / width * math.sqrt(answers)
        interval = bounded_score(mean, variance, n, -width, width, degrees_of_freedom=df)
        return two_sided(t, df), interval, PairedTest.SCORE
    half = quantile(df) * error
    method = IntervalMethod.CLUSTERED_T if is_joint else IntervalMethod.T
    interval = Interval(low=mean - half, high=mean + half, method=method)
    return two_sided(mean / error, df), interval, by_t


def _degrees_of_freedom(units: ClusterTotals, is_bounded: bool) -> float:
    """Those of the standard error; `units` are single differences where `is_bounded`."""
    return spread_degrees_of_freedom(units.totals) if is_bounded else units.degrees_of_freedom


def _by_sign(n: int, mean: float, at_mean: Interval | None) -> _Found:
    """The sign test of n differences that all equal `mean`, not 0.

    The end of the interval next to 0 is the difference itself where the test finds it, as in the
    interval of the sign test, and 0 at most where it does not.
    """
    p_value = min(1.0, 2.0 * 0.5**n)
    if at_mean is None:
        return p_value, None, PairedTest.SIGN
    near = mean if p_value < LEVEL else 0.0
    low, high = at_mean.low, at_mean.high
    if (low > 0 or high < 0) != (p_value < LEVEL):
        low, high = (near, high) if mean > 0 else (low, near)
    return p_value, Interval(low=low, high=high, method=at_mean.method), PairedTest.SIGN
