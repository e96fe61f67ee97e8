"""Calibration: by hand, by the package that MedHELM uses, and whatever the order of the rows."""

import itertools
import statistics

import numpy as np
import pytest
from hypothesis import given, strategies as st

from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.metrics import METRICS, RUN_METRICS, metrics_for

CALIBRATION = RUN_METRICS["calibration"]
NAMES = [info.name for info in CALIBRATION.emits]


def measured(pairs, counts=None):
    columns = np.array(pairs, dtype=np.float64)
    weights = np.ones(len(pairs), np.int64) if counts is None else np.array(counts)
    return dict(zip(NAMES, CALIBRATION.fn(columns, weights, {}), strict=True))


def test_by_hand():
    result = measured([(0.9, 1), (0.8, 0), (0.6, 1), (0.5, 0)])
    # four instances, four bins: |0.9 - 1|, 0.8, |0.6 - 1|, 0.5
    assert result["ece_10_bin"] == pytest.approx((0.1 + 0.8 + 0.4 + 0.5) / 4)
    assert result["ece_1_bin"] == pytest.approx(abs(2.8 - 2) / 4)
    assert result["brier_score"] == pytest.approx((0.01 + 0.64 + 0.16 + 0.25) / 4)
    assert result["selective_cov_acc_area"] == pytest.approx((1 + 1 / 2 + 2 / 3 + 2 / 4) / 4)
    assert result["selective_acc@10"] == 1.0  # one of four
    assert result["selective_acc@10@medhelm-0.8"] == 1.0


def test_the_surest_tenth_is_a_tenth():
    pairs = [(0.99, 1), (0.98, 0), *((0.5 - index / 100, 1) for index in range(8))]
    result = measured(pairs)
    assert result["selective_acc@10"] == 1.0  # one of ten
    assert result["selective_acc@10@medhelm-0.8"] == 0.5  # two of ten


def made(size, *, rounded):
    """Confidences and answers by a formula, the same on every machine."""
    confidences = [((index * 37 + 11) % 101) / 101 for index in range(size)]
    if rounded:
        confidences = [round(confidence, 1) for confidence in confidences]
    return [
        (confidence, int((index * 53 + 7) % 97 < 97 * confidence))
        for index, confidence in enumerate(confidences)
    ]


@pytest.mark.parametrize(
    ("size", "rounded", "ece_10_bin", "ece_1_bin"),
    [
        (7, False, 0.36067892503536064, 0.07779349363507782),
        (23, False, 0.3168316831683168, 0.035299182092122294),
        (100, False, 0.11930693069306927, 0.007425742574257377),
        (60, True, 0.1466666666666667, 0.033333333333333326),
        (500, True, 0.03480000000000002, 0.0040000000000000036),
    ],
)
def test_errors_are_those_of_uncertainty_calibration(size, rounded, ece_10_bin, ece_1_bin):
    """Expected values: get_ece_em of uncertainty-calibration 0.1.4 on the same numbers."""
    result = measured(made(size, rounded=rounded))
    assert result["ece_10_bin"] == pytest.approx(ece_10_bin, abs=1e-12)
    assert result["ece_1_bin"] == pytest.approx(ece_1_bin, abs=1e-12)


@pytest.mark.parametrize(
    ("size", "area", "tenth"),
    [
        (7, 0.7744897959183673, 1.0),
        (23, 0.7313423767618403, 1.0),
        (100, 0.6928946622594804, 0.9090909090909091),
    ],
)
def test_selection_without_ties_is_that_of_uncertainty_calibration(size, area, tenth):
    """Expected values: get_selective_stats of uncertainty-calibration 0.1.4."""
    result = measured(made(size, rounded=False))
    assert result["selective_cov_acc_area"] == pytest.approx(area, abs=1e-12)
    assert result["selective_acc@10@medhelm-0.8"] == pytest.approx(tenth, abs=1e-12)


def test_ties_count_as_the_mean_over_all_their_orders():
    right = [1, 0, 0, 1, 1]
    areas = [
        statistics.mean(sum(order[:k]) / k for k in range(1, 6))
        for order in itertools.permutations(right)
    ]
    result = measured([(0.7, one) for one in right])
    assert result["selective_cov_acc_area"] == pytest.approx(statistics.mean(areas))
    assert result["selective_acc@10"] == pytest.approx(3 / 5)


PAIR = st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), st.sampled_from([0.0, 1.0]))


@given(st.lists(PAIR, min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_neither_order_nor_counting_matters(pairs, random):
    expected = measured(pairs)
    shuffled = random.sample(pairs, len(pairs))
    assert measured(shuffled) == pytest.approx(expected)
    distinct = sorted(set(pairs))
    counts = [pairs.count(pair) for pair in distinct]
    assert measured([*distinct, (0.33, 1.0)], [*counts, 0]) == pytest.approx(expected)
    assert all(0 <= value <= 1 for value in expected.values())


def test_it_brings_what_it_reads():
    chosen = metrics_for([MetricSpec(name="calibration")])
    assert [metric for metric, _ in chosen] == [METRICS["language_model"], METRICS["exact_match"]]
    other = MetricSpec(name="calibration", args={"correct": "medcalc_bench_accuracy"})
    assert METRICS["medcalc_bench_accuracy"] in [metric for metric, _ in metrics_for([other])]
