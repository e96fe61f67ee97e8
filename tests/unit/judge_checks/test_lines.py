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
from medhelm_spark.judge_checks.model_order import model_order
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


def pairs(jury: float, raters: float, n: int = 40) -> dict[tuple[str, int], tuple[float, float]]:
    rng = np.random.default_rng(int(10 * jury + raters))
    return {
        (f"i{index}", 0): (jury + rng.normal(scale=0.3), raters + rng.normal(scale=0.3))
        for index in range(n)
    }


def test_an_order_of_models_is_that_of_the_pairs_that_raters_tell_apart() -> None:
    same = model_order({"a": pairs(3, 3), "b": pairs(4, 4), "c": pairs(2, 2)}, SCALE)
    assert (same.same.value, same.num_pairs, same.turned) == (1.0, 3, ())
    turned = model_order({"a": pairs(4, 2), "b": pairs(3, 4)}, SCALE)
    assert (turned.same.value, turned.same.high) == (0.0, 0.0)
    assert turned.turned == ("a before b",)
    alike = {name: (score, 3.0) for name, (score, _) in pairs(4, 3).items()}
    assert model_order({"a": alike, "b": alike}, SCALE).num_pairs == 0


def test_too_few_instances_give_an_order_without_an_interval() -> None:
    few = model_order({"a": pairs(2, 2, 6), "b": pairs(4, 4, 6)}, SCALE)
    assert few.same == Estimated(1.0)
