"""Billing codes: which codes are read by both rules, and precision, recall and F1 by hand."""

import numpy as np
import pytest

from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.scenario import Reference
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.metrics import METRICS, RUN_METRICS, info, metrics_for
from medhelm_spark.metrics.billing_code import micro
from tests.unit.metrics.states import correct, state

CODES = METRICS["mimiciv_billing_code"]
RATES = ("precision", "recall", "f1")


def row(answer, *references):
    (found,) = CODES.fn([state(answer, references)], {})
    return {score.name.removeprefix("mimiciv_billing_code_"): score.value for score in found}


def rates(answer, *references):
    values = row(answer, *references)
    return tuple(values[name] for name in RATES)


def medhelm(answer, *references):
    values = row(answer, *references)
    return tuple(values[f"{name}@medhelm-0.8"] for name in RATES)


def test_sets_of_codes_by_hand():
    # Two of the three given codes are among the four wanted ones.
    answer, gold = "I10, E11.9, J45.909, I10", correct("E11.9,I10,N17.9,D62")
    assert rates(answer, *gold) == pytest.approx((2 / 3, 2 / 4, 4 / 7))
    assert medhelm(answer, *gold) == pytest.approx((2 / 3, 2 / 4, 4 / 7))
    counts = row(answer, *gold)
    assert [counts[name] for name in ("num_right", "num_given", "num_wanted")] == [2, 3, 4]


@pytest.mark.parametrize(
    ("code", "cut"),
    [
        # What MedHELM reads of it, None for nothing.
        ("I10", "I10"),
        ("E11.65", "E11.65"),
        ("S72.001A", "S72"),
        ("T40.2X1A", "T40"),
        ("M1A.00X0", None),
        ("Z3A.01", None),
        ("HZ2ZZZZ", None),
        ("3E0G76Z", None),
        ("0210093", None),
    ],
)
def test_codes_that_are_read_whole_here(code, cut):
    assert rates(f"The code is {code}.", *correct(code)) == (1, 1, 1)
    assert medhelm(f"The code is {code}.", *correct(code if cut is None else cut))[0] == (
        0 if cut is None else 1
    )


def test_a_wrong_fracture_code_is_right_to_medhelm():
    # Left for right femur, and the later visit for the first: both are S72 there.
    assert rates("S72.002D", *correct("S72.001A")) == (0, 0, 0)
    assert medhelm("S72.002D", *correct("S72.001A")) == (1, 1, 1)


@pytest.mark.parametrize(
    "answer",
    [
        "E11.9\nI10",
        "- **E11.9**: diabetes\n- **I10**: hypertension",
        "1.E11.9 2.I10",
        "E119, I10",
        "ICD-10:E11.9;I10.",
        "(E11.9/I10)",
        "_E11.9_ and `I10`",
        '["E11.9", "I10"]',
    ],
)
def test_codes_are_found_however_they_are_set(answer):
    assert rates(answer, *correct("I10,E11.9")) == (1, 1, 1)


@pytest.mark.parametrize(
    "answer",
    [
        *("", "none", "HbA1c 7.2 %", "T2DM, H1N1, COVID19", "b12", "the PATIENT", "I1O"),
        *("AE11.9", "E878.8", "I10.00001", "S72.001A1"),
    ],
)
def test_words_and_values_are_no_codes(answer):
    assert row(answer, *correct("I10"))["num_given"] == 0
    assert rates(answer, *correct("I10")) == (0, 0, 0)


def test_references_as_data_spells_them():
    assert rates("E11.9 I10", *correct(" e119 , I10,, ")) == (1, 1, 1)
    assert rates("E11.9 I10", *correct("E11.9"), *correct("I10")) == (1, 1, 1)
    wrong = Reference(text="I10", tags=())
    assert rates("E11.9 I10", *correct("E11.9"), wrong) == pytest.approx((1 / 2, 1, 2 / 3))
    assert medhelm("E11.9 I10", *correct("E11.9"), wrong) == (1, 1, 1)


def test_no_value_without_answer_or_codes_to_find():
    rows = CODES.fn([state(None, correct("I10")), state("I10"), state("I10", correct(" , "))], {})
    assert [{score.status for score in scores} for scores in rows] == [
        {ScoreStatus.NO_ANSWER},
        {ScoreStatus.NO_REFERENCE},
        {ScoreStatus.NO_REFERENCE},
    ]
    assert {score.value for scores in rows for score in scores} == {None}


def test_micro_average_weighs_codes_alike():
    # Note 1: 1 right of 1 given and 1 wanted; note 2: 1 right of 3 given and 9 wanted.
    states = [
        state("I10", correct("I10")),
        state("I10 E11.9 D62", correct("I10,A41.9,B20,C50.9,F32.9,G35,J18.9,K35.8,N17.9")),
    ]
    columns = list(zip(*CODES.fn(states, {}), strict=True))
    means = {column[0].name: sum(score.value for score in column) / 2 for column in columns}
    assert means["mimiciv_billing_code_f1"] == pytest.approx((1 + 2 * 1 / (3 + 9)) / 2)
    counts = (means[f"mimiciv_billing_code_num_{name}"] for name in ("right", "given", "wanted"))
    totals = micro(*counts)
    assert totals == pytest.approx((2 / 4, 2 / 10, 4 / 14))
    assert micro(0, 0, 0) == (0, 0, 0)


def test_the_micro_average_of_a_run():
    micro_f1 = RUN_METRICS["mimiciv_billing_code_micro"]
    # right, given, wanted of three notes: 1 1 1 twice, and 1 3 9.
    columns = np.array([[1.0, 1.0, 1.0], [1.0, 3.0, 9.0]])
    counted = np.array([2, 1])
    assert micro_f1.fn(columns, counted, {}) == pytest.approx((3 / 5, 3 / 11, 2 * 3 / (5 + 11)))
    assert micro_f1.fn(columns, np.array([0, 1]), {}) == pytest.approx((1 / 3, 1 / 9, 2 / 12))
    assert micro_f1.fn(np.array([[0.0, 0.0, 2.0]]), np.array([4]), {}) == (0, 0, 0)
    assert micro_f1.reads({}) == tuple(
        f"mimiciv_billing_code_num_{name}" for name in ("right", "given", "wanted")
    )


def test_the_micro_average_brings_what_it_reads():
    specs = [MetricSpec(name="mimiciv_billing_code_micro_f1")]
    assert [metric for metric, _ in metrics_for(specs)] == [CODES]
    assert info("mimiciv_billing_code_micro_f1").lower_is_better is False


def test_a_long_answer_is_judged_in_no_time():
    assert rates("A" * 200_000 + "0" * 200_000 + "A1." * 100_000, *correct("I10")) == (0, 0, 0)
