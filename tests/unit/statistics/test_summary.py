"""Summaries of one stat."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from medhelm_spark.domain.stats import IntervalMethod, Stat
from medhelm_spark.statistics.intervals import wilson
from medhelm_spark.statistics.summary import Summary, clipped, summarize


def test_binary_values_by_hand():
    summary = summarize([(1.0, 3), (0.0, 1)], num_unscored=2, seed=0)
    assert (summary.count, summary.num_unscored, summary.mean) == (4, 2, 0.75)
    assert summary.stddev == pytest.approx(math.sqrt(0.1875))
    assert (summary.minimum, summary.maximum) == (0.0, 1.0)
    assert (summary.ci_low, summary.ci_high) == (wilson(3, 4).low, wilson(3, 4).high)
    assert summary.ci_method is IntervalMethod.WILSON


def test_other_values_by_hand():
    summary = summarize([(1.0, 1), (2.0, 2), (5.0, 1)], num_unscored=0, seed=0)
    assert (summary.count, summary.mean) == (4, 2.5)
    assert summary.stddev == pytest.approx(1.5)  # deviations 2.25, 0.25, 0.25, 6.25
    assert summary.ci_method is IntervalMethod.BOOTSTRAP
    assert 1 <= summary.ci_low < 2.5 < summary.ci_high <= 5


def test_nothing_scored_is_not_zero():
    assert summarize([], num_unscored=7, seed=0) == Summary(count=0, num_unscored=7)
    assert summarize([(0.5, 0)], num_unscored=7, seed=0).mean is None


def test_a_single_value():
    binary = summarize([(1.0, 1)], num_unscored=0, seed=0)
    assert binary.ci_method is IntervalMethod.WILSON
    other = summarize([(0.4, 1)], num_unscored=0, seed=0)
    assert (other.mean, other.stddev) == (0.4, 0)
    assert (other.ci_method, other.ci_low, other.ci_high) == (IntervalMethod.NONE, None, None)


def test_ratings_that_happen_to_be_all_ones_are_no_proportion():
    summary = summarize([(1.0, 10)], num_unscored=0, seed=0, may_be_binary=False)
    assert (summary.ci_method, summary.ci_low) == (IntervalMethod.BOOTSTRAP, 1.0)
    assert summarize([(1.0, 10)], num_unscored=0, seed=0).ci_low < 0.8


@pytest.mark.parametrize("bad", [(float("nan"), 1), (float("inf"), 1), (0.5, -1)])
def test_what_is_no_value_is_refused(bad):
    with pytest.raises(ValueError, match="summarize"):
        summarize([(1.0, 2), bad], num_unscored=0, seed=0)


@given(
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.integers(1, 9)), min_size=1, max_size=30),
    st.randoms(use_true_random=False),
)
def test_order_and_partial_counts_make_no_difference(histogram, shuffler: random.Random):
    parts = [(value, 1) for value, count in histogram for _ in range(count)]
    shuffler.shuffle(parts)
    assert summarize(parts, 0, 5) == summarize(histogram, 0, 5)


def test_asking_again_does_not_narrow_the_interval():
    once = summarize([(1.0, 3), (0.0, 1)], num_unscored=0, seed=0)
    thrice = summarize([(1.0, 9), (0.0, 3)], num_unscored=0, seed=0, trials=3)
    assert (thrice.count, thrice.mean) == (12, 0.75)
    assert (thrice.ci_low, thrice.ci_high) == (once.ci_low, once.ci_high)
    parts = summarize([(0.2, 2), (0.5, 4)], num_unscored=0, seed=7, trials=2)
    whole = summarize([(0.2, 1), (0.5, 2)], num_unscored=0, seed=7)
    assert (parts.ci_low, parts.ci_high) == (whole.ci_low, whole.ci_high)
    uneven = summarize([(1.0, 3), (0.0, 2)], num_unscored=1, seed=0, trials=2)
    assert (uneven.ci_low, uneven.ci_high) == (wilson(1.5, 2.5).low, wilson(1.5, 2.5).high)
    assert summarize([(0.2, 1), (0.5, 2)], 0, 0, trials=3).ci_low is None, "one instance"


def test_field_names_are_those_of_a_stat():
    fields = set(Summary.__dataclass_fields__)
    assert fields <= set(Stat.__dataclass_fields__)


def test_a_mean_brought_onto_its_scale_keeps_the_spread_of_the_values():
    whole = summarize([(-1.0, 3), (0.5, 1)], num_unscored=1, seed=0)
    found = clipped(whole, 0.0, 1.0)
    assert (whole.mean, found.mean) == (-0.625, 0.0)
    assert (found.minimum, found.maximum, found.stddev) == (-1.0, 0.5, whole.stddev)
    assert (found.count, found.num_unscored) == (4, 1)
    assert whole.ci_low == -1.0
    assert found.ci_low == 0.0
    assert found.ci_high == max(0.0, whole.ci_high)


def test_what_lies_on_the_scale_or_is_absent_stays():
    inside = summarize([(0.2, 2), (0.8, 2)], num_unscored=0, seed=0)
    assert clipped(inside, 0.0, 1.0) == inside
    assert clipped(inside, None, None) == inside
    assert clipped(Summary(count=0, num_unscored=3), 0.0, 1.0).mean is None
    assert clipped(summarize([(3.0, 2)], 0, seed=0), 0.0, 1.0).mean == 1.0
