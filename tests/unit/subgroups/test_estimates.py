"""Differences and gaps of numbers that have intervals."""

import math

import pytest
from hypothesis import given, strategies as st

from medhelm_spark.domain.stats import IntervalMethod
from medhelm_spark.statistics.intervals import wilson
from medhelm_spark.subgroups.estimates import IntervalEstimate, difference, estimate
from medhelm_spark.subgroups.gaps import gap_of
from medhelm_spark.subgroups.range_interval import range_interval


def share(hits: int, n: int) -> IntervalEstimate:
    interval = wilson(hits, n)
    made = estimate(hits / n, interval.low, interval.high, interval.method, n)
    assert made
    return made


def test_the_difference_of_two_shares_is_newcombes():
    """Newcombe 1998, table II (d): 56/70 less 48/80."""
    sex_difference = difference(share(56, 70), share(48, 80))
    assert sex_difference.value == pytest.approx(0.2)
    assert (sex_difference.low, sex_difference.high) == (
        pytest.approx(0.0524, abs=5e-5),
        pytest.approx(0.3339, abs=5e-5),
    )


@given(st.integers(0, 40), st.integers(0, 25))
def test_a_p_value_is_below_5_percent_exactly_where_the_interval_excludes_0(
    first: int, second: int
):
    sex_difference = difference(share(first, 40), share(second, 25))
    if sex_difference.low != 0 and sex_difference.high != 0:
        assert (sex_difference.p_value < 0.05) == (
            sex_difference.low > 0 or sex_difference.high < 0
        )


@given(st.integers(0, 40), st.integers(0, 25))
def test_a_difference_turned_round_is_the_same(first: int, second: int):
    sex_difference, turned = (
        difference(*pair)
        for pair in (
            (share(first, 40), share(second, 25)),
            (share(second, 25), share(first, 40)),
        )
    )
    assert (turned.low, turned.high) == (
        pytest.approx(-sex_difference.high),
        pytest.approx(-sex_difference.low),
    )
    assert turned.p_value == pytest.approx(sex_difference.p_value)


def test_equal_numbers_have_a_p_value_of_1():
    assert difference(share(20, 40), share(20, 40)).p_value == 1.0


def test_few_clusters_have_few_degrees_of_freedom():
    wide = estimate(0.5, 0.2, 0.8, IntervalMethod.CLUSTERED, 4.0)
    assert wide
    assert wide.df == 3
    assert wide.error == pytest.approx(0.3 / 3.182, abs=1e-4)


@pytest.mark.parametrize(
    "numbers", [(None, None, None), (0.5, None, 0.6), (0.5, 0.5, 0.5)], ids=str
)
def test_what_lacks_an_interval_is_no_estimate(numbers: tuple[float | None, ...]):
    assert estimate(*numbers, IntervalMethod.WILSON, 10) is None


def test_a_gap_names_the_worst_group_whichever_end_is_the_good_one():
    groups = {"f": share(90, 100), "m": share(60, 100), "x": share(80, 100)}
    gap = gap_of(groups, lower_is_better=False, width=1.0)
    assert gap
    assert (gap.best, gap.worst) == ("f", "m")
    assert gap.value == pytest.approx(0.3)
    assert 0.1 < gap.low < 0.3 < gap.high < 0.45
    turned = gap_of(groups, lower_is_better=True, width=1.0)
    assert turned
    assert (turned.best, turned.worst) == ("m", "f")


def test_one_group_has_no_gap():
    assert gap_of({"f": share(90, 100)}, lower_is_better=False, width=1.0) is None


@given(st.lists(st.integers(0, 12), min_size=2, max_size=8))
def test_an_interval_holds_the_gap_that_is_seen_or_begins_at_0(hits: list[int]):
    groups = [share(each, 12) for each in hits]
    low, high = range_interval(*groups)
    values = [group.value for group in groups]
    spread = max(values) - min(values)
    assert 0 <= low <= spread + 1e-12
    assert low <= high
    assert math.isfinite(high)


def test_many_groups_that_are_alike_are_not_told_apart_where_two_would_be():
    two = [share(33, 40), share(25, 40)]
    assert range_interval(share(36, 40), share(25, 40))[0] > 0
    assert range_interval(share(36, 40), share(25, 40), *[share(31, 40)] * 8)[0] == 0.0
    assert range_interval(*two)[0] == 0.0


def test_the_order_of_groups_does_not_matter_for_the_largest_of_equals():
    groups = [share(20, 40), share(20, 40), share(20, 40)]
    low, high = range_interval(*groups)
    assert low == 0.0
    assert high > 0
