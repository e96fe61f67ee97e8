"""Paired differences of two models."""

import math

import pytest

from medhelm_spark.domain.stats import UNBOUNDED, MetricInfo
from medhelm_spark.statistics.paired import (
    PairedDifference,
    bonett_price,
    mcnemar_exact,
    paired_difference,
    paired_from_counts,
)

RATING = MetricInfo(name="rating", display_name="Rating", minimum=1.0, maximum=5.0)


@pytest.mark.parametrize(
    ("only_first", "only_second", "wanted"),
    [
        (0, 0, 1.0),
        (1, 7, 2 * (1 + 8) / 256),
        (7, 1, 2 * (1 + 8) / 256),
        (0, 5, 2 / 32),
        (3, 3, 1.0),
        (5, 15, 2 * sum(math.comb(20, k) for k in range(6)) / 2**20),
    ],
)
def test_mcnemar_is_a_binomial_tail(only_first, only_second, wanted):
    assert mcnemar_exact(only_first, only_second) == pytest.approx(wanted, rel=1e-12)


def test_mcnemar_of_very_many_pairs_neither_overflows_nor_vanishes():
    # 200,000 discordant pairs, one standard deviation (223.6) off: about 2 (1 - Phi(1)) = 0.317.
    assert mcnemar_exact(100_000 - 224, 100_000 + 224) == pytest.approx(0.3175, abs=0.001)
    assert mcnemar_exact(0, 100_000) == 0.0


def test_bonett_price_by_hand():
    # p12 = 13/102, p21 = 6/102; se = sqrt((19/102 - (7/102)^2) / 102) = 0.042189.
    low, high = bonett_price(12, 5, 100)
    assert (low, high) == pytest.approx((-0.014063, 0.151317), abs=1e-5)


def test_binary_values():
    first = {"a": 1.0, "b": 1.0, "c": 0.0, "d": 1.0, "e": None, "f": 1.0}
    second = {"a": 1.0, "b": 0.0, "c": 0.0, "d": 0.0, "e": 1.0, "g": 0.0}
    result = paired_difference(first, second)
    assert (result.n, result.num_dropped, result.mean_difference) == (4, 3, 0.5)
    assert result.p_value == 0.5  # two discordant pairs, both for the first: 2 * 1/4
    assert result.ci_method == "bonett_price"
    assert result.ci_low < 0.5 < result.ci_high <= 1


def test_other_values_use_the_interval_of_a_mean_of_differences():
    first = {str(i): 0.5 + 0.01 * (i % 5) for i in range(100)}
    second = {str(i): 0.3 + 0.01 * (i % 3) for i in range(100)}
    result = paired_difference(first, second, UNBOUNDED)
    assert result.mean_difference == pytest.approx(0.2 + 0.02 - 0.0099)
    assert result.ci_low < result.mean_difference < result.ci_high
    assert result.ci_high - result.ci_low < 0.02  # pairing removes the spread over instances
    assert (result.ci_method, result.p_value) == ("t", None)
    turned = paired_difference(second, first, UNBOUNDED)
    assert turned.mean_difference == pytest.approx(-result.mean_difference)


def test_order_of_instances_makes_no_difference():
    first = {str(i): (i * 7 % 11) / 10 for i in range(50)}
    second = {str(i): (i * 5 % 13) / 10 for i in range(50)}
    shuffled = dict(reversed(first.items()))
    assert paired_difference(first, second) == paired_difference(shuffled, second)


def test_no_pair_and_one_pair():
    assert paired_difference({"a": 1.0}, {"b": 1.0}) == PairedDifference(n=0, num_dropped=2)
    single = paired_difference({"a": 0.4}, {"a": 0.3})
    assert single.mean_difference == pytest.approx(0.1)
    assert (single.n, single.ci_method) == (1, "bounded_score")
    assert -1 <= single.ci_low < -0.5
    assert 0.5 < single.ci_high <= 1
    unbounded = paired_difference({"a": 0.4}, {"a": 0.3}, UNBOUNDED)
    assert (unbounded.n, unbounded.ci_low, unbounded.ci_method) == (1, None, "none")


def test_equal_pairs_are_no_certainty():
    equal = paired_from_counts([(3.0, 3.0, 4)], 0, RATING)
    assert (equal.mean_difference, equal.ci_method) == (0.0, "bounded_score")
    assert equal.ci_low == pytest.approx(-equal.ci_high)
    assert 0.5 < equal.ci_high < 4
    assert paired_from_counts([(3.0, 3.0, 4)], 0, UNBOUNDED).ci_method == "none"


def test_ratings_that_happen_to_be_ones_get_no_mcnemar():
    counts = [(1.0, 1.0, 10)]
    assert paired_from_counts(counts, 0).p_value == 1.0
    ratings = paired_from_counts(counts, 0, RATING)
    assert (ratings.p_value, ratings.ci_method) == (None, "bounded_score")
