"""Means of answers that belong together."""

import json

import numpy as np
import pytest
from statsmodels.regression.linear_model import OLS

from benchmarks.uneven_clusters import uneven_clusters
from medhelm_spark.domain.stats import SHARE, UNBOUNDED
from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.intervals import clustered, wilson
from medhelm_spark.statistics.student import quantile, two_sided
from medhelm_spark.statistics.summary import summarize

YES = np.array([1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1.0])
SIX = np.repeat(np.arange(6), [10, 2, 3, 1, 2, 2])
GIANT = np.repeat(np.arange(10), [100] + [5] * 9)


def test_standard_error_and_degrees_of_freedom_are_clubsandwichs():
    """coef_test(lm(y ~ 1), vcovCR(..., type = "CR2"), "Satterthwaite") of clubSandwich 0.5.8."""
    totals = cluster_totals(SIX, YES)
    assert totals.standard_error() == pytest.approx(0.073085000299, rel=1e-10)
    assert totals.degrees_of_freedom == pytest.approx(2.700836172190, rel=1e-10)
    assert two_sided(
        totals.mean / totals.standard_error(), totals.degrees_of_freedom
    ) == pytest.approx(0.004473606511, rel=1e-8)
    giant = cluster_totals(GIANT, np.arange(7, 7 * 146, 7) % 11 / 10)
    assert giant.standard_error() == pytest.approx(0.007508433500, rel=1e-9)
    assert giant.degrees_of_freedom == pytest.approx(1.921568627451, rel=1e-10)


def test_clusters_of_equal_size_have_the_plain_error_of_their_means():
    data = np.random.default_rng(1).random(500)
    totals = cluster_totals(np.repeat(np.arange(50), 10), data)
    means = data.reshape(50, 10).mean(axis=1)
    assert totals.mean == pytest.approx(data.mean())
    assert totals.standard_error() == pytest.approx(means.std(ddof=1) / np.sqrt(50), rel=1e-10)
    assert totals.degrees_of_freedom == pytest.approx(49)
    assert totals.effective == pytest.approx(50)


def test_clusters_of_any_sizes_hold_the_true_mean():
    for sizes in ([100] + [5] * 9, [300] + [5] * 19, [40, 32, 26, 20, 16, 13, 11, 8, 7, 5]):
        simulation = uneven_clusters(np.array(sizes), repeats=400, seed=3)
        assert simulation.coverage >= 0.93 - 0.015, sizes
        assert simulation.false_differences <= 0.07 + 0.025, sizes


def test_every_answer_alone_is_the_plain_standard_error():
    data = np.random.default_rng(2).random(90)
    totals = cluster_totals(np.arange(90), data)
    assert totals.standard_error() == pytest.approx(data.std(ddof=1) / np.sqrt(90), rel=1e-12)


def test_shared_answers_to_medcalc_bench(real_data):
    """Standard errors and degrees of freedom are those of clubSandwich 0.5.8."""
    file = real_data / "medcalc_bench" / "openai_gpt-4o-mini_direct_answer.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    right = np.array([float(row["Result"] == "Correct") for row in rows])

    def error_and_freedom(key: str) -> tuple[float | None, float]:
        names = [str(row[key]) for row in rows]
        totals = cluster_totals(np.unique(names, return_inverse=True)[1], right)
        return totals.standard_error(), totals.degrees_of_freedom

    assert right.std(ddof=1) / np.sqrt(len(right)) == pytest.approx(0.0125, abs=5e-5)
    assert error_and_freedom("Calculator ID") == pytest.approx(
        (0.0308687740, 52.03129248), rel=1e-8
    )
    assert error_and_freedom("Note ID") == pytest.approx((0.0132177495, 115.96885844), rel=1e-8)


def test_an_open_scale_takes_t_at_any_number_of_clusters():
    for clusters in (12, 60):
        labels = np.repeat(np.arange(clusters), 10)
        data = np.random.default_rng(5).normal(size=10 * clusters)
        fitted = OLS(data, np.ones(len(data))).fit(
            cov_type="cluster", cov_kwds={"groups": labels}, use_t=True
        )
        # Of clusters of equal size CR2 is statsmodels' sum over clusters times G / (G - 1).
        half = quantile(clusters - 1) * fitted.bse[0]
        interval = clustered(cluster_totals(labels, data), None, None)
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx(
            (data.mean() - half, data.mean() + half)
        )
        assert interval.method == "clustered_t"


def test_a_share_stays_on_its_scale_and_has_width():
    labels = np.repeat(np.arange(40), 5)
    for right in (0, 1, 100, 199, 200):
        data = (np.arange(200) < right).astype(float)
        interval = clustered(cluster_totals(labels, data), 0.0, 1.0)
        assert interval is not None
        assert 0 <= interval.low < interval.high <= 1
        assert interval.low <= right / 200 <= interval.high
    # Where all agree each cluster counts as one answer.
    all_right = clustered(cluster_totals(labels, np.ones(200)), 0.0, 1.0)
    assert all_right is not None
    assert all_right.low == pytest.approx(1 / (1 + quantile(39) ** 2 / 40), abs=2e-3)


def test_the_correlation_within_clusters_equals_shrout_and_fleiss():
    ratings = [9, 2, 5, 8, 6, 1, 3, 2, 8, 4, 6, 8, 7, 1, 2, 6, 10, 5, 6, 9, 6, 2, 4, 7]
    totals = cluster_totals(np.repeat(np.arange(6), 4), np.array(ratings, float))
    assert totals.correlation() == pytest.approx(0.1657, abs=5e-5)  # ICC(1,1) of their table 4
    alike = cluster_totals(
        np.repeat(np.arange(3), [2, 5, 3]), np.repeat([0.0, 1.0, 0.0], [2, 5, 3])
    )
    assert alike.correlation() == 1


def test_pseudo_clusters_raise_the_correlation_of_answers_that_few_clusters_get_wrong():
    one_wrong = cluster_totals(np.repeat(np.arange(20), 5), np.repeat([1.0, 0.0], [99, 1]))
    assert one_wrong.correlation() == pytest.approx(0)
    assert one_wrong.correlation(0.2) > 0.3
    half = cluster_totals(np.arange(1000) // 5, (np.arange(1000) % 2).astype(float))
    assert half.correlation(0.2) == pytest.approx(half.correlation(), abs=0.01)


def test_the_largest_cluster_counts_less_than_its_size_in_the_mean_size():
    def totals_of(*sizes):
        return cluster_totals(np.repeat(np.arange(len(sizes)), sizes), np.ones(sum(sizes)))

    assert totals_of(2, 5, 5).mean_size == pytest.approx(54 / 12)
    assert totals_of(80, 5, 5).mean_size == pytest.approx((40**2 + 50) / 50)
    assert totals_of(7).mean_size == 7


def test_few_small_clusters_that_differ_do_not_make_the_interval_narrow():
    sizes = np.repeat([9, 1], [20, 20])
    labels = np.repeat(np.arange(40), sizes)
    wrong_small = np.where(labels >= 38, 0.0, 1.0)  # two clusters of one answer are wrong
    interval = clustered(cluster_totals(labels, wrong_small), 0.0, 1.0)
    assert interval is not None
    # By CR2 alone these are 66 independent answers: the wrong clusters are the small ones.
    assert interval.low < wilson(30 * wrong_small.mean(), 30).low


def test_a_single_cluster_has_no_interval():
    totals = cluster_totals(np.zeros(9, np.int64), np.arange(9.0))
    assert totals.standard_error() is None
    assert clustered(totals, 0.0, 10.0) is None


def test_a_summary_counts_clusters():
    labels, data = np.repeat(np.arange(30), 4), np.repeat([1.0, 0.0, 1.0], 40)
    histogram = [(1.0, 80), (0.0, 40)]
    plain = summarize(histogram, 0, SHARE)
    robust = summarize(histogram, 0, SHARE, clusters=cluster_totals(labels, data))
    assert (robust.count, robust.mean, robust.num_clusters) == (120, plain.mean, 30)
    assert plain.num_clusters is None
    assert plain.standard_error is not None
    assert robust.standard_error is not None
    assert robust.standard_error > 1.8 * plain.standard_error
    assert robust.ci_high - robust.ci_low > 1.8 * (plain.ci_high - plain.ci_low)
    assert summarize([(3.0, 1)], 0, UNBOUNDED).standard_error is None
