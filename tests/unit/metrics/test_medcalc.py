"""MedCalc accuracy: both rules by hand, and the authors' own verdicts on real outputs."""

import csv
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.metrics import METRICS
from tests.unit.metrics.states import correct, state

MEDCALC = METRICS["medcalc_bench_accuracy"]
DECIMAL = {"category": "lab", "output_type": "decimal", "lower_limit": "9.5", "upper_limit": "10.5"}
PHYSICAL = {**DECIMAL, "category": "physical"}
NEGATIVE = {**DECIMAL, "lower_limit": "-5.7", "upper_limit": "-6.3"}
INTEGER = {"category": "risk", "output_type": "integer", "lower_limit": "3", "upper_limit": "3"}
DAY = {
    "category": "date",
    "output_type": "date",
    "lower_limit": "09/05/2014",
    "upper_limit": "09/05/2014",
}
AGE_TEXT = "('14 weeks', '2 days')"
AGE = {
    "category": "date",
    "output_type": "integer",
    "lower_limit": AGE_TEXT,
    "upper_limit": AGE_TEXT,
}


def both(answer, truth, extra):
    """The value by the authors' rule and the one by MedHELM's."""
    (row,) = MEDCALC.fn([state(answer, correct(truth), extra_data=extra)], {})
    assert [s.name for s in row] == ["medcalc_bench_accuracy", "medcalc_bench_accuracy@medhelm-0.8"]
    return tuple(score.value for score in row)


@pytest.mark.parametrize(
    ("answer", "truth", "extra", "expected"),
    [
        # MedHELM has no category `lab` and gives 0.
        ("10", "10", DECIMAL, (1, 0)),
        ("9.5", "10", PHYSICAL, (1, 1)),
        ("10.5", "10", PHYSICAL, (1, 1)),
        ("10.51", "10", PHYSICAL, (0, 0)),
        ("9.499", "10", PHYSICAL, (0, 0)),
        ("1e1", "10", PHYSICAL, (1, 1)),
        ("+10.", "10", PHYSICAL, (1, 1)),
        ("10 mg", "10", PHYSICAL, (1, 0)),
        ("10 mL/min/1.73 m²", "10", PHYSICAL, (1, 0)),
        ("10 kg/m^2", "10", PHYSICAL, (1, 0)),
        ("10%.", "10", PHYSICAL, (1, 0)),
        ("1,250 mg", "1250", {**PHYSICAL, "lower_limit": "1200", "upper_limit": "1300"}, (1, 0)),
        ("-6", "-6", {**NEGATIVE, "category": "physical"}, (1, 0)),
        ("\N{MINUS SIGN}6", "-6", NEGATIVE, (1, 0)),
        ("\N{NON-BREAKING HYPHEN}6 mmol/L", "\N{MINUS SIGN}6", NEGATIVE, (1, 0)),
        ("6", "-6", NEGATIVE, (0, 0)),
        ("9, 10", "10", PHYSICAL, (0, 0)),
        ("(10, 3)", "10", PHYSICAL, (0, 0)),
        ("5+5", "10", PHYSICAL, (0, 0)),
        ("10 or 12", "10", PHYSICAL, (0, 0)),
        ("about 10", "10", PHYSICAL, (0, 0)),
        ("__import__('os')", "10", PHYSICAL, (0, 0)),
        ("nan", "10", PHYSICAL, (0, 0)),
        ("1e999", "10", PHYSICAL, (0, 0)),
        ("", "10", PHYSICAL, (0, 0)),
        # MedHELM compares integers as text.
        ("3", "3", INTEGER, (1, 1)),
        ("3.0", "3", INTEGER, (1, 0)),
        ("3.4", "3", INTEGER, (1, 0)),
        ("3.6", "3", INTEGER, (0, 0)),
        ("3 points", "3", INTEGER, (1, 0)),
        ("three", "3", INTEGER, (0, 0)),
        ("9" * 400, "3", INTEGER, (0, 0)),
        ("09/05/2014", "09/05/2014", DAY, (1, 1)),
        ("9/5/2014", "09/05/2014", DAY, (1, 1)),
        ("05/09/2014", "09/05/2014", DAY, (0, 0)),
        ("2014-09-05", "09/05/2014", DAY, (0, 0)),
        ("02/30/2014", "09/05/2014", DAY, (0, 0)),
        (AGE_TEXT, AGE_TEXT, AGE, (1, 1)),
        ("14 weeks 2 days", AGE_TEXT, AGE, (1, 0)),
        ("14 weeks and 2 days", AGE_TEXT, AGE, (1, 0)),
        ("(14, 2)", AGE_TEXT, AGE, (1, 0)),
        ("('13 weeks', '9 days')", AGE_TEXT, AGE, (0, 1)),
        ("('14 weeks', '3 days')", AGE_TEXT, AGE, (0, 0)),
        ("14", AGE_TEXT, AGE, (0, 0)),
    ],
)
def test_both_rules(answer, truth, extra, expected):
    assert both(answer, truth, extra) == expected


def test_medhelm_knows_its_own_spelling_of_dosage_only():
    assert both("10", "10", {**DECIMAL, "category": "dosage conversion"}) == (1, 1)
    assert both("10", "10", {**DECIMAL, "category": "dosage"}) == (1, 0)


def test_kind_by_category_where_the_data_names_no_output_type():
    without = {"lower_limit": "9.5", "upper_limit": "10.5"}
    assert both("10.4", "10", {**without, "category": "lab"})[0] == 1
    assert both("10.6", "10", {**without, "category": "risk"})[0] == 0
    assert both("9/5/2014", "09/05/2014", {"category": "date"})[0] == 1


def test_no_value_without_answer_reference_or_limits():
    rows = MEDCALC.fn(
        [
            state(None, correct("10"), extra_data=DECIMAL),
            state("10", extra_data=DECIMAL),
            state("10", correct("10"), extra_data={**DECIMAL, "lower_limit": ""}),
        ],
        {},
    )
    assert [[(s.value, s.status) for s in row] for row in rows] == [
        [(None, ScoreStatus.NO_ANSWER)] * 2,
        [(None, ScoreStatus.NO_REFERENCE)] * 2,
        [(None, ScoreStatus.NO_REFERENCE), (0, ScoreStatus.OK)],
    ]


def test_a_long_answer_is_judged_in_no_time():
    assert both("1" * 100_000 + "x " * 50_000, "10", PHYSICAL) == (0, 0)


def published(real_data: Path, name: str):
    """(category, state, the authors' verdict) for every row of a published output file."""
    folder = real_data / "medcalc_bench"
    csv.field_size_limit(sys.maxsize)
    with (folder / "test_data_v1.0_20240626.csv").open(encoding="utf-8-sig", newline="") as lines:
        data = {int(row["Row Number"]): row for row in csv.DictReader(lines)}
    for line in (folder / name).read_text("utf-8").splitlines():
        published_row = json.loads(line)
        row = data[int(published_row["Row Number"])]
        extra = {
            "category": row["Category"],
            "output_type": row["Output Type"],
            "lower_limit": row["Lower Limit"],
            "upper_limit": row["Upper Limit"],
            "calculator_id": row["Calculator ID"],
        }
        scored_state = state(
            published_row["LLM Answer"], correct(row["Ground Truth Answer"]), extra_data=extra
        )
        yield row["Category"], scored_state, published_row["Result"] == "Correct"


@pytest.mark.parametrize(
    ("name", "num_right", "num_rows"),
    [
        ("openai_gpt-4o-mini_direct_answer.jsonl", 216, 1047),
        ("code_exec_gpt_4.jsonl", 182, 353),
    ],
)
def test_agrees_with_every_verdict_of_the_authors(real_data: Path, name, num_right, num_rows):
    _, states, verdicts = zip(*published(real_data, name), strict=True)
    ours = [row[0].value for row in MEDCALC.fn(states, {})]
    assert ours == [float(verdict) for verdict in verdicts]
    assert (sum(ours), len(ours)) == (num_right, num_rows)


def test_medhelm_never_credits_laboratory_values_or_dosages(real_data: Path):
    name = "openai_gpt-4o-mini_direct_answer.jsonl"
    categories, states, _ = zip(*published(real_data, name), strict=True)
    rows = MEDCALC.fn(states, {})
    ours, theirs = Counter(), Counter()
    for category, row in zip(categories, rows, strict=True):
        ours[category] += int(row[0].value)
        theirs[category] += int(row[1].value)
    assert (ours["lab"], ours["dosage"]) == (54, 4)
    assert (theirs["lab"], theirs["dosage"]) == (0, 0)
    assert theirs["physical"] == ours["physical"] == 82
    assert theirs["date"] == ours["date"] == 14
    assert round(100 * ours.total() / 1047, 2) == 20.63
