"""McNemar's mid-p test: its p-value, the interval that agrees with it, what it can detect."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from medhelm_spark.statistics.mcnemar import (
    bonett_price,
    difference_interval,
    mcnemar_mid_p,
    mid_p_detectable,
    planned_detectable,
)


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
            interval = difference_interval(first, second, n, p_value)
            assert (interval.low > 0 or interval.high < 0) == (p_value < 0.05), (n, first, second)
            assert interval.low <= (first - second) / n <= interval.high


def test_too_few_pairs_can_detect_nothing():
    assert [planned_detectable(n) is None for n in (1, 20, 32, 33)] == [True, True, True, False]


def test_the_planned_difference_is_found_in_eighty_of_a_hundred():
    generator, n = np.random.default_rng(8), 50
    wins = (1 + mid_p_detectable(n, 0.2) / 0.2) / 2
    disagree = generator.binomial(n, 0.2, 4000)
    first = generator.binomial(disagree, wins)
    found = [mcnemar_mid_p(a, b - a) < 0.05 for a, b in zip(first, disagree, strict=True)]
    assert np.mean(found) == pytest.approx(0.8, abs=0.02)
