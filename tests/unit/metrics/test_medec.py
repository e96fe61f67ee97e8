"""MEDEC: flags, sentences and corrections by both rules, and the real test set."""

import csv
import sys
from pathlib import Path

import pytest

from medhelm_spark.domain.scenario import Reference
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.metrics import METRICS
from tests.unit.metrics.states import correct, state

MEDEC = METRICS["medec"]
NAMES = [
    "medec_error_flag_accuracy",
    "medec_error_sentence_accuracy",
    "medec_correction_rouge_1",
    "medec_correction_exact_match",
    "medec_error_flag_accuracy@medhelm-0.8",
    "medec_error_sentence_accuracy@medhelm-0.8",
]
ERROR = "10 The symptoms are due to Schistosoma mansoni."
FINE = "CORRECT"


def scores(answer, reference):
    (row,) = MEDEC.fn([state(answer, correct(reference))], {})
    assert [score.name for score in row] == NAMES
    return tuple(score.value for score in row)


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        # Flag, sentence, ROUGE-1, exact; then MedHELM's flag and sentence.
        (ERROR, ERROR, (1, 1, 1, 1, 1, 0)),
        (FINE, FINE, (1, 1, 1, 1, 1, 1)),
        (FINE, ERROR, (0, 0, 0, 0, 0, 0)),
        (ERROR, FINE, (0, 0, 0, 0, 0, 0)),
        # Seven words each; six are the same.
        ("10 The symptoms are due to Giardia mansoni.", ERROR, (1, 1, 6 / 7, 0, 1, 0)),
        ("9 The symptoms are due to Schistosoma mansoni.", ERROR, (1, 0, 1, 1, 1, 0)),
        ("10", ERROR, (1, 1, 0, 0, 1, 0)),
        ("10 the symptoms are due to schistosoma mansoni", ERROR, (1, 1, 1, 1, 1, 0)),
        # Forms of models, which MedHELM reads as an error in no sentence.
        ("Correct.", FINE, (1, 1, 1, 1, 0, 0)),
        ("**CORRECT**", FINE, (1, 1, 1, 1, 0, 0)),
        ("CORRECT\n\nThe note is consistent.", FINE, (1, 1, 1, 1, 0, 0)),
        ("Correct.", ERROR, (0, 0, 0, 0, 1, 0)),
        # An answer of neither form is wrong here and an error found there.
        ("There is an error somewhere.", ERROR, (0, 0, 0, 0, 1, 0)),
        ("There is no error.", FINE, (0, 0, 0, 0, 0, 0)),
        ("Correct sentence: all of them", FINE, (0, 0, 0, 0, 0, 0)),
        ("", ERROR, (0, 0, 0, 0, 1, 0)),
        ("", FINE, (0, 0, 0, 0, 0, 0)),
        # MedHELM reads the number of a reference that has no corrected sentence.
        ("10", "10", (1, 1, 0, 1, 1, 1)),
        ("10. Something", "10.", (1, 1, 0, 0, 1, 1)),
    ],
)
def test_both_rules(answer, reference, expected):
    assert scores(answer, reference) == pytest.approx(expected)


@pytest.mark.parametrize(
    "number",
    [
        *("10", "10.", "10:", "10)", "[10]", "**10**", "10 -", "#10", "10\n", "`10`"),
        *("Sentence 10:", "sentence number 10,", "**Sentence 10:**", "Sentence 10."),
    ],
)
def test_the_number_however_it_is_set(number):
    answer = f"{number} The symptoms are due to Schistosoma mansoni."
    assert scores(answer, ERROR)[:4] == (1, 1, 1, 1)


@pytest.mark.parametrize("answer", ["10.5 mg of it", "10-year-old boy", "10th", "-10", "1010101 x"])
def test_numbers_that_name_no_sentence(answer):
    assert scores(answer, ERROR)[:2] == (0, 0)


def test_a_reference_may_begin_its_sentence_with_a_number():
    assert scores("7 120/70 mm", "7 120/70 mm")[:4] == (1, 1, 1, 1)


def test_no_value_without_answer_or_readable_reference():
    rows = MEDEC.fn(
        [
            state(None, correct(FINE)),
            state(FINE),
            state(FINE, [Reference(text=FINE, tags=())]),
            state(FINE, correct("The sentence is wrong")),
        ],
        {},
    )
    assert [{(score.value, score.status) for score in row} for row in rows] == [
        {(None, ScoreStatus.NO_ANSWER)},
        *[{(None, ScoreStatus.NO_REFERENCE)}] * 3,
    ]


def test_a_long_answer_is_judged_in_no_time():
    assert scores("1" * 200_000, ERROR)[0] == 0
    assert scores("sentence " * 50_000 + "#" * 50_000, ERROR)[0] == 0
    assert scores("10 " + "*_ " * 100_000, ERROR)[0] == 1


@pytest.fixture(scope="module")
def gold(real_data: Path) -> list[str]:
    """The references of the 597 notes of the real test set; its blank lines are skipped."""
    csv.field_size_limit(sys.maxsize)
    path = real_data / "medec" / "MEDEC-MS-TestSet-with-GroundTruth-and-ErrorType.csv"
    with path.open(encoding="utf-8-sig", newline="") as lines:
        notes = [row for row in csv.DictReader(lines) if row["Error Flag"]]
    return [
        f"{note['Error Sentence ID']} {note['Corrected Sentence']}"
        if note["Error Flag"] == "1"
        else FINE
        for note in notes
    ]


def totals(answers, references):
    states = [state(a, correct(r)) for a, r in zip(answers, references, strict=True)]
    rows = MEDEC.fn(states, {})
    return [sum(score.value for score in column) for column in zip(*rows, strict=True)]


def test_gold_answers_are_right_and_medhelm_finds_none_of_the_sentences(gold):
    assert len(gold) == 597
    assert totals(gold, gold) == [597, 597, 597, 597, 597, 286]


def test_an_answer_that_never_changes(gold):
    assert totals([FINE] * 597, gold) == [286] * 6
    assert totals(["I think so"] * 597, gold) == [0, 0, 0, 0, 311, 0]
