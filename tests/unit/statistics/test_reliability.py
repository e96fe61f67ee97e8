"""The calibration curve: bins of about equal size, each with its share of right answers."""

import numpy as np
import pytest

from medhelm_spark.metrics.calibration import confidence_edges
from medhelm_spark.statistics.intervals import wilson
from medhelm_spark.statistics.reliability import curve


def test_a_bin_says_how_sure_and_how_often_right():
    confidence = np.repeat([0.6, 0.9], 10)
    right = np.array([1.0] * 3 + [0.0] * 7 + [1.0] * 9 + [0.0])
    low, high = curve(confidence, right, confidence_edges(confidence))
    assert (low.confidence, low.count, low.right.value) == (pytest.approx(0.6), 10, 0.3)
    assert (high.confidence, high.count, high.right.value) == (pytest.approx(0.9), 10, 0.9)
    expected = wilson(3, 10)
    assert (low.right.low, low.right.high) == pytest.approx((expected.low, expected.high))


def test_the_bins_are_those_of_the_calibration_error():
    confidence = np.linspace(0.01, 1.0, 100)
    bins = curve(confidence, np.ones(100), confidence_edges(confidence))
    assert [each.count for each in bins] == [10] * 10
    gap = sum(each.count * abs(each.right.value - each.confidence) for each in bins) / 100
    assert gap == pytest.approx(np.mean(1 - confidence))


def test_clusters_widen_the_interval_of_a_bin():
    confidence, right = np.full(40, 0.7), np.repeat([1.0, 0.0], 20)
    edges = confidence_edges(confidence)
    (alone,) = curve(confidence, right, edges)
    (joint,) = curve(confidence, right, edges, np.arange(40) // 10)
    assert joint.right.high - joint.right.low > 2 * (alone.right.high - alone.right.low)
