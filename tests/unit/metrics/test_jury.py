"""Jury score, its coverage, and MedHELM's value beside it."""

import pytest

from medhelm_spark.domain.request import CriterionScore, Verdict, VerdictStatus
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics import METRICS
from tests.unit.metrics.states import state

JURY = METRICS["jury_score"]
OK, BAD = VerdictStatus.OK, VerdictStatus.UNPARSEABLE


def verdict(judge, *scores, status=OK, annotator="aci_bench"):
    return Verdict(
        annotator=annotator,
        judge=judge,
        status=status,
        scores=tuple(CriterionScore(criterion=f"c{i}", score=s) for i, s in enumerate(scores)),
    )


def jury(*verdicts, answer="a note", **params):
    (row,) = JURY.fn([state(answer, verdicts=verdicts)], params)
    return [(score.value, score.status) for score in row]


def ok(value):
    return (value, ScoreStatus.OK)


NO_VERDICT = (None, ScoreStatus.NO_VERDICT)


def test_mean_of_all_criteria_of_all_judges():
    # (4 + 5 + 3 + 2 + 2 + 1) / 6
    expected = pytest.approx(17 / 6)
    assert [v for v, _ in jury(verdict("gpt", 4, 5, 3), verdict("llama", 2, 2, 1))] == [
        expected,
        1.0,
        expected,
    ]


def test_scores_are_pooled_and_not_averaged_per_judge_first():
    assert jury(verdict("gpt", 5), verdict("llama", 1, 1, 1))[0] == ok(2.0)


def test_an_answer_that_lacks_a_judge_is_unscored_and_its_coverage_says_so():
    verdicts = verdict("gpt", 4, 4), verdict("llama", status=BAD), verdict("claude", 1, 1)
    assert jury(*verdicts) == [NO_VERDICT, ok(2 / 3), ok(2.5)]
    assert jury(*verdicts, incomplete_jury="unscored") == jury(*verdicts)
    assert jury(*verdicts, incomplete_jury="available") == [ok(2.5), ok(2 / 3), ok(2.5)]


def test_a_strict_judge_that_fails_does_not_lift_the_score():
    strict, mild = verdict("strict", 2), verdict("mild", 4)
    missing = verdict("strict", status=VerdictStatus.REQUEST_FAILED)
    assert jury(strict, mild)[0] == ok(3.0)
    assert jury(missing, mild)[0] == NO_VERDICT
    assert jury(missing, mild, incomplete_jury="available")[0] == ok(4.0)


@pytest.mark.parametrize(
    "status", [BAD, VerdictStatus.REQUEST_FAILED, VerdictStatus.DENIED, VerdictStatus.NO_ANSWER]
)
def test_without_a_usable_verdict_only_medhelm_has_a_value(status):
    failed = verdict("gpt", status=status)
    assert jury(failed, default_score="1.0") == [NO_VERDICT, ok(0.0), ok(1.0)]
    assert jury(failed) == [NO_VERDICT, ok(0.0), ok(0.0)]


def test_a_verdict_without_scores_is_not_usable():
    assert jury(verdict("gpt"))[:2] == [NO_VERDICT, ok(0.0)]


def test_an_empty_answer_gets_the_rubric_minimum_where_it_is_given():
    skipped = verdict("gpt", status=VerdictStatus.SKIPPED_EMPTY_OUTPUT)
    not_applicable = (None, ScoreStatus.NOT_APPLICABLE)
    assert jury(skipped, answer="", default_score="1") == [ok(1.0), not_applicable, ok(1.0)]
    assert jury(skipped, answer="") == [NO_VERDICT, not_applicable, ok(0.0)]


def test_never_judged_and_never_answered():
    assert jury() == [NO_VERDICT] * 3
    assert jury(verdict("gpt", 5), answer=None) == [(None, ScoreStatus.NO_ANSWER)] * 3


def test_only_the_named_annotator_counts():
    own, other = verdict("gpt", 4), verdict("gpt", 1, annotator="style")
    assert jury(own, other, annotator="aci_bench")[0] == ok(4.0)
    assert jury(own, other)[0] == ok(2.5)
    assert jury(other, annotator="aci_bench")[0] == NO_VERDICT


def test_stat_name_is_medhelms_where_the_params_say_so():
    params = {"stat_name": "aci_bench_accuracy"}
    names = ["aci_bench_accuracy", "jury_coverage", "aci_bench_accuracy@medhelm-0.8"]
    (row,) = JURY.fn([state("x", verdicts=[verdict("gpt", 3)])], params)
    assert [score.name for score in row] == names
    emitted = JURY.emitted(params)
    assert [stat.name for stat in emitted] == names
    assert (emitted[0].minimum, emitted[0].maximum) == (1.0, 5.0)
    assert [stat.name for stat in JURY.emitted({})] == [stat.name for stat in JURY.emits]


def test_the_scale_is_1_to_5_where_params_name_no_other():
    def scale(**params):
        return {
            (stat.minimum, stat.maximum) for stat in JURY.emitted(params) if "cov" not in stat.name
        }

    assert scale(stat_name="tone") == {(1.0, 5.0)}
    assert scale(minimum="0", maximum="10") == {(0.0, 10.0)}
    assert scale(minimum="-inf", maximum="inf") == {(None, None)}


@pytest.mark.parametrize(
    "params",
    [
        {"incomplete_jury": "some"},
        {"minimum": "five"},
        {"maximum": "nan"},
        {"minimum": "3", "maximum": "3"},
    ],
)
def test_a_rule_or_scale_that_is_none_is_refused(params):
    with pytest.raises(ConfigError, match=next(iter(params)).removesuffix("_jury")):
        JURY.preflight(params)


@pytest.mark.parametrize("default", ["", "low", "nan", "inf"])
def test_a_default_score_that_is_no_number_is_refused(default):
    with pytest.raises(ConfigError, match="default_score"):
        JURY.preflight({"default_score": default})
