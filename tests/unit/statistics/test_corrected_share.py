"""A judge's share of a class, corrected by its sensitivity and specificity on the rated answers."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from medhelm_spark.statistics.corrected_share import corrected_share
from medhelm_spark.statistics.prediction_powered import FEWEST_RATED


def drawn(seed: int, share: float = 0.6, sensitivity: float = 0.95, specificity: float = 0.7):
    """A thousand true classes, and what a judge answers about them."""
    rng = np.random.default_rng(seed)
    truth = rng.random(1000) < share
    chance = rng.random(1000)
    return truth, np.where(truth, chance < sensitivity, chance > specificity)


def test_the_share_sensitivity_and_specificity_are_the_likeliest() -> None:
    """The likelihood of both samples, at its maximum by another way."""
    truth, judge = drawn(1)
    rated, judged, others = truth[:60], judge[:60], judge[60:]
    corrected = corrected_share(rated, judged, others)

    def unlikely(at: np.ndarray) -> float:
        p, sensitivity, specificity = 1 / (1 + np.exp(-at))
        positive = p * sensitivity + (1 - p) * (1 - specificity)
        cells = {
            (True, True): p * sensitivity,
            (True, False): p * (1 - sensitivity),
            (False, True): (1 - p) * (1 - specificity),
            (False, False): (1 - p) * specificity,
        }
        total = sum(
            math.log(cells[pair]) for pair in zip(rated.tolist(), judged.tolist(), strict=True)
        )
        ones = int(others.sum())
        return -total - ones * math.log(positive) - (len(others) - ones) * math.log(1 - positive)

    best = minimize(unlikely, np.array([0.0, 1.0, 1.0]), method="Nelder-Mead", tol=1e-10)
    found = 1 / (1 + np.exp(-best.x))
    assert corrected.value == pytest.approx(found[0], abs=1e-4)
    assert corrected.sensitivity == pytest.approx(found[1], abs=1e-4)
    assert corrected.specificity == pytest.approx(found[2], abs=1e-4)


def test_the_three_make_the_share_that_the_judge_says() -> None:
    """Rogan and Gladen: p = (q + specificity - 1) / (sensitivity + specificity - 1)."""
    truth, judge = drawn(2)
    corrected = corrected_share(truth[:80], judge[:80], judge[80:])
    of_both = corrected.sensitivity + corrected.specificity - 1
    assert corrected.value == pytest.approx(
        (judge.mean() + corrected.specificity - 1) / of_both, abs=1e-12
    )


def test_a_judge_that_calls_too_many_is_corrected() -> None:
    inside, narrower, raw = 0, 0, 0
    for seed in range(200):
        truth, judge = drawn(seed)
        corrected = corrected_share(truth[:60], judge[:60], judge[60:])
        inside += corrected.low <= 0.6 <= corrected.high
        alone = 2 * 1.96 * math.sqrt(truth[:60].mean() * (1 - truth[:60].mean()) / 60)
        narrower += corrected.high - corrected.low < alone
        raw += abs(judge.mean() - 0.6) < 0.03
    assert inside >= 180
    assert narrower >= 180
    assert raw <= 2


def test_a_judge_without_any_knowledge_leaves_the_share_of_the_ratings() -> None:
    truth, judge = drawn(3, sensitivity=0.5, specificity=0.5)
    corrected = corrected_share(truth[:200], judge[:200], judge[200:])
    assert corrected.value == pytest.approx(truth[:200].mean(), abs=0.05)


def test_answers_of_one_patient_are_one_try() -> None:
    truth, judge = drawn(4)
    labels = np.arange(1000) // 5
    alike = np.repeat(truth[::5], 5), np.repeat(judge[::5], 5)
    plain = corrected_share(alike[0][:200], alike[1][:200], alike[1][200:])
    corrected = corrected_share(
        alike[0][:200], alike[1][:200], alike[1][200:], clusters=(labels[:200], labels[200:])
    )
    assert corrected.value == pytest.approx(plain.value)
    assert corrected.high - corrected.low > 1.8 * (plain.high - plain.low)


@pytest.mark.parametrize(
    ("rated", "others"),
    [
        (np.arange(FEWEST_RATED - 1) % 2 == 0, 100),
        (np.ones(40, bool), 100),
        (np.zeros(40, bool), 100),
        (np.arange(40) % 2 == 0, 0),
        (np.zeros(0, bool), 100),
        (np.ones(1, bool), 100),
    ],
    ids=["too few", "all of the class", "none of it", "no other answer", "none", "one"],
)
def test_what_says_too_little_corrects_nothing(rated: np.ndarray, others: int) -> None:
    assert corrected_share(rated, rated, np.ones(others, bool)) is None


def test_a_class_that_the_judge_says_of_no_rated_answer_is_not_known() -> None:
    rated = np.arange(40) % 4 == 0
    corrected = corrected_share(rated, np.ones(40, bool), np.arange(60) % 10 != 0)
    assert corrected.high - corrected.low > 0.06
    assert all(math.isfinite(end) for end in (corrected.value, corrected.low, corrected.high))
