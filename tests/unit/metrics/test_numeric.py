"""Numbers within a tolerance, with their units; what is no number is wrong and counted."""

from decimal import Decimal

import pytest

from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.metrics import METRICS
from medhelm_spark.metrics.quantity import quantity
from tests.unit.metrics.states import correct, state

METRIC = METRICS["numeric_match"]


def value(answer, right, **params):
    (row,) = METRIC.fn([state(answer, correct(right))], params)
    return tuple(score.value for score in row)


@pytest.mark.parametrize(
    ("answer", "right", "params", "is_right"),
    [
        ("25.2", "25.20", {}, True),
        ("25.21", "25.2", {}, False),
        ("1.1", "1.0", {"absolute": "0.1"}, True),  # 1.1 - 1.0 is more than 0.1 in binary
        ("1.11", "1.0", {"absolute": "0.1"}, False),
        ("105", "100", {"relative": "0.05"}, True),
        ("94.9", "100", {"relative": "0.05"}, False),
        ("-105", "-100", {"relative": "0.05"}, True),
        ("0.2", "0", {"relative": "0.05"}, False),
        ("0.2", "0", {"relative": "0.05", "absolute": "0.2"}, True),
        ("1,250 mg", "1250 mg", {}, True),
        ("1250", "1250 mg", {}, True),
        ("500 g", "500 mg", {}, False),
        ("5 µg", "5 μG.", {}, True),
        ("5 mcg", "5 µg", {}, True),
        ("5 mcg", "5 mg", {}, False),
        ("37.5 °C", "37.5", {}, True),
        ("37.5 ℃", "37.5 °C", {}, True),
        ("**7.5 mg**", "7.5 mg", {}, True),
        ("3e2", "300", {}, True),
        ("\N{MINUS SIGN}5", "-5", {}, True),  # a minus sign
        ("120 mm Hg", "120 mmHg", {}, True),
        ("1e999", "-1e-999", {}, False),
    ],
)
def test_within_the_tolerance(answer, right, params, is_right):
    assert value(answer, right, **params) == (float(is_right), 0.0)


@pytest.mark.parametrize(
    "answer",
    ["", "about 5", "5 or 6", "nan", "<5", "The dose is 5 mg", "0,125 mg", "9" * 1_000_001],
)
def test_an_answer_that_is_no_number_is_wrong_and_counted(answer):
    assert value(answer, "5", absolute="100") == (0.0, 1.0)


def test_what_has_no_value_says_why():
    rows = METRIC.fn([state(None, correct("5")), state("5", correct("five"))], {})
    assert [row[0].status for row in rows] == [ScoreStatus.NO_ANSWER, ScoreStatus.NO_REFERENCE]


def test_a_quantity_is_exact():
    assert quantity("1,250.5 mg.").number == Decimal("1250.5")
    assert quantity("25 mL/min/1.73 m²").unit == quantity("25 ml/min/1.73m2").unit


@pytest.mark.parametrize("tolerance", ["five", "-1", "nan", "inf", ""])
def test_a_tolerance_that_is_none(tolerance):
    with pytest.raises(ConfigError, match=f"relative is '{tolerance}'; allowed: a number"):
        METRIC.preflight({"relative": tolerance})


def test_an_argument_that_does_not_exist():
    with pytest.raises(UnknownNameError, match="Did you mean 'absolute'"):
        METRIC.preflight({"absolut": "1"})
