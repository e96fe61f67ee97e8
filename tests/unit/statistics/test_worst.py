"""Worst at k against all sets of k values."""

from itertools import combinations
from statistics import fmean

import pytest

from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.worst import worst_name, worst_of
from medhelm_spark.metrics import info
from medhelm_spark.statistics.worst import sizes_of, worst_at, worst_weights

VALUES = [0.3, -0.2, 1.0, 0.3, 0.7, 0.0]


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6])
def test_it_is_the_mean_of_the_worst_over_all_sets(k: int) -> None:
    sets = list(combinations(VALUES, k))
    assert worst_at(VALUES, k) == pytest.approx(fmean(map(min, sets)), abs=1e-12)
    assert worst_at(VALUES, k, lower_is_better=True) == pytest.approx(
        fmean(map(max, sets)), abs=1e-12
    )
    assert sum(worst_weights(6, k)) == pytest.approx(1)


def test_fewer_values_than_k_have_none() -> None:
    assert worst_at([1.0], 2) is None
    assert sizes_of(0) == sizes_of(1) == ()
    assert sizes_of(16) == (2, 4, 8, 16)


def test_its_name_leads_to_the_stat_that_it_is_of() -> None:
    name = worst_name("health_bench_score", 4)
    assert worst_of(name) == ("health_bench_score", 4)
    found = info(name, [MetricSpec(name="health_bench")])
    assert (found.name, found.clips_mean) == (name, True)
    assert worst_of("worst_at_x[f1]") is None
