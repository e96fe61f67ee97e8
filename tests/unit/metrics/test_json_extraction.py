"""Fields of a JSON object against the reference's, worked out by hand."""

import json

import numpy as np
import pytest

from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics import METRICS, RUN_METRICS, info, metrics_for, run_metrics_for
from tests.unit.metrics.states import correct, state

FIELDS = {"fields": "drug|dose"}
METRIC, OF_RUN = METRICS["json_fields"], RUN_METRICS["json_extraction"]


def scores(answer, reference, params=FIELDS):
    text = reference if isinstance(reference, str) else json.dumps(reference)
    (row,) = METRIC.fn([state(answer, correct(text))], params)
    assert [score.name for score in row] == [stat.name for stat in METRIC.emitted(params)]
    return {score.name: score.value for score in row}


def of_run(pairs, params=FIELDS):
    names = OF_RUN.reads(params)
    rows = [[scores(*pair, params)[name] for name in names] for pair in pairs]
    values = OF_RUN.fn(np.array(rows), np.ones(len(rows), np.int64), params)
    return dict(zip([stat.name for stat in OF_RUN.emitted(params)], values, strict=True))


def test_fields_and_all_of_them():
    reference = {"drug": "Aspirin", "dose": "100 mg"}
    same = scores('```json\n{"Drug": "aspirin", "dose": "100  MG", "why": "x"}\n```', reference)
    assert (same["json_exact_match"], same["json_unreadable"]) == (1.0, 0.0)
    half = scores('It is {"drug": "aspirin", "dose": "10 mg"}.', reference)
    assert half["json_exact_match"] == 0.0
    assert (half["json_exact_match[drug]"], half["json_exact_match[dose]"]) == (1.0, 0.0)


def test_an_answer_without_an_object_is_wrong_in_every_field():
    row = scores("aspirin, 100 mg", {"drug": "aspirin", "dose": None})
    assert row["json_unreadable"] == 1.0
    assert row["json_exact_match[drug]"] == row["json_exact_match[dose]"] == 0.0
    assert row["json_exact_match"] == 0.0


def test_what_models_write_instead_of_json():
    row = scores("{'drug': 'Aspirin', 2: None}", {"drug": "aspirin", "2": ""}, {})
    assert row["json_exact_match"] == 1.0
    deep = scores('{"drug": ' * 900 + "1" + "}" * 900, {"drug": "1"})
    assert deep["json_exact_match"] == 0.0


@pytest.mark.parametrize(
    ("value", "reference", "is_same"),
    [
        (5, "5", True),
        (5.0, 5, True),
        ("0.00005", 0.00005, True),
        ("+5", 5, True),
        ("\N{MINUS SIGN}5", -5, True),
        ("\N{EN DASH}0.50", "-0.5", True),
        ("T\N{MINUS SIGN}5", "T-5", False),
        ("1e3", 1000, True),
        (-0.0, 0, True),
        ("1.5", "15", False),
        ("007", "7", False),
        ("12345678901234567", "12345678901234568", False),
        (True, "true", True),
        (None, "", True),
        ([], None, True),
        ("none", None, False),
        (["a", "b"], ["B", "A"], True),
        (["a"], ["a", "b"], False),
        ("a", ["a"], True),
        ({"value": 5, "unit": "mg"}, {"Unit": "MG", "value": "5"}, True),
        ({"value": 5, "unit": "g"}, {"unit": "mg", "value": 5}, False),
        ([{"n": 1, "m": 2}, {"n": 3, "m": 4}], [{"n": 3, "m": 4}, {"m": 2, "n": 1}], True),
        ([{"n": 1, "m": 4}, {"n": 3, "m": 2}], [{"n": 1, "m": 2}, {"n": 3, "m": 4}], False),
    ],
)
def test_values(value, reference, is_same):
    row = scores(json.dumps({"dose": value}), {"dose": reference}, {"fields": "dose"})
    assert row["json_exact_match"] == row["json_exact_match[dose]"] == float(is_same)


def test_precision_recall_and_f1_over_all_instances():
    stats = of_run(
        [
            ('{"drug": ["a", "b"], "dose": 1}', {"drug": ["a", "c"], "dose": 1}),
            ('{"drug": "d", "dose": 2}', {"drug": None, "dose": 3}),
            ("no object", {"drug": "e", "dose": 4}),
        ]
    )
    # drug: right 1, given 3, wanted 3; dose: right 1, given 2, wanted 3
    assert stats["json_precision[drug]"] == pytest.approx(1 / 3)
    assert stats["json_recall[drug]"] == pytest.approx(1 / 3)
    assert stats["json_f1[dose]"] == pytest.approx(2 * 1 / (2 + 3))
    assert stats["json_precision"] == pytest.approx(2 / 5)
    assert stats["json_recall"] == pytest.approx(2 / 6)
    assert stats["json_f1"] == pytest.approx(2 * 2 / (5 + 6))


def test_without_names_the_references_fields_are_compared():
    row = scores('{"a": 1, "b": 2, "extra": 3}', {"a": 1, "b": 2}, {})
    assert row["json_exact_match"] == 1.0
    stats = of_run([('{"a": 1, "extra": 3}', {"a": 1, "b": 1})], {})
    assert stats == {"json_precision": 1.0, "json_recall": 0.5, "json_f1": pytest.approx(2 / 3)}
    assert of_run([("{}", {})], {}) == dict.fromkeys(stats)


def test_what_has_no_value_says_why():
    states = [state(None, correct("{}")), state("{}", correct("[1]")), state("{}", correct("x"))]
    statuses = [row[0].status for row in METRIC.fn(states, {})]
    assert statuses == [ScoreStatus.NO_ANSWER, *[ScoreStatus.NO_REFERENCE] * 2]


def test_one_stat_brings_the_other():
    specs = [MetricSpec(name="json_f1[drug]", args=FIELDS)]
    assert run_metrics_for(specs) == [(OF_RUN, FIELDS)]
    assert metrics_for(specs) == [(METRIC, FIELDS)]
    assert info("json_f1[drug]", specs).display_name == "JSON F1 of drug"
    assert info("json_exact_match[drug]").name == "json_exact_match"


@pytest.mark.parametrize("fields", ["", "a|A_", " | ", "-", "|".join(map(str, range(51)))])
def test_wrong_fields(fields):
    with pytest.raises(ConfigError, match="fields is"):
        OF_RUN.preflight({"fields": fields})


def test_members_count_as_often_as_they_stand():
    row = scores('{"dose": [5, 5, 5, 10]}', {"dose": [5, 10, 10]}, {})
    assert row["json_exact_match"] == 0.0
    kinds = ("right", "given", "wanted")
    assert [row[f"json_items_{kind}"] for kind in kinds] == [2.0, 4.0, 3.0]


def test_an_answer_of_many_levels_costs_no_memory():
    deep = '{"drug":' + '[{"a":' * 60 + "1" + "}]" * 60 + "}"
    assert scores(deep, {"drug": "1"}, {})["json_exact_match"] == 0.0
    assert scores(deep, deep, {})["json_exact_match"] == 1.0


@pytest.mark.parametrize("value", ["...", "b'A'", "1j", "{1}", "0x" + "f" * 3900])
def test_what_json_has_not_is_no_object(value):
    assert scores("{'drug': " + value + "}", {"drug": "1"}, {})["json_unreadable"] == 1.0


def test_fields_of_a_metric_are_those_of_what_it_is_computed_from():
    specs = [MetricSpec(name="json_exact_match", args={"fields": "drug"})]
    with pytest.raises(ConfigError, match="give both the same arguments"):
        metrics_for([*specs, MetricSpec(name="json_f1")])


def test_an_answer_is_right_where_all_its_items_are():
    reference = {"drug": "aspirin", "dose": [5, 10]}
    answers = [reference, {"drug": "aspirin"}, {**reference, "dose": [5, 10, 10]}, "none"]
    rows = [scores(json.dumps(answer), reference) for answer in answers]
    columns = np.array([[row[name] for name in OF_RUN.reads(FIELDS)] for row in rows])
    assert list(OF_RUN.is_right(columns)) == [row["json_exact_match"] == 1.0 for row in rows]
    assert list(OF_RUN.is_right(columns)) == [True, False, False, False]
