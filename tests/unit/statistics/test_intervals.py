"""Wilson and bootstrap intervals."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from medhelm_spark.domain.stats import IntervalMethod
from medhelm_spark.statistics.intervals import bootstrap_mean, bootstrap_rows, wilson


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


def test_bootstrap_is_the_same_for_any_order_and_for_counts():
    values = [0.1, 0.4, 0.4, 0.9, 0.25] * 20
    first = bootstrap_mean(values, seed=7)
    assert bootstrap_mean(sorted(values, reverse=True), seed=7) == first
    assert bootstrap_mean([0.9, 0.25, 0.1, 0.4], [20, 20, 20, 40], seed=7) == first
    assert bootstrap_mean(values, seed=8) != first
    assert first.method is IntervalMethod.BOOTSTRAP


def test_bootstrap_agrees_with_the_normal_interval_of_a_large_sample():
    values = np.random.default_rng(1).normal(0.4, 0.2, 2000)
    interval = bootstrap_mean(list(values), seed=3)
    half = 1.96 * values.std() / np.sqrt(2000)
    assert (interval.low, interval.high) == pytest.approx(
        (values.mean() - half, values.mean() + half), abs=half * 0.15
    )


def test_bootstrap_agrees_with_plain_resampling():
    values = np.array([0.0, 0.2, 0.2, 0.5, 1.0, 3.0])
    generator = np.random.default_rng(0)
    means = generator.choice(values, size=(20_000, 6)).mean(axis=1)
    interval = bootstrap_mean(list(values), seed=5)
    wanted = np.quantile(means, [0.025, 0.975])
    assert (interval.low, interval.high) == pytest.approx(tuple(wanted), abs=0.12)


def test_bootstrap_of_equal_values_has_no_width():
    interval = bootstrap_mean([0.3] * 50, seed=1)
    assert (interval.low, interval.high) == (0.3, 0.3)


@pytest.mark.parametrize("values", [[], [float("nan")], [float("inf"), 1.0]])
def test_bootstrap_refuses_what_has_no_mean(values):
    with pytest.raises(ValueError, match="finite"):
        bootstrap_mean(values, seed=1)


def test_a_million_distinct_values_in_little_memory():
    values = np.random.default_rng(2).lognormal(size=1_000_000)
    half = 1.96 * values.std() / 1000
    tracemalloc.start()
    interval = bootstrap_mean(values, seed=4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (interval.low, interval.high) == pytest.approx(
        (values.mean() - half, values.mean() + half), abs=half * 0.15
    )
    assert peak < 200e6  # bytes; 1,000 resamples of a million would be 8e9


def shares(values):
    """What `bootstrap_rows` measures here: the mean of the rows' values, and nothing."""
    numbers = np.array(values, dtype=np.float64)
    return lambda counts: (float(counts @ numbers / counts.sum()), None)


def test_resampled_rows_agree_with_resampled_values():
    counts = np.array([60, 30, 10])
    of_rows, nothing = bootstrap_rows(shares([0.0, 0.5, 1.0]), counts, seed=0)
    of_values = bootstrap_mean([0.0, 0.5, 1.0], [60, 30, 10], seed=1)
    assert nothing is None
    assert of_rows.method is IntervalMethod.BOOTSTRAP
    assert (of_rows.low, of_rows.high) == pytest.approx((of_values.low, of_values.high), abs=0.02)


def test_rows_that_are_too_few_or_too_many_have_no_interval():
    assert bootstrap_rows(shares([1.0]), np.array([1]), seed=0) == [None, None]
    many = np.ones(5000, np.int64)
    assert bootstrap_rows(shares(range(5000)), many, seed=0) == [None, None]
    same = bootstrap_rows(shares([1.0]), np.array([9]), seed=0)[0]
    assert (same.low, same.high) == (1.0, 1.0)
