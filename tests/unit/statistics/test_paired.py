"""Paired differences of two models: one test each, and an interval that agrees with it."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar

from medhelm_spark.domain.stats import UNBOUNDED, MetricInfo
from medhelm_spark.statistics.paired import (
    PairedDifference,
    PairedTest,
    bonett_price,
    bootstrapped_difference,
    mcnemar_mid_p,
    paired_difference,
    planned_detectable,
    share_interval,
)
from tests.unit.statistics.cells import values

RATING = MetricInfo(name="rating", display_name="Rating", minimum=1.0, maximum=5.0)
NAN = math.nan


@pytest.mark.parametrize(("first", "second"), [(1, 7), (7, 1), (0, 5), (5, 15), (40, 61), (0, 1)])
def test_mid_p_is_the_exact_test_less_half_of_what_was_seen(first, second):
    exact = mcnemar([[0, first], [second, 0]], exact=True).pvalue
    seen = stats.binom.pmf(first, first + second, 0.5)
    assert mcnemar_mid_p(first, second) == pytest.approx(exact - seen, rel=1e-12)


def test_equal_numbers_of_either_kind_tell_nothing():
    assert mcnemar_mid_p(0, 0) == mcnemar_mid_p(3, 3) == 1.0


def test_mcnemar_of_very_many_pairs_neither_overflows_nor_vanishes():
    # 200,000 discordant pairs, one standard deviation (223.6) off: about 2 (1 - Phi(1)) = 0.317.
    assert mcnemar_mid_p(100_000 - 224, 100_000 + 224) == pytest.approx(0.3168, abs=0.001)
    assert mcnemar_mid_p(0, 100_000) == 0.0


def test_bonett_price_by_hand():
    # p12 = 13/102, p21 = 6/102; se = sqrt((19/102 - (7/102)^2) / 102) = 0.042189.
    low, high = bonett_price(12, 5, 100)
    assert (low, high) == pytest.approx((-0.014063, 0.151317), abs=1e-5)


@pytest.mark.parametrize("n", [20, 21, 30, 50, 100, 300, 1000])
def test_test_and_interval_never_disagree(n):
    for discordant in range(min(n, 60) + 1):
        for first in range(discordant + 1):
            second = discordant - first
            p_value = mcnemar_mid_p(first, second)
            held = share_interval(first, second, n, p_value)
            assert (held.low > 0 or held.high < 0) == (p_value < 0.05), (n, first, second)
            assert held.low <= (first - second) / n <= held.high


def test_binary_values():
    first = np.array([1, 1, 0, 1, NAN, 1, NAN])
    second = np.array([1, 0, 0, 0, 1, NAN, NAN])
    result = paired_difference(first, second)
    assert (result.n, result.num_dropped, result.mean_difference) == (4, 2, 0.5)
    assert (result.num_higher, result.num_equal, result.num_lower) == (2, 2, 0)
    assert result.p_value == 0.25  # two discordant pairs, both for the first: 2 * (1/4) / 2
    assert result.test is PairedTest.MCNEMAR
    assert result.ci_method == "bonett_price"
    assert result.ci_low < 0.5 < result.ci_high <= 1


def test_other_values_are_tested_by_t():
    generator = np.random.default_rng(3)
    first, second = generator.random(80), generator.random(80)
    result = paired_difference(first, second, UNBOUNDED)
    wanted = stats.ttest_rel(first, second)
    assert result.p_value == pytest.approx(wanted.pvalue, rel=1e-9)
    ends = wanted.confidence_interval()
    assert (result.ci_low, result.ci_high) == pytest.approx((ends.low, ends.high), rel=1e-9)
    assert (result.ci_method, result.test) == ("t", "paired_t")
    differences = first - second
    assert result.effect_size == pytest.approx(differences.mean() / differences.std(ddof=1))


@pytest.mark.parametrize("groups", [12, 60])
def test_clustered_values_are_tested_by_a_robust_t(groups):
    generator = np.random.default_rng(4)
    clusters = generator.integers(0, groups, 300)
    shared = generator.normal(size=groups)[clusters]
    first = (shared + generator.normal(size=300) > 0).astype(float)
    second = (generator.normal(size=300) > 0.3).astype(float)
    result = paired_difference(first, second, clusters=clusters)
    few = {"use_t": True} if groups < 30 else {"use_t": False}
    fitted = OLS(first - second, np.ones(300)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "df_correction": True}, **few
    )
    assert result.num_clusters == len(np.unique(clusters))
    assert result.test is PairedTest.CLUSTERED_T
    assert result.p_value == pytest.approx(fitted.pvalues[0], rel=1e-6)
    assert (result.ci_low, result.ci_high) == pytest.approx(tuple(fitted.conf_int()[0]), rel=1e-6)


def test_one_cluster_tells_nothing_of_others():
    result = paired_difference(
        np.array([1.0, 1, 1]), np.array([0.0, 0, 1]), clusters=np.array([7, 7, 7])
    )
    assert result.mean_difference == pytest.approx(2 / 3)
    assert (result.p_value, result.ci_low) == (None, None)
    assert result.test is PairedTest.NONE


def test_order_of_instances_makes_no_difference():
    first = np.array([(i * 7 % 11) / 10 for i in range(50)])
    second = np.array([(i * 5 % 13) / 10 for i in range(50)])
    turned = paired_difference(first[::-1].copy(), second[::-1].copy())
    held = paired_difference(first, second)
    assert held.mean_difference == turned.mean_difference
    assert (held.p_value, held.ci_low) == pytest.approx((turned.p_value, turned.ci_low))


def test_no_pair_and_one_pair():
    nothing = paired_difference(np.array([1.0, NAN]), np.array([NAN, 1.0]))
    assert nothing == PairedDifference(n=0, num_dropped=2)
    single = paired_difference(np.array([0.4]), np.array([0.3]))
    assert single.mean_difference == pytest.approx(0.1)
    assert (single.n, single.p_value, single.ci_low, single.effect_size) == (1, None, None, None)


def test_equal_pairs_are_no_certainty():
    equal = paired_difference(*values((3.0, 3.0, 4)), RATING)
    assert (equal.mean_difference, equal.p_value, equal.ci_method) == (0.0, 1.0, "bounded_score")
    assert equal.ci_low == pytest.approx(-equal.ci_high)
    assert 0.5 < equal.ci_high < 4
    assert paired_difference(*values((3.0, 3.0, 4)), UNBOUNDED).ci_method == "none"


def test_differences_that_are_all_equal_are_not_tested():
    same = paired_difference(*values((4.0, 3.0, 5)), RATING)
    assert (same.mean_difference, same.p_value, same.ci_low) == (1.0, None, None)


def test_ratings_that_happen_to_be_ones_get_no_mcnemar():
    assert paired_difference(*values((1.0, 1.0, 10))).test is PairedTest.MCNEMAR
    assert paired_difference(*values((1.0, 1.0, 10)), RATING).test is PairedTest.T


@pytest.mark.parametrize(("n", "wanted"), [(100, 0.125), (250, 0.079), (1000, 0.040)])
def test_what_pairs_can_detect(n, wanted):
    assert planned_detectable(n) == pytest.approx(wanted, abs=0.0005)
    tenth = n // 10  # a fifth of the pairs disagree, as often for either model
    seen = paired_difference(*values((1, 0, tenth), (0, 1, tenth), (1, 1, n - 2 * tenth)))
    assert seen.detectable == pytest.approx(planned_detectable(n))
    assert paired_difference(*values((1, 1, n))).detectable == pytest.approx(planned_detectable(n))


@pytest.mark.parametrize("beyond", [0, 5, 23, 24, 25, 26, 300, 500, 976, 1000])
def test_a_bootstrap_has_an_interval_without_0_where_its_p_value_is_small(beyond):
    draws = np.concatenate([np.linspace(-1, -0.01, beyond), np.linspace(0.01, 1, 1000 - beyond)])
    held = bootstrapped_difference(0.1, draws, 50, 3, None)
    assert (held.ci_low > 0 or held.ci_high < 0) == (held.p_value < 0.05)
    assert held.p_value >= 2 / 1001
    assert (held.n, held.num_dropped, held.ci_method) == (50, 3, "bootstrap")
