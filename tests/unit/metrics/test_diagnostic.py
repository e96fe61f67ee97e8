"""Diagnostic accuracy, worked out by hand: rates, costs, abstentions, and what has no value."""

from dataclasses import replace

import numpy as np
import pytest

from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod, MetricSpec
from medhelm_spark.domain.scenario import Reference
from medhelm_spark.domain.stats import IntervalMethod, ScoreStatus
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.metrics import METRICS, RUN_METRICS, info, metrics_for, run_metrics_for
from medhelm_spark.metrics.diagnostic import costs_text
from medhelm_spark.stages.summarize.run_summarizer import Observed, RunSummarizer
from medhelm_spark.statistics.intervals import mover, wilson
from tests.unit.metrics.states import correct, state

YES_NO = {"labels": "yes|no", "positive": "yes"}
TRIAGE = {"labels": "emergency|urgent|routine"}
METRIC = RUN_METRICS["diagnostic_accuracy"]

# Of ten with the disease 6 are answered yes, 3 no, 1 not readably; of twenty without it 14 no, 4
# yes, 2 not readably.
TEST = [("yes", "Yes.", 6), ("yes", "no", 3), ("yes", "", 1)]
TEST += [("no", "no", 14), ("no", "yes", 4), ("no", "perhaps", 2)]


def codes(answers, params):
    rows = METRICS["class_given"].fn(
        [state(answer, correct(right)) for right, answer, _ in answers], params
    )
    return [tuple(score.value for score in row) for row in rows]


def measured(answers, params):
    """Every stat by its name, of answers given as (right, answer, how often)."""
    weights = np.array([times for _, _, times in answers])
    values = METRIC.fn(np.array(codes(answers, params)), weights, params)
    names = [stat.name for stat in METRIC.emitted(params)]
    return dict(zip(names, values, strict=True))


def test_a_two_by_two_table_with_abstentions():
    stats = measured(TEST, YES_NO)
    assert stats == {
        "accuracy": pytest.approx(20 / 30),
        "balanced_accuracy": pytest.approx((6 / 10 + 14 / 20) / 2),
        "abstention": pytest.approx(3 / 30),
        "sensitivity": pytest.approx(6 / 10),
        "specificity": pytest.approx(14 / 20),
        "ppv": pytest.approx(6 / 10),
        "npv": pytest.approx(14 / 17),
        "confusion[yes>-]": 1.0,
        "confusion[yes>yes]": 6.0,
        "confusion[yes>no]": 3.0,
        "confusion[no>-]": 2.0,
        "confusion[no>yes]": 4.0,
        "confusion[no>no]": 14.0,
    }


def test_costs_of_errors():
    params = {**YES_NO, "costs": "yes>no=10 | No > yes = 1"}
    # A yes without an answer costs as much as a yes that was missed.
    cost = (3 * 10 + 1 * 10 + 4 * 1 + 2 * 1) / 30
    assert measured(TEST, params)["cost_weighted_error"] == pytest.approx(cost)
    stated = {**YES_NO, "costs": "yes>no=10|yes>-=2.5|no>-=0"}
    cost = (3 * 10 + 1 * 2.5 + 4 * 1 + 2 * 0) / 30
    assert measured(TEST, stated)["cost_weighted_error"] == pytest.approx(cost)
    (scale,) = (one for one in METRIC.emitted(stated) if one.name == "cost_weighted_error")
    assert (scale.minimum, scale.maximum, scale.lower_is_better) == (0.0, 10.0, True)


@pytest.mark.parametrize(
    ("labels", "costs", "sentence"),
    [
        (
            "yes|no",
            "yes>no=10 | No > yes = 1",
            "yes answered as no costs 10, no answered as yes costs 1",
        ),
        ("yes|no", "yes>-=2.5", "yes without an answer costs 2.5, any other error 1"),
        ("red|amber|green", "red>green=8", "red answered as green costs 8, any other error 1"),
    ],
    ids=["both", "no answer", "three classes"],
)
def test_costs_are_said_in_words(labels, costs, sentence):
    assert costs_text({"labels": labels, "costs": costs}) == sentence
    assert costs_text({"labels": labels}) == ""


def test_a_rate_names_what_it_is_traded_against():
    known = {stat.name: stat.traded_against for stat in METRIC.emitted(YES_NO)}
    assert (known["sensitivity"], known["specificity"]) == ("specificity", "sensitivity")
    assert (known["ppv"], known["npv"], known["accuracy"]) == ("sensitivity", "specificity", "")
    by_class = {
        stat.name: stat.traded_against for stat in METRIC.emitted({"labels": "red|amber|green"})
    }
    assert by_class["sensitivity[red]"] == "specificity[red]"


def test_several_classes_have_rates_of_their_own_or_are_positive_together():
    answers = [("emergency", "emergency", 4), ("emergency", "urgent", 1), ("urgent", "urgent", 2)]
    answers += [("urgent", "routine", 2), ("routine", "routine", 3), ("routine", "emergency", 1)]
    stats = measured(answers, TRIAGE)
    assert stats["balanced_accuracy"] == pytest.approx((4 / 5 + 2 / 4 + 3 / 4) / 3)
    assert stats["sensitivity[emergency]"] == pytest.approx(4 / 5)
    assert stats["specificity[emergency]"] == pytest.approx((2 + 2 + 3) / 8)
    assert stats["ppv[emergency]"] == pytest.approx(4 / 5)
    assert stats["npv[emergency]"] == pytest.approx(7 / 8)
    assert stats["confusion[urgent>routine]"] == 2.0
    assert "sensitivity" not in stats
    together = measured(answers, {**TRIAGE, "positive": "Emergency|urgent"})
    assert together["sensitivity"] == pytest.approx(7 / 9)
    assert together["specificity"] == pytest.approx(3 / 4)
    assert together["ppv"] == pytest.approx(7 / 8)
    assert together["npv"] == pytest.approx(3 / 5)


def test_what_nobody_can_know_has_no_value():
    stats = measured([("no", "no", 3), ("no", "", 1)], YES_NO)
    assert (stats["sensitivity"], stats["ppv"], stats["balanced_accuracy"]) == (None, None, None)
    assert (stats["specificity"], stats["npv"]) == (3 / 4, 1.0)
    silent = measured([("yes", "", 2), ("no", "", 1)], YES_NO)
    assert (silent["ppv"], silent["npv"], silent["sensitivity"]) == (None, None, 0.0)
    assert (silent["accuracy"], silent["abstention"]) == (0.0, 1.0)


def test_what_cannot_be_classed_says_why():
    fn = METRICS["class_given"].fn
    failed, strange = state(None, correct("yes")), state("yes", correct("perhaps"))
    statuses = [row[0].status for row in fn([failed, strange], YES_NO)]
    assert statuses == [ScoreStatus.NO_ANSWER, ScoreStatus.NO_REFERENCE]
    wrong = (Reference(text="no"), *correct("yes"))
    scored_state = state("B", wrong, output_mapping={"A": "no", "B": "yes"})
    assert [score.value for score in fn([scored_state], YES_NO)[0]] == [1.0, 1.0]


def summarized(answers, params):
    rows = [
        Observed(run_spec_id="r", place=0, split="test", perturbation="", values=pair, rows=times)
        for pair, (_, _, times) in zip(codes(answers, params), answers, strict=True)
    ]
    metrics = {"r": (MetricSpec(name="diagnostic_accuracy", args=params),)}
    return {stat.name: stat for stat in RunSummarizer(metrics)(rows)}


def test_a_share_has_the_interval_of_its_own_denominator():
    stats = summarized(TEST, {**YES_NO, "costs": "yes>no=10"})
    expected = {"sensitivity": (6, 10), "npv": (14, 17), "abstention": (3, 30)}
    for name, share in expected.items():
        interval = wilson(*share)
        assert (stats[name].ci_low, stats[name].ci_high) == (interval.low, interval.high)
        assert stats[name].ci_method is IntervalMethod.WILSON
    balanced, interval = (
        stats["balanced_accuracy"],
        mover([6 / 10, 14 / 20], [wilson(6, 10), wilson(14, 20)]),
    )
    assert (balanced.ci_low, balanced.ci_high) == (interval.low, interval.high)
    assert balanced.ci_method is IntervalMethod.MOVER
    cost = stats["cost_weighted_error"]
    assert cost.ci_method is IntervalMethod.BOUNDED_SCORE
    assert 0 < cost.ci_low < cost.mean < cost.ci_high < 10
    count = stats["confusion[no>yes]"]
    assert (count.mean, count.ci_method) == (4.0, IntervalMethod.T)
    assert all(stat.ci_low is not None for stat in stats.values())


@pytest.mark.parametrize("labels", ["<65|≥65", "1.5|2.5", "a+|b", "-1|2"])
def test_labels_that_punctuation_tells_apart_are_refused(labels):
    with pytest.raises(ConfigError, match="without punctuation"):
        METRIC.preflight({"labels": labels})


def test_an_unread_answer_abstains_whatever_the_reading_says_of_it():
    (row,) = METRICS["class_given"].fn(
        [replace(state(None, correct("yes")), unreadable=True)], YES_NO
    )
    assert [score.value for score in row] == [1.0, 0.0]


def test_a_rate_may_be_named_as_the_metric():
    specs = [MetricSpec(name=name, args=YES_NO) for name in ("sensitivity", "ppv")]
    assert run_metrics_for(specs) == [(METRIC, YES_NO)]
    assert [metric for metric, _ in metrics_for(specs)] == [METRICS["class_given"]]
    assert info("sensitivity[urgent]").display_name == "Sensitivity"
    assert info("confusion[yes>no]", specs).display_name == "yes answered as no"
    other = MetricSpec(name="npv", args=TRIAGE)
    with pytest.raises(ConfigError, match="gives already"):
        run_metrics_for([*specs, other])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "labels is ''; allowed: 2 to 20 labels"),
        ({"labels": "yes"}, "labels is 'yes'"),
        ({"labels": "yes|Yes."}, "unlike the others"),
        ({"labels": "|".join(map(str, range(21)))}, "allowed: 2 to 20"),
        ({**YES_NO, "positive": "maybe"}, r"positive is 'maybe'; allowed: some .*\(yes, no\)"),
        ({**YES_NO, "positive": "yes|no"}, "not all of them"),
        ({**YES_NO, "costs": "yes>no"}, "costs has 'yes>no'; allowed: errors parted by |"),
        ({**YES_NO, "costs": "yes>yes=1"}, "two different labels"),
        ({**YES_NO, "costs": "yes>maybe=1"}, "costs has 'yes>maybe=1'"),
        ({**YES_NO, "costs": "yes>no=-1"}, "a number of at least 0"),
        ({**YES_NO, "costs": "yes>no=0|no>yes=0"}, "at least one cost above 0"),
    ],
)
def test_wrong_arguments(params, message):
    with pytest.raises(ConfigError, match=message):
        METRIC.preflight(params)


def test_an_argument_that_does_not_exist():
    with pytest.raises(UnknownNameError, match=r"'positiv'\. Did you mean 'positive'"):
        METRIC.preflight({"labels": "yes|no", "positiv": "yes"})


def test_an_answer_that_names_another_class_counts_against_its_ppv():
    params = {"labels": "Y|N", "positive": "Y"}
    how = AnswerExtraction(method=ExtractionMethod.CHOICE, options=("Y", "N"))
    completions = [("Y", "The answer is Y.", 2), ("N", "The answer is Y.", 1), ("N", "(N)", 3)]
    answers = [
        (right, read_answer(text, how, output_mapping={}, references=[right]), times)
        for right, text, times in completions
    ]
    stats = measured(answers, params)
    assert (stats["ppv"], stats["abstention"]) == (pytest.approx(2 / 3), 0.0)
