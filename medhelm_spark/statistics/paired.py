"""Paired difference of two models on the same instances: one test, and an interval to match it.

Values of 0 and 1 are tested by McNemar's mid-p test and given Bonett and Price's interval; any
other, and all that are clustered, by t. A difference has an interval without 0 exactly where its
p-value is below 5 %.
"""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import SHARE, Interval, IntervalMethod, MetricInfo
from medhelm_spark.statistics.clusters import ClusterTotals, cluster_totals, degrees_of_freedom
from medhelm_spark.statistics.intervals import Z95, bounded_score
from medhelm_spark.statistics.student import LEVEL, detectable, quantile, two_sided

Values = NDArray[np.float64]
"""A value per instance, NaN where it has none; shape (instances,)."""

Labels = NDArray[np.int64]
"""The cluster of each instance; shape (instances,)."""

PLANNED_DISCORDANT = 0.2
"""The share of pairs that disagree, where nothing tells it."""


class PairedTest(StrEnum):
    """How a p-value was made."""

    MCNEMAR = "mcnemar_mid_p"
    T = "paired_t"
    CLUSTERED_T = "clustered_t"
    BOOTSTRAP = "paired_bootstrap"
    NONE = "none"

    @property
    def label(self) -> str:
        """What it is called below a table."""
        return _LABELS[self]


_LABELS = {
    PairedTest.MCNEMAR: "McNemar's mid-p test",
    PairedTest.T: "paired t test",
    PairedTest.CLUSTERED_T: "t test with a cluster-robust standard error",
    PairedTest.BOOTSTRAP: "paired bootstrap",
    PairedTest.NONE: "no test",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """First model minus second, over the `n` instances on which both have a value.

    `num_dropped` instances lack one of the two values. `num_higher`, `num_equal` and `num_lower`
    count instances by which value is the higher one; None of a stat of the whole run. `p_value` is
    two-sided, by `test`; `ci_low` and `ci_high` are the ends of the 95 % interval. Both are None
    for no pair, for a single one or a single cluster, and for equal differences that are not 0.

    `effect_size` is the mean difference divided by the standard deviation of the differences
    (Cohen's d_z), None where they have none. `detectable` is the difference that this test would
    find with a power of 80 %, by the spread that the pairs have if the models are equally good; of
    0/1 values that all agree, by 20 % of pairs that do not.
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


def mcnemar_mid_p(only_first: int, only_second: int) -> float:
    """Two-sided mid-p McNemar test (Fagerland, Lydersen and Laake 2013).

    A binomial tail with p = 1/2 over the discordant pairs, in which the pairs as they are count
    half.

    >>> round(mcnemar_mid_p(1, 7), 7)
    0.0390625
    """
    from scipy import special

    n, fewer = only_first + only_second, min(only_first, only_second)
    if only_first == only_second:
        return 1.0
    here = special.bdtr(fewer, n, 0.5) - (special.bdtr(fewer - 1, n, 0.5) if fewer else 0.0)
    return float(2 * special.bdtr(fewer, n, 0.5) - here)


def bonett_price(only_first: int, only_second: int, n: int) -> tuple[float, float]:
    """Interval of a difference of paired proportions (Bonett and Price 2012), n pairs in all.

    A Wald interval after one pair is added to either kind of discordance.
    """
    first, second = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    difference = first - second
    half = Z95 * math.sqrt((first + second - difference * difference) / (n + 2))
    return max(-1.0, difference - half), min(1.0, difference + half)


def _mid_p_share(successes: int, n: int) -> tuple[float, float]:
    """The mid-p interval of a proportion: the shares that a one-sided mid-p of 2.5 % refuses."""
    from scipy import special

    def lower(k: int) -> float:
        """The share at which k or more of n have a mid-p of 2.5 %."""
        if k == 0:
            return 0.0
        low, high = 0.0, k / n
        for _ in range(60):
            share = (low + high) / 2
            tail = special.bdtrc(k - 1, n, share) / 2 + special.bdtrc(k, n, share) / 2
            low, high = (share, high) if tail < LEVEL / 2 else (low, share)
        return low

    return lower(successes), 1 - lower(n - successes)


def share_interval(only_first: int, only_second: int, n: int, p_value: float) -> Interval:
    """The interval of a difference of paired proportions that agrees with the mid-p test on 0.

    Bonett and Price's; where it has 0 and the test has not, or the other way round, its end next
    to 0 is that of the interval which inverts the test: of the share q of discordant pairs that
    the first model wins, as (2 q - 1) times the share of discordant pairs.
    """
    low, high = bonett_price(only_first, only_second, n)
    if (low > 0 or high < 0) == (p_value < LEVEL):
        return Interval(low=low, high=high, method=IntervalMethod.BONETT_PRICE)
    discordant = only_first + only_second
    ends = _mid_p_share(only_first, discordant)
    below, above = ((2 * share - 1) * discordant / n for share in ends)
    if only_first > only_second:
        low = below
    else:
        high = above
    return Interval(low=low, high=high, method=IntervalMethod.CONDITIONAL)


def paired_difference(
    first: Values, second: Values, scale: MetricInfo = SHARE, clusters: Labels | None = None
) -> PairedDifference:
    """The paired difference of values on the same instances, in the same order.

    With `clusters` the standard error is cluster-robust, with t for few clusters.
    """
    both = ~(np.isnan(first) | np.isnan(second))
    has_any = ~(np.isnan(first) & np.isnan(second))
    ours, theirs = first[both], second[both]
    differences = ours - theirs
    n = len(differences)
    dropped = int(has_any.sum()) - n
    if n == 0:
        return PairedDifference(n=0, num_dropped=dropped)
    counts = (differences > 0).sum(), (differences == 0).sum(), (differences < 0).sum()
    higher, equal, lower = map(int, counts)
    held = cluster_totals(clusters[both], differences) if clusters is not None else None
    of = held or ClusterTotals(np.ones(n), differences)
    is_binary = scale.is_share and bool(np.isin([ours, theirs], (0, 1)).all())
    p_value: float | None
    interval: Interval | None
    if held is None and is_binary:
        p_value = mcnemar_mid_p(higher, lower)
        interval, test = share_interval(higher, lower, n, p_value), PairedTest.MCNEMAR
    else:
        df = degrees_of_freedom(len(of)) if held else n - 1
        p_value, interval = _by_t(of, df, scale, is_clustered=held is not None)
        test = PairedTest.CLUSTERED_T if held else PairedTest.T
    null_error = of.standard_error(around=0.0)
    if is_binary and not higher + lower:
        null_error = math.sqrt(PLANNED_DISCORDANT / n)
    spread = float(differences.std(ddof=1)) if n > 1 else 0.0
    mean = math.fsum(differences) / n
    return PairedDifference(
        n=n,
        num_dropped=dropped,
        mean_difference=mean,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        ci_method=interval.method if interval else IntervalMethod.NONE,
        p_value=p_value,
        test=test if p_value is not None else PairedTest.NONE,
        num_higher=higher,
        num_equal=equal,
        num_lower=lower,
        effect_size=mean / spread if spread else None,
        detectable=detectable(null_error) if null_error else None,
        num_clusters=len(held) if held else None,
    )


def _by_t(
    differences: ClusterTotals, df: float, scale: MetricInfo, *, is_clustered: bool
) -> tuple[float | None, Interval | None]:
    """p-value and interval of a mean difference by t, df degrees of freedom.

    Where no pair differs p is 1, and the interval is that of values which are all 0 on the scale of
    differences; None where that is open.
    """
    error, mean = differences.standard_error(), differences.mean
    if error is None:
        return None, None
    if error == 0 or not np.any(differences.totals):
        if mean != 0:
            return None, None
        if scale.minimum is None or scale.maximum is None:
            return 1.0, None
        width = scale.maximum - scale.minimum
        return 1.0, bounded_score(0.0, 0.0, len(differences), -width, width)
    half = quantile(df) * error
    method = IntervalMethod.CLUSTERED_T if is_clustered else IntervalMethod.T
    interval = Interval(low=mean - half, high=mean + half, method=method)
    return two_sided(mean / error, df), interval


def bootstrapped_difference(
    mean_difference: float, draws: Values, n: int, num_dropped: int, num_clusters: int | None
) -> PairedDifference:
    """The paired difference of a stat of whole runs, from differences of resampled stats.

    The p-value is twice the share of resamples on the other side of 0, both counted with one more
    (Davison and Hinkley 1997); the interval's ends are the resamples of the order at which it
    crosses 5 %. `draws` has shape (resamples,).
    """
    ordered, size = np.sort(draws), len(draws)
    beyond = 1 + min(int((draws <= 0).sum()), int((draws >= 0).sum()))
    tail = math.ceil(LEVEL / 2 * (size + 1)) - 1  # so many on the other side are refused
    error = float(draws.std())
    return PairedDifference(
        n=n,
        num_dropped=num_dropped,
        mean_difference=mean_difference,
        ci_low=float(ordered[tail - 1]),
        ci_high=float(ordered[size - tail]),
        ci_method=IntervalMethod.BOOTSTRAP,
        p_value=min(1.0, 2 * beyond / (size + 1)),
        test=PairedTest.BOOTSTRAP,
        detectable=detectable(error) if error else None,
        num_clusters=num_clusters,
    )


def planned_detectable(n: int) -> float:
    """The difference of two shares that n pairs find with a power of 80 %, 20 % of them discordant.

    >>> [round(planned_detectable(n), 3) for n in (100, 250, 1000)]
    [0.125, 0.079, 0.04]
    """
    return detectable(math.sqrt(PLANNED_DISCORDANT / n))
