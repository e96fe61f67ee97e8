"""Intervals of a mean on each kind of scale, and how often they contain the true mean."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from benchmarks.interval_coverage import DISTRIBUTIONS, SIZES, covered
from medhelm_spark.domain.stats import IntervalMethod
from medhelm_spark.statistics.intervals import (
    mean_interval,
    wilson,
)

SLACK = 0.015
"""More than two standard errors of a coverage that is simulated 1,500 times."""


def test_wilson_by_hand():
    # z^2 = 3.8415; (5 + z^2/2) / (10 + z^2) = 0.5; half = z sqrt(2.5 + z^2/4) / (10 + z^2).
    interval = wilson(5, 10)
    assert (interval.low, interval.high) == pytest.approx((0.236593, 0.763407), abs=1e-6)
    assert interval.method is IntervalMethod.WILSON
    # The published MedCalc figure: 216 of 1047.
    interval = wilson(216, 1047)
    assert (interval.low, interval.high) == pytest.approx((0.182885, 0.231867), abs=1e-5)


def test_wilson_at_the_ends():
    # For no success: low 0, high z^2 / (n + z^2).
    none, all_of_them = wilson(0, 10), wilson(10, 10)
    assert (none.low, none.high) == (0.0, pytest.approx(0.277533, abs=1e-6))
    assert (all_of_them.low, all_of_them.high) == (pytest.approx(0.722467, abs=1e-6), 1.0)
    one = wilson(1, 1)
    assert (one.low, one.high) == (pytest.approx(0.206549, abs=1e-6), 1.0)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 5), (6, 5)])
def test_wilson_refuses_what_is_no_proportion(successes, n):
    with pytest.raises(ValueError, match="wilson"):
        wilson(successes, n)


@given(st.integers(0, 500), st.integers(1, 500))
def test_wilson_holds_the_proportion(successes, n):
    successes = min(successes, n)
    interval = wilson(successes, n)
    assert 0 <= interval.low <= successes / n <= interval.high <= 1


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 400)), min_size=1, max_size=5),
)
def test_a_bounded_interval_has_width_and_holds_the_mean(counted):
    counts = sorted((float(value), count) for value, count in dict(counted).items())
    interval = mean_interval(counts, 1.0, 5.0)
    total = sum(count for _, count in counts)
    mean = sum(value * count for value, count in counts) / total
    assert 1 <= interval.low < interval.high <= 5
    assert interval.low - 1e-9 <= mean <= interval.high + 1e-9
    assert interval.method is IntervalMethod.BOUNDED_SCORE


def test_a_bounded_interval_moves_and_turns_with_its_scale():
    narrow = mean_interval([(0.0, 1), (0.25, 2), (1.0, 7)], 0.0, 1.0)
    wide = mean_interval([(1.0, 1), (2.0, 2), (5.0, 7)], 1.0, 5.0)
    assert (wide.low, wide.high) == pytest.approx((1 + 4 * narrow.low, 1 + 4 * narrow.high))
    turned = mean_interval([(1.0, 7), (4.0, 2), (5.0, 1)], 1.0, 5.0)
    assert (turned.low, turned.high) == pytest.approx((6 - wide.high, 6 - wide.low))


def test_of_many_values_at_the_ends_it_is_wilsons():
    counts = [(1.0, 12_000), (5.0, 8_000)]
    bounded, share = mean_interval(counts, 1.0, 5.0), wilson(8_000, 20_000)
    expected = (1 + 4 * share.low, 1 + 4 * share.high)
    assert (bounded.low, bounded.high) == pytest.approx(expected, abs=1e-4)


def test_of_many_values_it_is_the_normal_interval():
    values = np.random.default_rng(1).beta(4, 6, 5000)
    interval = mean_interval([(float(value), 1) for value in np.sort(values)], 0.0, 1.0)
    half = 1.96 * values.std() / np.sqrt(5000)
    assert (interval.low, interval.high) == pytest.approx(
        (values.mean() - half, values.mean() + half), abs=half * 0.02
    )


def test_a_value_off_the_scale_moves_its_end():
    assert mean_interval([(-1.0, 2), (1.0, 2)], 0.0, 1.0) == mean_interval(
        [(-1.0, 2), (1.0, 2)], -1.0, 1.0
    )


@pytest.mark.parametrize(("name", "weights"), DISTRIBUTIONS.items())
def test_coverage_is_near_95_percent_at_every_size(name, weights):
    for n in SIZES:
        coverage, _, narrowest = covered(weights, n, repeats=1500, seed=1)
        assert coverage >= 0.93 - SLACK, (name, n)
        assert n < 100 or coverage <= 0.975 + SLACK, (name, n)
        assert narrowest > 0, (name, n)
