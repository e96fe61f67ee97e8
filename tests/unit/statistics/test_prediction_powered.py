"""A judge's mean, corrected by ratings: the values of another package, and what it must not do."""

import math

import numpy as np
import pytest

from medhelm_spark.statistics.prediction_powered import (
    FEWEST_RATED,
    CorrectedMean,
    corrected_difference,
    corrected_mean,
)

RATED = np.array(
    [
        3.0,
        3.2,
        2.8,
        2.3,
        2.6,
        2.2,
        3.0,
        4.1,
        2.6,
        2.5,
        3.4,
        3.3,
        3.1,
        2.3,
        3.0,
        3.6,
        1.9,
        2.6,
        1.5,
        2.0,
        1.5,
        2.8,
        2.0,
        3.2,
        3.1,
        2.9,
        1.0,
        2.6,
        3.0,
        3.1,
    ]
)
JUDGED = np.array(
    [
        3.0,
        3.6,
        3.0,
        2.6,
        3.6,
        2.5,
        3.6,
        5.1,
        3.0,
        3.1,
        4.0,
        3.9,
        3.2,
        2.9,
        4.1,
        3.6,
        2.8,
        3.2,
        1.8,
        3.4,
        2.4,
        2.9,
        2.6,
        4.0,
        3.6,
        3.8,
        1.6,
        3.5,
        4.2,
        3.4,
    ]
)
OTHERS = np.array(
    [
        3.8,
        3.2,
        3.7,
        2.5,
        3.1,
        3.4,
        4.4,
        4.6,
        2.4,
        2.9,
        4.2,
        1.8,
        3.2,
        3.5,
        4.7,
        4.2,
        3.3,
        3.3,
        3.4,
        5.0,
        3.2,
        3.3,
        3.9,
        3.5,
        3.4,
        2.6,
        3.6,
        3.2,
        4.6,
        4.2,
        3.6,
        4.2,
        3.3,
        4.5,
        3.6,
        4.1,
    ]
)


@pytest.mark.parametrize(
    ("weight", "value", "half_width"),
    [(0, 2.673333333333333, 0.23590841225817805), (1, 3.0011111111111113, 0.2593301254066396)],
    ids=["none", "all"],
)
def test_values_are_those_of_ppi_py(weight: float, value: float, half_width: float):
    """Its standard error has no Bessel's correction, and its interval is normal."""
    estimate = corrected_mean(RATED, JUDGED, OTHERS, weight=weight)
    assert estimate.value == pytest.approx(value, abs=1e-12)
    n, more = len(RATED), len(OTHERS)
    parts = (RATED - weight * JUDGED).var() / n, weight**2 * OTHERS.var() / more
    assert half_width == pytest.approx(1.959963984540054 * math.sqrt(sum(parts)), abs=1e-12)
    corrected = parts[0] * n / (n - 1) + parts[1] * more / (more - 1)
    errors = (estimate.high - estimate.value) / math.sqrt(corrected)
    assert 1.96 < errors < 2.1


@pytest.mark.parametrize(
    ("weight", "value", "half_width"),
    [(0, 0.26733333333333337, 0.29441813), (1, 0.28372222222222, 0.36678908)],
    ids=["none", "all"],
)
def test_differences_are_those_of_ppi_py(weight: float, value: float, half_width: float):
    """Of the differences of each instance; its interval is normal, without Bessel's correction."""
    rated, judged, others = (
        (values, factor * np.roll(values, 1))
        for values, factor in ((RATED, 0.9), (JUDGED, 0.95), (OTHERS, 0.95))
    )
    estimate = corrected_difference(rated, judged, others, weight=weight)
    assert estimate.value == pytest.approx(value, abs=1e-12)
    of_rated = (rated[0] - rated[1]) - weight * (judged[0] - judged[1])
    of_others = weight * (others[0] - others[1])
    variance = of_rated.var() / len(RATED) + of_others.var() / len(OTHERS)
    assert half_width == pytest.approx(1.959963984540054 * math.sqrt(variance), abs=1e-8)
    assert estimate.high - estimate.value > half_width


def test_with_one_weight_it_is_the_difference_of_two_corrected_means():
    first, second = (RATED, JUDGED, OTHERS), (RATED / 2, np.roll(JUDGED, 3), np.roll(OTHERS, 5))
    estimate = corrected_difference(*zip(first, second, strict=True), weight=1)
    apart = [corrected_mean(*model, weight=1).value for model in (first, second)]
    assert estimate.value == pytest.approx(apart[0] - apart[1], abs=1e-12)


def test_a_judge_that_favours_one_of_two_equal_models_calls_no_difference():
    """It is 0.6 too kind to the first; 40 of 1,000 instances are rated."""
    inside, raw = 0, 0
    for seed in range(100):
        (first, kind), (second, _) = drawn(seed), drawn(1000 + seed)
        rng = np.random.default_rng(2000 + seed)
        fair = np.clip(second + rng.normal(0, 0.5, 1000), 1, 5)
        estimate = corrected_difference(
            (first[:40], second[:40]), (kind[:40], fair[:40]), (kind[40:], fair[40:]), (1, 5)
        )
        inside += estimate.low <= 0 <= estimate.high
        raw += abs(float((kind - fair).mean())) < 0.2
    assert inside >= 90
    assert raw == 0


def test_a_difference_is_cut_at_the_scale_of_differences():
    estimate = corrected_difference(
        (np.linspace(4.5, 5, 30), np.linspace(1, 1.5, 30)[::-1]),
        (np.full(30, 5.0), np.full(30, 1.0)),
        (np.full(40, 5.0), np.full(40, 1.0)),
        (4.4, 5.1),
    )
    assert estimate.high == pytest.approx(0.7)


def drawn(seed: int, bias: float = 0.6) -> tuple[np.ndarray, np.ndarray]:
    """A thousand true values from 1 to 5, and those of a judge that is too kind."""
    rng = np.random.default_rng(seed)
    truth = rng.choice([1.0, 2.0, 3.0, 4.0, 5.0], 1000, p=[0.03, 0.07, 0.15, 0.4, 0.35])
    return truth, np.clip(truth + bias + rng.normal(0, 0.5, 1000), 1, 5)


def test_a_judge_that_is_too_kind_is_corrected_and_the_interval_is_narrower_than_of_ratings_alone():
    inside, narrower = 0, 0
    for seed in range(100):
        truth, judge = drawn(seed)
        estimate = corrected_mean(truth[:40], judge[:40], judge[40:], (1, 5))
        inside += estimate.low <= 3.97 <= estimate.high
        alone = 2 * 2.02 * truth[:40].std(ddof=1) / math.sqrt(40)
        narrower += estimate.high - estimate.low < alone
    assert inside >= 90
    assert narrower >= 95


def test_a_judge_without_any_knowledge_leaves_the_mean_of_the_ratings():
    truth, _ = drawn(1)
    judge = np.random.default_rng(2).uniform(1, 5, 1000)
    estimate = corrected_mean(truth[:40], judge[:40], judge[40:], (1, 5))
    assert estimate.weight < 0.2
    assert estimate.value == pytest.approx(truth[:40].mean(), abs=0.15)


def test_answers_of_one_patient_are_one_try():
    truth, judge = drawn(3)
    plain = corrected_mean(truth[:120], judge[:120], judge[120:], (1, 5))
    labels = np.arange(1000) // 3
    alike = np.repeat(truth[::3], 3)[:1000], np.repeat(judge[::3], 3)[:1000]
    estimate = corrected_mean(
        alike[0][:120],
        alike[1][:120],
        alike[1][120:],
        (1, 5),
        clusters=(labels[:120], labels[120:]),
    )
    assert estimate.num_rated == 120
    assert estimate.high - estimate.low > 1.3 * (plain.high - plain.low)


@pytest.mark.parametrize(
    "rated",
    [
        np.linspace(2, 4, FEWEST_RATED - 1),
        np.full(40, 4.0),
        np.array([1.0, 5.0] * 20),
    ],
    ids=["too few", "all equal", "classes"],
)
def test_no_mean_is_corrected_by_ratings_whose_errors_are_not_known(rated: np.ndarray):
    judge = np.linspace(1, 5, 100)
    assert corrected_mean(rated, judge[: len(rated)], judge[len(rated) :], (1, 5)) is None


def test_the_interval_stays_on_the_scale_and_a_constant_judge_counts_nothing():
    rated = np.array([5.0] * 28 + [4.0, 3.0])
    estimate = corrected_mean(rated, np.full(30, 4.0), np.full(70, 4.0), (1, 5))
    assert isinstance(estimate, CorrectedMean)
    assert (estimate.weight, estimate.value) == (0.0, pytest.approx(4.9))
    assert estimate.high == 5.0
