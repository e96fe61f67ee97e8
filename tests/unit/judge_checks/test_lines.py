"""How lines of evidence decide, what would decide an open one, and the numbers behind them."""

import numpy as np
import pytest

from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.judge_checks.bias import slopes
from medhelm_spark.judge_checks.lines import (
    ALL_USES,
    EvidenceLine,
    LineOutcome,
    Trust,
    Use,
    at_least,
    at_most,
    not_below,
    verdict_of,
    within,
)
from medhelm_spark.judge_checks.model_order import JudgedAnswer, model_order
from medhelm_spark.statistics.intervals import wilson
from medhelm_spark.statistics.two_by_two import Estimated

LINE = EvidenceLine(name="line", uses=ALL_USES, outcome=LineOutcome.INCONCLUSIVE)
SCALE = MetricInfo(name="s", display_name="S", minimum=1.0, maximum=5.0)


@pytest.mark.parametrize(
    ("hits", "n", "outcome"),
    [(0, 50, "passed"), (0, 20, "inconclusive"), (30, 50, "failed"), (0, 0, "not applicable")],
)
def test_a_share_decides_by_wilsons_interval(hits: int, n: int, outcome: str) -> None:
    assert at_most(LINE, hits, n, 0.1).outcome == outcome
    assert at_least(LINE, n - hits, n, 0.9).outcome == outcome


def test_an_open_share_says_how_many_more_would_decide() -> None:
    line = at_most(LINE, 0, 20, 0.1)
    more = int(line.cure.split()[0])
    assert wilson(0, 20 + more).high <= 0.1 < wilson(0, 20 + more - 2).high


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (-0.1, 0.1, "passed"),
        (0.3, 0.5, "failed"),
        (-0.5, -0.3, "failed"),
        (0.1, 0.3, "inconclusive"),
        (-0.3, 0.3, "inconclusive"),
    ],
)
def test_a_difference_has_to_lie_within_the_limit(low: float, high: float, outcome: str) -> None:
    line = within(LINE, Estimated((low + high) / 2, low, high), 40, 0.2)
    assert line.outcome == outcome
    assert bool(line.cure) is (outcome == "inconclusive")


def test_a_number_without_an_interval_decides_nothing() -> None:
    assert within(LINE, Estimated(0.0), 1, 0.2).outcome is LineOutcome.INCONCLUSIVE
    assert not_below(LINE, None, 0, 0.5).cure == "rate 30 more answers"
    assert not_below(LINE, Estimated(0.9, 0.6, 0.95), 9, 0.5).outcome is LineOutcome.PASSED


def test_one_failed_line_decides_a_use_and_reports_decide_nothing() -> None:
    def line(name: str, outcome: LineOutcome, *uses: Use) -> EvidenceLine:
        return EvidenceLine(name=name, uses=uses, outcome=outcome, cure=f"mend {name}")

    lines = [
        line("a", LineOutcome.PASSED, *Use),
        line("b", LineOutcome.FAILED, Use.SCREEN),
        line("c", LineOutcome.INCONCLUSIVE, Use.SCREEN, Use.ABSOLUTE),
        line("d", LineOutcome.NOT_APPLICABLE, *Use),
        line("e", LineOutcome.REPORTED),
    ]
    found = {use: verdict_of(use, lines) for use in Use}
    assert [found[use].trust for use in Use] == [
        Trust.TRUSTED,
        Trust.INCONCLUSIVE,
        Trust.UNTRUSTED,
    ]
    assert found[Use.SCREEN].because == ("b",)
    assert found[Use.ABSOLUTE].cures == ("mend c",)


def test_a_slope_is_held_equal_for_what_goes_with_it() -> None:
    rng = np.random.default_rng(1)
    quality = rng.normal(size=400)
    length = quality + rng.normal(size=400)  # better answers are longer
    score = quality + rng.normal(scale=0.3, size=400)
    clusters = [str(index // 2) for index in range(400)]
    plain = slopes(score, {"length": length}, clusters)["length"]
    slope = slopes(score, {"quality": quality, "length": length}, clusters)["length"]
    assert plain.low > 0.3
    assert slope.low < 0 < slope.high
    assert slopes(score, {"length": np.zeros(400)}, clusters) == {}


def test_clustered_slopes_cover_the_truth() -> None:
    rng, hits = np.random.default_rng(2), 0
    for _ in range(200):
        labels = np.repeat(np.arange(40), 5)
        column = np.repeat(rng.normal(size=40), 5)
        score = 0.5 * column + np.repeat(rng.normal(size=40), 5) + rng.normal(size=200)
        found = slopes(score, {"x": column}, [str(label) for label in labels])["x"]
        hits += found.low <= 0.5 <= found.high
    assert 180 <= hits <= 199


def rated(jury: float, raters: float, n: int = 40) -> dict[tuple[str, int], JudgedAnswer]:
    """Answers to `n` questions of one patient each."""
    rng = np.random.default_rng(int(10 * jury + raters))
    return {
        (f"i{index}", 0): JudgedAnswer(
            jury + rng.normal(scale=0.3), raters + rng.normal(scale=0.3), f"i{index}"
        )
        for index in range(n)
    }


def test_an_order_of_models_is_that_of_the_pairs_that_raters_tell_apart() -> None:
    same = model_order({"a": rated(3, 3), "b": rated(4, 4), "c": rated(2, 2)}, SCALE)
    assert (same.same.value, same.num_pairs, same.turned) == (1.0, 3, ())
    turned = model_order({"a": rated(4, 2), "b": rated(3, 4)}, SCALE)
    assert (turned.same.value, turned.same.high) == (0.0, 0.0)
    assert turned.turned == ("a before b",)
    alike = {name: answer._replace(rating=3.0) for name, answer in rated(4, 3).items()}
    assert model_order({"a": alike, "b": alike}, SCALE).num_pairs == 0


def test_too_few_instances_give_an_order_without_an_interval() -> None:
    few = model_order({"a": rated(2, 2, 6), "b": rated(4, 4, 6)}, SCALE)
    assert few.same == Estimated(1.0)


def of_patients(gains: list[float], answers: int) -> dict[str, dict[tuple[str, int], JudgedAnswer]]:
    """Models a and b on so many answers of each patient, a better than b by the patient's gain."""
    rng = np.random.default_rng(0)
    models: dict[str, dict[tuple[str, int], JudgedAnswer]] = {"a": {}, "b": {}}
    for patient, gain in enumerate(gains):
        for question in range(answers):
            name, error = (f"q{patient}-{question}", 0), rng.normal(scale=0.1)
            models["a"][name] = JudgedAnswer(3 + gain, 3 + gain + error, f"p{patient}")
            models["b"][name] = JudgedAnswer(3, 3, f"p{patient}")
    return models


def test_three_patients_with_twenty_answers_each_tell_no_models_apart() -> None:
    assert model_order(of_patients([1.0, 0.8, -0.2], 20), SCALE).num_pairs == 0


def test_models_that_few_patients_tell_apart_have_an_order_without_an_interval() -> None:
    few = model_order(of_patients([1.0, 0.9, 1.1], 20), SCALE)
    assert (few.num_pairs, few.same) == (1, Estimated(1.0))
    enough = model_order(of_patients([1.0, 0.9, 1.1] * 4, 5), SCALE)
    assert enough.same == Estimated(1.0, 1.0, 1.0)


def test_trials_of_one_question_count_once() -> None:
    models = {
        model: {
            (name, trial): answer
            for (name, _), answer in rated(score, score, 6).items()
            for trial in range(10)
        }
        for model, score in (("a", 2), ("b", 4))
    }
    assert model_order(models, SCALE).same == Estimated(1.0)


def test_a_jury_that_ties_a_pair_has_it_neither_in_order_nor_turned() -> None:
    better, worse = (
        {name: answer._replace(score=3.0) for name, answer in rated(3, mean).items()}
        for mean in (4, 2)
    )
    found = model_order({"a": better, "b": worse}, SCALE)
    assert (found.turned, found.tied) == ((), ("a and b",))
    assert found.same == Estimated(0.0, 0.0, 0.0)


def test_equal_scores_are_a_tie_whatever_rounding_leaves_of_them() -> None:
    thirds = [(0.1 + 0.2, 0.3), (1 / 3, 0.0), (0.0, 1 / 3)]
    models: dict[str, dict[tuple[str, int], JudgedAnswer]] = {"a": {}, "b": {}}
    for index, (first, second) in enumerate(thirds * 5):
        models["a"][f"i{index}", 0] = JudgedAnswer(first, 4.0 + index % 2, f"i{index}")
        models["b"][f"i{index}", 0] = JudgedAnswer(second, 2.0, f"i{index}")
    assert model_order(models, SCALE).tied == ("a and b",)
