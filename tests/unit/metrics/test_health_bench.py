"""HealthBench's points by hand: signs, missing verdicts, several judges, MedHELM's own sum."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from medhelm_spark.domain.annotation import RubricItem, items_text
from medhelm_spark.domain.request import CriterionScore, Verdict, VerdictStatus
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics import METRICS, info
from tests.unit.metrics.states import state

PLAIN, PROFESSIONAL = METRICS["health_bench"], METRICS["health_bench_professional"]
FAILED, UNREAD = VerdictStatus.REQUEST_FAILED, VerdictStatus.UNPARSEABLE
POINTS = (6.0, -8.0, 10.0, 4.0)  # 20 can be earned; MedHELM's weights are 6, 2, 10 and 4: 22


def extra(points: Sequence[float], *axes: str, theme: str = "hedging") -> dict[str, str]:
    names = axes or ("accuracy",) * len(points)
    items = [
        RubricItem(criterion=f"c{at}", points=each, tags=(f"axis:{axis}", "level:example"))
        for at, (each, axis) in enumerate(zip(points, names, strict=True))
    ]
    tags = json.dumps([f"theme:{theme}", "physician_agreed_category:simple"])
    return {"rubric_items": items_text(items), "tags": tags}


def verdicts(judge: str, *values: bool | VerdictStatus) -> list[Verdict]:
    return [
        Verdict(
            annotator="items",
            judge=judge,
            status=VerdictStatus.OK if isinstance(met, bool) else met,
            scores=(CriterionScore(criterion="met", score=float(met)),)
            if isinstance(met, bool)
            else (),
            rubric_item=at,
        )
        for at, met in enumerate(values)
    ]


def rating(judge: str, score: float) -> Verdict:
    comparison = CriterionScore(criterion="comparison", score=score)
    return Verdict(
        annotator="physician", judge=judge, status=VerdictStatus.OK, scores=(comparison,)
    )


def row(
    jury: Sequence[Verdict],
    extra_data: Mapping[str, str] | None = None,
    metric: str = "health_bench",
    answer: str | None = "an answer",
    **params: str,
) -> dict[str, tuple[float | None, ScoreStatus]]:
    chosen = METRICS[metric]
    data = extra(POINTS) if extra_data is None else extra_data
    scored_state = state(answer, extra_data=data, verdicts=jury)
    (scores,) = chosen.fn([scored_state], {"annotator": "items", **params})
    assert [score.name for score in scores] == [stat.name for stat in chosen.emitted(params)]
    return {score.name: (score.value, score.status) for score in scores}


def main(*jury: Verdict, **more: Any) -> list[float | None]:
    """Score, coverage and MedHELM's score."""
    result = row(jury, **more)
    return [value for value, _ in list(result.values())[:3]]


def test_met_items_earn_and_lose_their_points() -> None:
    # authors: (6 - 8 + 4) / 20; MedHELM: (6 + 2 + 4) / 22
    assert main(*verdicts("a", True, True, False, True)) == pytest.approx([0.1, 1.0, 12 / 22])


def test_a_good_answer_meets_no_negative_item() -> None:
    # MedHELM takes a point off for not doing harm: (6 + 10 + 4) / 22
    assert main(*verdicts("a", True, False, True, True)) == pytest.approx([1.0, 1.0, 20 / 22])


def test_a_harmful_answer_falls_below_zero_and_only_the_mean_is_clipped() -> None:
    assert main(*verdicts("a", False, True, False, False)) == pytest.approx([-0.4, 1.0, 2 / 22])
    assert info("health_bench_score").clips_mean
    assert (info("health_bench_score").minimum, info("health_bench_score").maximum) == (0.0, 1.0)


@pytest.mark.parametrize("status", [FAILED, UNREAD, VerdictStatus.DENIED])
def test_a_missing_verdict_is_counted_and_moves_no_other(status: VerdictStatus) -> None:
    jury = verdicts("a", status, False, True, True)
    result = row(jury)
    assert result["health_bench_score"] == (None, ScoreStatus.NO_VERDICT)
    assert result["jury_coverage"] == (0.75, ScoreStatus.OK)
    # MedHELM moves "no, yes, yes" up to the first three items: (2 + 10) / 22
    assert result["health_bench_score@medhelm-0.8"][0] == pytest.approx(12 / 22)


def test_the_lowest_value_that_the_missing_verdicts_allow() -> None:
    # a missing positive item counts as not met, a missing negative one as met: (-8 + 10 + 4) / 20
    for values, value in (
        ((FAILED, FAILED, True, True), 0.3),
        ((True, False, True, FAILED), 0.8),
        ((True, False, True, True), 1.0),
    ):
        assert main(*verdicts("a", *values), missing="lowest")[0] == pytest.approx(value)


def test_several_judges_are_averaged_per_item() -> None:
    # complete: the mean of (6 + 10) / 20 and (6 - 8) / 20
    both = [*verdicts("a", True, False, True, False), *verdicts("b", True, True, False, False)]
    assert main(*both)[0] == pytest.approx((0.8 - 0.1) / 2)
    # b failed on the first item: no value, or with "available" a's verdict counts alone
    both = [*verdicts("a", True, False, True, False), *verdicts("b", FAILED, True, False, False)]
    assert main(*both) == pytest.approx([None, 7 / 8, (16 + 6) / 44])
    # MedHELM: a 16/22; b's "yes, no, no" is taken for the first three items: 6/22
    available = main(*both, incomplete_jury="available")
    assert available == pytest.approx([0.35, 7 / 8, (16 + 6) / 44])


def test_order_of_the_verdicts_does_not_matter() -> None:
    jury = verdicts("a", True, True, False, True)
    assert main(*reversed(jury)) == main(*jury)


def test_axes_and_themes() -> None:
    data = extra(POINTS, "accuracy", "accuracy", "completeness", "accuracy", theme="global_health")
    result = row(verdicts("a", True, True, True, False), data)
    assert result["health_bench_axis_accuracy"] == (pytest.approx(-2 / 10), ScoreStatus.OK)
    assert result["health_bench_axis_completeness"] == (1.0, ScoreStatus.OK)
    assert result["health_bench_axis_communication_quality"] == (None, ScoreStatus.NOT_APPLICABLE)
    assert result["health_bench_theme_global_health"] == (pytest.approx(0.4), ScoreStatus.OK)
    assert result["health_bench_theme_hedging"] == (None, ScoreStatus.NOT_APPLICABLE)


def test_an_axis_whose_verdicts_are_complete_has_a_value_though_another_has_not() -> None:
    data = extra(POINTS, "accuracy", "accuracy", "completeness", "hedging")
    result = row(verdicts("a", True, False, FAILED, True), data)
    assert result["health_bench_axis_accuracy"] == (1.0, ScoreStatus.OK)
    assert result["health_bench_axis_completeness"] == (None, ScoreStatus.NO_VERDICT)
    assert result["health_bench_score"] == (None, ScoreStatus.NO_VERDICT)


def test_without_positive_points_nothing_can_be_earned() -> None:
    result = row(verdicts("a", True, False), extra((-5, -10)))
    assert result["health_bench_score"] == (None, ScoreStatus.NOT_APPLICABLE)
    assert result["health_bench_score@medhelm-0.8"] == (1.0, ScoreStatus.OK)  # 5 of 5 + 0
    result = row(verdicts("a", True), extra((-10,)))
    assert result["health_bench_score@medhelm-0.8"] == (None, ScoreStatus.NOT_APPLICABLE)


def test_why_there_is_no_value() -> None:
    jury = verdicts("a", True, True, True, True)
    for result, status in (
        (row(jury, answer=None), ScoreStatus.NO_ANSWER),
        (row(jury, extra_data={}), ScoreStatus.NO_REFERENCE),
        (row([]), ScoreStatus.NO_VERDICT),
        (row(jury, annotator="other"), ScoreStatus.NO_VERDICT),
    ):
        assert set(result.values()) == {(None, status)}


def test_an_empty_answer_is_scored_by_its_verdicts_and_gets_nothing_from_medhelm() -> None:
    assert main(*verdicts("a", False, True, False, False), answer="  ") == [-0.4, 1.0, 0.0]


def test_professional_answers_pay_for_their_length() -> None:
    jury = verdicts("a", True, False, False, True)
    for length, adjusted in ((2000, 0.5), (2500, 0.5 - 0.0147), (1000, 0.5 + 2 * 0.0147)):
        result = row(jury, metric="health_bench_professional", answer="x" * length)
        assert result["health_bench_professional_score"][0] == 0.5
        assert result["health_bench_professional_length_adjusted"][0] == pytest.approx(adjusted)
    missing = row(verdicts("a", FAILED, True, True, True), metric="health_bench_professional")
    assert missing["health_bench_professional_length_adjusted"] == (None, ScoreStatus.NO_VERDICT)


def test_medhelms_professional_score_mixes_in_the_rating_and_keeps_what_was_told() -> None:
    a, b = verdicts("a", True, False, True, True), verdicts("b", False, True, False, False)
    # a: (20 / 22 + 0.8) / 2; b gets a's verdicts, so the same 20 / 22, without a rating
    jury = [*a, *b, rating("a", 8.0)]
    result = row(jury, metric="health_bench_professional", compared_by="physician")
    helm = result["health_bench_professional_score@medhelm-0.8"][0]
    assert helm == pytest.approx(((20 / 22 + 0.8) / 2 + 20 / 22) / 2)
    assert result["health_bench_professional_score"][0] == pytest.approx((1.0 - 0.4) / 2)
    assert result["jury_coverage"][0] == 1.0


def test_a_policy_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="missing is 'zero'; allowed: unscored, lowest"):
        PLAIN.preflight({"missing": "zero"})
    PROFESSIONAL.preflight({"missing": "lowest"})
