"""Classification F1: by hand, and equal to scikit-learn's on indicator rows."""

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer

from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.scenario import Reference
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics import (
    METRICS,
    RUN_METRICS,
    info,
    metrics_behind,
    metrics_for,
    run_metrics_for,
    stats_of,
)
from tests.unit.metrics.states import correct, state

LABELS = {"labels": "yes|no|maybe"}
CODES = {"labels": "I10|E11.9|J45"}
MANY = {**CODES, "delimiter": ","}


def rows(states, params):
    return METRICS["classes"].fn(states, params)


def f1(states, params):
    """Macro and micro F1."""
    return everything(states, params)[:2]


def everything(states, params):
    """All stats, each distinct pair of codes counted once, as the stage gives them."""
    result = [tuple(score.value for score in row) for row in rows(states, params)]
    complete = [pair for pair in result if None not in pair]
    pairs = sorted(set(complete))
    counts = np.array([complete.count(pair) for pair in pairs])
    return RUN_METRICS["classification"].fn(np.array(pairs), counts, params)


def by_sklearn(true, predicted, labels):
    """Macro and micro F1 over the labels that occur."""
    there = [k for k, label in enumerate(labels) if any(label in one for one in true + predicted)]
    binarizer = MultiLabelBinarizer(classes=labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of what is no label, and of absent classes
        sides = [binarizer.fit_transform(side) for side in (true, predicted)]
        return tuple(
            f1_score(*sides, average=average, labels=there) for average in ("macro", "micro")
        )


def test_single_label_by_hand():
    answers = [("yes", "Yes."), ("yes", "no"), ("no", "no"), ("maybe", "unclear")]
    macro, micro = f1([state(answer, correct(gold)) for gold, answer in answers], LABELS)
    # yes: tp 1, fn 1; no: tp 1, fp 1; maybe: fn 1
    assert macro == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert micro == pytest.approx(2 * 2 / (4 + 1 + 2))


def test_multi_label_by_hand():
    answers = [("I10, J45", "i10"), ("E11.9", "E11.9, J45"), ("", "")]
    states = [state(answer, correct(gold) if gold else ()) for gold, answer in answers]
    macro, micro = f1(states, MANY)
    # I10: tp 1; E11.9: tp 1; J45: fn 1, fp 1
    assert macro == pytest.approx(2 / 3)
    assert micro == pytest.approx(2 * 2 / (4 + 1 + 1))


def test_each_class_has_an_f1_of_its_own():
    answers = [("yes", "Yes."), ("yes", "no"), ("no", "no"), ("no", "yes")]
    states = [state(answer, correct(gold)) for gold, answer in answers]
    params = {"labels": " Yes | no|maybe"}
    metric = RUN_METRICS["classification"]
    names = [stat.name for stat in metric.emitted(params)]
    assert names[2:] == [
        "classification_macro_f1@medhelm-0.8",
        "classification_f1[Yes]",
        "classification_f1[no]",
        "classification_f1[maybe]",
    ]
    result = dict(zip(names, everything(states, params), strict=True))
    # yes: tp 1, fp 1, fn 1; no the same; maybe is neither gold nor predicted.
    assert result["classification_f1[Yes]"] == pytest.approx(2 / 4)
    assert result["classification_f1[no]"] == pytest.approx(2 / 4)
    assert result["classification_f1[maybe]"] is None
    assert result["classification_macro_f1"] == pytest.approx((2 / 4 + 2 / 4) / 2)
    assert result["classification_macro_f1@medhelm-0.8"] == pytest.approx((2 / 4 + 2 / 4 + 0) / 3)


def test_a_class_may_be_named_as_the_metric():
    (spec,) = specs = [MetricSpec(name="classification_f1[no]", args=LABELS)]
    assert run_metrics_for(specs) == [(RUN_METRICS["classification"], LABELS)]
    assert [metric for metric, _ in metrics_for(specs)] == [METRICS["classes"]]
    assert info(spec.name, specs).display_name == "F1 of no"
    assert info(spec.name).lower_is_better is False
    assert metrics_behind(spec.name, specs) == [METRICS["classes"]]
    without = [MetricSpec(name="classification")]
    assert len(stats_of(without)) == 2 + 2


def test_options_are_classes_by_place_and_count_where_they_occur():
    references = [
        tuple(Reference(text=text, tags=("correct",) * (text == gold)) for text in ("u", "v", "w"))
        for gold in ("u", "v")
    ]
    mapping = {"A": "u", "B": "v", "C": "w"}
    states = [
        state("A", references[0], output_mapping=mapping),
        state("A", references[1], output_mapping=mapping),
    ]
    macro, micro = f1(states, {})
    assert (macro, micro) == pytest.approx(((2 / 3 + 0) / 2, 0.5))
    # with labels, letters are read as their texts
    assert f1(states, {"labels": "u|v|w"}) == (macro, micro)


SOME = st.lists(st.sampled_from(["i10", "e119", "j45"]), max_size=3, unique=True)


@given(st.lists(st.tuples(SOME, SOME), min_size=1, max_size=12))
def test_equal_to_sklearn(answers):
    labels = ["i10", "e119", "j45"]
    states = [state(",".join(answer), correct(*gold)) for gold, answer in answers]
    params = {"labels": "|".join(labels), "delimiter": ","}
    true, predicted = zip(*answers, strict=True)
    expected = by_sklearn(true, predicted, labels) if any(true + predicted) else (None, None)
    assert f1(states, params) == pytest.approx(expected)


def test_what_cannot_be_scored_says_why():
    alone = state("yes", correct("yes"))
    strange = state("yes", correct("perhaps"))
    assert rows([alone], {})[0][0].status is ScoreStatus.NOT_APPLICABLE
    assert rows([strange], LABELS)[0][0].status is ScoreStatus.NO_REFERENCE
    assert rows([state("yes")], LABELS)[0][0].status is ScoreStatus.NO_REFERENCE
    assert rows([state("", correct("yes"))], LABELS)[0][1].value == 0.0


def test_an_article_tells_labels_apart():
    params = {"labels": "hepatitis A|hepatitis|none"}
    answers = [("hepatitis A", "Hepatitis A."), ("hepatitis", "hepatitis a"), ("none", "None")]
    macro, _ = f1([state(answer, correct(gold)) for gold, answer in answers], params)
    # hepatitis A: tp 1, fp 1; hepatitis: fn 1; none: tp 1
    assert macro == pytest.approx((2 / 3 + 0 + 1) / 3)


@pytest.mark.parametrize("labels", ["yes|Yes", "yes|.", "|".join(map(str, range(54)))])
def test_labels_that_cannot_be_told_apart_are_refused(labels):
    for registry in (METRICS["classes"], RUN_METRICS["classification"]):
        with pytest.raises(ConfigError, match="labels is"):
            registry.preflight({"labels": labels})
        registry.preflight({"labels": "|".join(map(str, range(53)))})


def test_the_last_of_53_classes_is_held_exactly():
    params = {"labels": "|".join(f"c{number}" for number in range(53)), "delimiter": ","}
    all_of_them = ",".join(f"c{number}" for number in range(53))
    states = [state(all_of_them, correct(all_of_them)), state("c0", correct("c52"))]
    macro, _ = f1(states, params)
    assert macro == pytest.approx((51 * 1 + 2 * (2 / 3)) / 53)
