"""Pseudo-values of stats of whole runs."""

import numpy as np
import pytest

from medhelm_spark.statistics.jackknife import pseudo_values

ROWS = np.array([0.0, 0.5, 1.0])


def mean(weights):
    """The mean of the rows' values, and a stat that never has a value."""
    return [float(weights @ ROWS / weights.sum()), None]


def test_of_a_mean_they_are_the_values():
    means, nothing = pseudo_values(mean, np.array([60, 30, 10]))
    assert means == pytest.approx(ROWS)
    assert np.isnan(nothing).all()


def test_of_a_ratio_they_have_the_variance_of_the_delta_method():
    counts = np.array([10, 5, 9, 276])  # tp, fn, fp, tn

    def f1(weights):
        return [2 * weights[0] / (2 * weights[0] + weights[1] + weights[2])]

    (values,) = pseudo_values(f1, counts)
    n, whole = 300, 20 / 34
    assert counts @ values / n == pytest.approx(whole)
    # The influence of a row: (2 tp - F1 (2 tp + fp + fn)) / (34 / n).
    influence = np.array([2 - 2 * whole, -whole, -whole, 0]) * n / 34
    expected = counts @ influence**2 / n
    assert counts @ (values - whole) ** 2 / n == pytest.approx(expected, rel=0.1)


def test_a_row_that_does_not_occur_has_none_and_one_answer_neither():
    (values, _) = pseudo_values(mean, np.array([3, 0, 1]))
    assert np.isnan(values).tolist() == [False, True, False]
    assert np.isnan(pseudo_values(mean, np.array([0, 1, 0]))).all()


def test_a_stat_that_is_lost_without_an_instance_has_none():
    def share(weights):
        return [float(weights[1] / weights[:2].sum()) if weights[:2].sum() else None]

    (values,) = pseudo_values(share, np.array([0, 1, 8]))
    assert np.isnan(values[1])
