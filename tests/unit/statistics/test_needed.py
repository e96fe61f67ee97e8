"""The number of instances at which an interval excludes a limit, against simulation."""

import numpy as np
import pytest

from medhelm_spark.domain.stats import UNBOUNDED
from medhelm_spark.statistics.needed import needed_instances
from medhelm_spark.statistics.paired import PairedDifference, paired_difference


def of_counts(higher: int, lower: int, n: int) -> PairedDifference:
    """N pairs of 0 and 1 of which some differ."""
    first = np.array([1.0] * higher + [0.0] * (n - higher))
    second = np.array([0.0] * higher + [1.0] * lower + [0.0] * (n - higher - lower))
    return paired_difference(first, second)


@pytest.mark.parametrize(("higher", "lower"), [(10, 8), (3, 6), (20, 20)])
def test_so_many_pairs_exclude_the_loss_in_four_of_five_samples(higher: int, lower: int) -> None:
    difference = of_counts(higher, lower, 100)
    limit = -0.08
    needed = needed_instances(difference, limit)
    assert needed is not None
    draws = np.random.default_rng(7).multinomial(
        needed, [higher / 100, lower / 100, 1 - (higher + lower) / 100], size=300
    )
    lows = [of_counts(won, lost, needed).ci_low for won, lost, _ in draws]
    share = np.mean([low is not None and low > limit for low in lows])
    assert 0.74 < share < 0.9


def test_so_many_values_exclude_a_limit_on_a_scale_without_ends() -> None:
    values = np.random.default_rng(3).normal(0.1, 1.0, 60)
    difference = paired_difference(values, np.zeros(60), UNBOUNDED)
    needed = needed_instances(difference, -0.1)
    assert needed is not None
    mean, spread = values.mean(), values.std(ddof=1)
    draws = np.random.default_rng(5).normal(mean, spread, (300, needed))
    lows = [paired_difference(draw, np.zeros(needed), UNBOUNDED).ci_low for draw in draws]
    assert 0.74 < np.mean([low is not None and low > -0.1 for low in lows]) < 0.88


def test_clusters_keep_their_size() -> None:
    values = np.repeat(np.random.default_rng(2).normal(0.0, 1.0, 20), 5)
    labels = np.repeat(np.arange(20), 5)
    by_cluster = paired_difference(values, np.zeros(100), UNBOUNDED, labels)
    single = paired_difference(values, np.zeros(100), UNBOUNDED)
    of_clusters, of_singles = (needed_instances(each, -0.8) for each in (by_cluster, single))
    assert of_clusters is not None
    assert of_singles is not None
    assert 4 < of_clusters / of_singles < 6


def test_no_number_without_a_difference_or_at_the_limit_itself() -> None:
    assert needed_instances(PairedDifference(n=0, num_dropped=0), -0.1) is None
    assert needed_instances(paired_difference(np.ones(1), np.zeros(1)), 0.9) is not None
    assert needed_instances(of_counts(0, 10, 100), -0.1) is None
