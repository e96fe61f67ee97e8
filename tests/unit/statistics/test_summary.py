"""Summaries of one stat."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from medhelm_spark.domain.stats import (
    SHARE,
    UNBOUNDED,
    IntervalMethod,
    MetricInfo,
    Stat,
    Summary,
    values_of,
)
from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.intervals import wilson
from medhelm_spark.statistics.summary import summarize

RATING = MetricInfo(name="rating", display_name="Rating", minimum=1.0, maximum=5.0)
POINTS = MetricInfo(name="points", display_name="Points", clips_mean=True)


def test_binary_values_by_hand():
    summary = summarize([(1.0, 3), (0.0, 1)], num_unscored=2, scale=SHARE)
    assert (summary.count, summary.num_unscored, summary.mean) == (4, 2, 0.75)
    assert summary.stddev == pytest.approx(math.sqrt(0.1875))
    assert (summary.minimum, summary.maximum) == (0.0, 1.0)
    assert (summary.ci_low, summary.ci_high) == (wilson(3, 4).low, wilson(3, 4).high)
    assert summary.ci_method is IntervalMethod.WILSON


def test_other_values_by_hand():
    summary = summarize([(1.0, 1), (2.0, 2), (5.0, 1)], num_unscored=0, scale=RATING)
    assert (summary.count, summary.mean) == (4, 2.5)
    assert summary.stddev == pytest.approx(1.5)  # deviations 2.25, 0.25, 0.25, 6.25
    assert summary.ci_method is IntervalMethod.BOUNDED_SCORE
    assert 1 <= summary.ci_low < 2.5 < summary.ci_high <= 5


def test_nothing_scored_is_not_zero():
    numbers = values_of(summarize([], num_unscored=7, scale=SHARE), Summary)
    known = {name: value for name, value in numbers.items() if value is not None}
    assert known == {"count": 0, "num_unscored": 7, "ci_method": IntervalMethod.NONE}
    assert summarize([(0.5, 0)], num_unscored=7, scale=SHARE).mean is None


def test_a_single_value():
    binary = summarize([(1.0, 1)], num_unscored=0, scale=SHARE)
    assert binary.ci_method is IntervalMethod.WILSON
    other = summarize([(0.4, 1)], num_unscored=0, scale=SHARE)
    assert (other.mean, other.stddev, other.ci_method) == (0.4, 0, IntervalMethod.BOUNDED_SCORE)
    assert other.ci_low < 0.1
    assert other.ci_high > 0.9
    alone = summarize([(0.4, 1)], num_unscored=0, scale=UNBOUNDED)
    assert (alone.ci_method, alone.ci_low, alone.ci_high) == (IntervalMethod.NONE, None, None)


def test_equal_values_are_no_certainty():
    equal = summarize([(0.5, 4)], num_unscored=0, scale=SHARE)
    assert equal.ci_low < 0.4
    assert equal.ci_high > 0.6
    assert summarize([(0.5, 4)], num_unscored=0, scale=UNBOUNDED).ci_method is IntervalMethod.NONE


def test_an_open_end_gets_a_t_interval():
    summary = summarize([(1.0, 1), (2.0, 2), (5.0, 1)], num_unscored=0, scale=UNBOUNDED)
    half = 3.18245 * math.sqrt(3) / 2  # sample variance 3, four values, t with 3 degrees
    assert summary.ci_method is IntervalMethod.T
    assert (summary.ci_low, summary.ci_high) == pytest.approx((2.5 - half, 2.5 + half), abs=0.004)
    count = replace(UNBOUNDED, minimum=0.0)
    cut = summarize([(1.0, 1), (2.0, 2), (5.0, 1)], num_unscored=0, scale=count)
    assert (cut.ci_low, cut.ci_high) == (0.0, summary.ci_high)


def test_ratings_that_happen_to_be_all_ones_are_no_proportion():
    summary = summarize([(1.0, 10)], num_unscored=0, scale=RATING)
    assert (summary.ci_method, summary.ci_low) == (IntervalMethod.BOUNDED_SCORE, 1.0)
    assert 1.0 < summary.ci_high < 3.0
    assert summarize([(1.0, 10)], num_unscored=0, scale=SHARE).ci_low < 0.8


@pytest.mark.parametrize("bad", [(float("nan"), 1), (float("inf"), 1), (0.5, -1)])
def test_what_is_no_value_is_refused(bad):
    with pytest.raises(ValueError, match="summarize"):
        summarize([(1.0, 2), bad], num_unscored=0, scale=SHARE)


@given(
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.integers(1, 9)), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
)
def test_order_and_partial_counts_make_no_difference(histogram, shuffler: random.Random):
    parts = [(value, 1) for value, count in histogram for _ in range(count)]
    shuffler.shuffle(parts)
    assert summarize(parts, 0, SHARE) == summarize(histogram, 0, SHARE)


def test_asking_again_does_not_narrow_the_interval():
    once = summarize([(1.0, 3), (0.0, 1)], num_unscored=0, scale=SHARE)
    clusters = cluster_totals(np.repeat(np.arange(4), 3), np.repeat([1.0, 1.0, 1.0, 0.0], 3))
    thrice = summarize([(1.0, 9), (0.0, 3)], num_unscored=0, scale=SHARE, clusters=clusters)
    assert (thrice.count, thrice.mean) == (12, 0.75)
    assert thrice.ci_high - thrice.ci_low > once.ci_high - once.ci_low
    single = cluster_totals(np.zeros(3, np.int64), np.array([0.2, 0.5, 0.5]))
    assert summarize([(0.2, 1), (0.5, 2)], 0, UNBOUNDED, single).ci_low is None, "one instance"


def test_clusters_of_one_answer_change_nothing():
    values = np.repeat([1.0, 0.0], [10, 2])
    alone = summarize([(1.0, 10), (0.0, 2)], 0, SHARE, cluster_totals(np.arange(12), values))
    plain = summarize([(1.0, 10), (0.0, 2)], 0, SHARE)
    assert (alone.ci_low, alone.ci_high, alone.ci_method) == (
        plain.ci_low,
        plain.ci_high,
        plain.ci_method,
    )
    assert (alone.num_clusters, alone.num_effective_clusters) == (12, pytest.approx(12))


def test_field_names_are_those_of_a_stat():
    fields = set(Summary.__dataclass_fields__)
    assert fields <= set(Stat.__dataclass_fields__)


def test_a_mean_brought_onto_its_scale_keeps_the_spread_of_the_values():
    found = summarize([(-1.0, 3), (0.5, 1)], num_unscored=1, scale=POINTS)
    assert found.mean == 0.0
    assert (found.minimum, found.maximum) == (-1.0, 0.5)
    assert found.stddev == pytest.approx(math.sqrt(27) / 8)  # deviations 3/8 thrice and 9/8
    assert (found.count, found.num_unscored) == (4, 1)
    assert found.ci_low == 0.0
    assert 0.0 < found.ci_high < 1.0


def test_an_interval_beyond_its_scale_is_that_of_answers_at_its_end():
    beyond = summarize([(-1.0, 50), (-0.9, 50)], num_unscored=0, scale=POINTS)
    at_end = summarize([(0.0, 100)], num_unscored=0, scale=POINTS)
    assert (beyond.mean, beyond.ci_low, beyond.ci_high) == (0.0, 0.0, at_end.ci_high)
    assert at_end.ci_high > 0.0


def test_what_lies_on_the_scale_or_is_absent_stays():
    inside = summarize([(0.2, 2), (0.8, 2)], num_unscored=0, scale=POINTS)
    plain = replace(POINTS, clips_mean=False)
    assert inside == summarize([(0.2, 2), (0.8, 2)], num_unscored=0, scale=plain)
    assert summarize([], num_unscored=3, scale=POINTS).mean is None
