"""Paired differences of two models: one test each, and an interval that agrees with it."""

import math

import numpy as np
import pytest
from scipy import stats

from medhelm_spark.domain.stats import UNBOUNDED, MetricInfo
from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.mcnemar import planned_detectable
from medhelm_spark.statistics.paired import PairedDifference, PairedTest, paired_difference
from tests.unit.statistics.cells import values

POINTS = MetricInfo(name="points", display_name="Points", clips_mean=True)
RATING = MetricInfo(name="rating", display_name="Rating", minimum=1.0, maximum=5.0)
NAN = math.nan


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
    expected = stats.ttest_rel(first, second)
    assert result.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    ends = expected.confidence_interval()
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
    totals = cluster_totals(clusters, first - second)
    t, df = totals.mean / totals.standard_error(), totals.degrees_of_freedom
    half = stats.t.ppf(0.975, df) * totals.standard_error()
    assert result.num_clusters == len(np.unique(clusters))
    assert result.test is PairedTest.CLUSTERED_T
    assert result.p_value == pytest.approx(2 * stats.t.sf(abs(t), df), rel=1e-9)
    assert (result.ci_low, result.ci_high) == pytest.approx(
        (totals.mean - half, totals.mean + half)
    )


def test_clusters_of_one_answer_change_nothing():
    first, second = values((1, 0, 9), (0, 1, 2), (1, 1, 30))
    alone = paired_difference(first, second, clusters=np.arange(41))
    plain = paired_difference(first, second)
    assert (alone.p_value, alone.ci_low, alone.test) == (plain.p_value, plain.ci_low, plain.test)


def test_one_cluster_tells_nothing_of_others():
    result = paired_difference(
        np.array([1.0, 1, 1]), np.array([0.0, 0, 1]), clusters=np.array([7, 7, 7])
    )
    assert result.mean_difference == pytest.approx(2 / 3)
    assert (result.p_value, result.ci_low) == (None, None)
    assert result.test is PairedTest.NONE


def test_a_difference_that_one_of_ten_clusters_holds_is_not_told_apart():
    """The standard deviation of the clusters, uneven as they are, and t of 9 give p = .018."""
    clusters = np.repeat(np.arange(10), [100] + [5] * 9)
    first, second = np.ones(145), np.ones(145)
    second[:40] = 0.0
    result = paired_difference(first, second, clusters=clusters)
    assert result.mean_difference == pytest.approx(40 / 145)
    assert result.p_value > 0.1
    assert result.ci_low < 0 < result.ci_high
    spread = np.where(np.arange(145) % 4 == 0, 0.0, 1.0)  # a quarter of each cluster
    assert paired_difference(first, spread, clusters=clusters).p_value < 0.01


def test_order_of_instances_makes_no_difference():
    first = np.array([(i * 7 % 11) / 10 for i in range(50)])
    second = np.array([(i * 5 % 13) / 10 for i in range(50)])
    turned = paired_difference(first[::-1].copy(), second[::-1].copy())
    result = paired_difference(first, second)
    assert result.mean_difference == turned.mean_difference
    assert (result.p_value, result.ci_low) == pytest.approx((turned.p_value, turned.ci_low))


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


def test_differences_that_are_all_equal_are_tested_by_their_sign():
    few = paired_difference(*values((4.0, 3.0, 5)), RATING)
    assert (few.mean_difference, few.p_value, few.test) == (1.0, 2 * 0.5**5, PairedTest.SIGN)
    assert few.ci_low <= 0 < few.ci_high <= 4
    many = paired_difference(*values((0.51, 0.5, 20)))
    assert many.p_value == pytest.approx(2e-6, rel=0.05)
    assert 0 < many.ci_low <= 0.01 + 1e-12
    open_ended = paired_difference(*values((4.0, 3.0, 20)), UNBOUNDED)
    assert (open_ended.p_value, open_ended.ci_low) == (many.p_value, None)
    clusters = np.repeat(np.arange(4), 5)
    joint = paired_difference(*values((4.0, 3.0, 20)), RATING, clusters)
    assert (joint.p_value, joint.test) == (0.125, PairedTest.SIGN)


def test_few_of_the_rare_losses_make_no_better_model():
    """A mean of 0 loses 0.9 in 4 of 200 answers; a sample with one of these is no better model."""
    first = np.array([0.9] * 163 + [1.0] * 36 + [0.0])
    result = paired_difference(first, np.full(200, 0.9))
    assert result.test is PairedTest.SCORE
    assert result.mean_difference == pytest.approx(0.0135)
    assert 0.05 < result.p_value < 0.2  # 0.012 by t with 199 degrees of freedom
    assert result.ci_low < 0 < result.ci_high


def test_rare_disasters_make_no_better_model():
    """Equal means: one in fifty answers is a disaster, and all others a little better."""
    generator, found = np.random.default_rng(6), []
    for _ in range(300):
        is_disaster = generator.random(80) < 1 / 50
        first = np.where(is_disaster, 1.0, 4.0 + generator.choice([0.0, 0.1225], 80))
        result = paired_difference(first, np.full(80, 4.0), RATING)
        found.append(result.p_value < 0.05 and result.mean_difference > 0)
    assert np.mean(found) <= 0.05


@pytest.mark.parametrize("scale", [RATING, UNBOUNDED])
def test_score_test_and_interval_never_disagree(scale):
    generator = np.random.default_rng(7)
    for n in (3, 10, 40, 200):
        for shift in np.linspace(0, 1.5, 12):
            first = np.clip(3 + shift + generator.normal(size=n), 1, 5)
            result = paired_difference(first, np.clip(3 + generator.normal(size=n), 1, 5), scale)
            assert (result.ci_low > 0 or result.ci_high < 0) == (result.p_value < 0.05)
            assert result.ci_low <= result.mean_difference <= result.ci_high


def test_intervals_end_where_the_scale_does():
    first, second = np.array([1.0, 1.0, 1.0, 0.9]), np.array([0.0, 0.0, 0.0, 0.4])
    clusters = np.array([0, 0, 1, 2])
    result = paired_difference(first, second, clusters=clusters)
    assert -1 <= result.ci_low <= result.ci_high <= 1


def test_means_are_compared_on_the_scale_that_a_board_shows():
    below = paired_difference(np.array([-1.0, -2.0, -0.5]), np.array([-3.0, -4.0, -2.0]), POINTS)
    assert (below.mean_difference, below.p_value) == pytest.approx((0.0, 1.0))
    first, second = np.array([0.4, 0.2, 0.6]), np.array([-3.0, -4.0, -2.0])
    assert paired_difference(first, second, POINTS).mean_difference == pytest.approx(0.4)


def test_wins_are_counted_before_means_are_brought_onto_the_scale():
    """Two means below 0 are moved by 1.3 and by 0.325, which would part the two ties."""
    first, second = np.array([-6.0, 0.2, 0.1, 0.5]), np.array([-2.0, 0.2, 0.1, 0.4])
    result = paired_difference(first, second, POINTS)
    assert (result.num_higher, result.num_equal, result.num_lower) == (1, 2, 1)
    assert result.mean_difference == pytest.approx(0.0)


def test_ratings_that_happen_to_be_ones_get_no_mcnemar():
    assert paired_difference(*values((1.0, 1.0, 10))).test is PairedTest.MCNEMAR
    assert paired_difference(*values((1.0, 1.0, 10)), RATING).test is PairedTest.SCORE


@pytest.mark.parametrize(
    ("n", "expected"), [(40, 0.181), (50, 0.164), (100, 0.121), (250, 0.078), (5000, 0.018)]
)
def test_what_pairs_can_detect(n, expected):
    assert planned_detectable(n) == pytest.approx(expected, abs=0.0005)
    tenth = n // 10  # a fifth of the pairs disagree, as often for either model
    seen = paired_difference(*values((1, 0, tenth), (0, 1, tenth), (1, 1, n - 2 * tenth)))
    assert seen.detectable == pytest.approx(planned_detectable(n))
    assert paired_difference(*values((1, 1, n))).detectable == pytest.approx(planned_detectable(n))


def test_what_ratings_can_detect_does_not_grow_with_their_difference():
    generator = np.random.default_rng(9)
    noise = generator.normal(size=60)
    near, far = (paired_difference(noise + shift, np.zeros(60), UNBOUNDED) for shift in (0.0, 2.0))
    assert far.detectable == pytest.approx(near.detectable)
    power = 1 - stats.nct.cdf(stats.t.ppf(0.975, 59), 59, far.detectable / stats.sem(noise))
    assert power == pytest.approx(0.8, abs=1e-3)
