"""MedHallu on the real 2,000 instances: exact match of one digit is its metric."""

import csv
import sys
from pathlib import Path

import pytest

from medhelm_spark.metrics import METRICS
from tests.unit.metrics.states import correct, state


@pytest.fixture(scope="module")
def labels(real_data: Path) -> list[str]:
    """0 for each true answer and 1 for each hallucinated one, truth first."""
    csv.field_size_limit(sys.maxsize)
    path = real_data / "medhallu" / "medhallu_dataset_labeled.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    return [
        label
        for row in rows
        for label, column in (("0", "Ground Truth"), ("1", "Hallucinated Answer"))
        if row[column].strip()
    ]


@pytest.mark.parametrize(
    ("form", "num_exact", "num_quasi"),
    [("{}", 2000, 2000), (" {}\n", 2000, 2000), ("{}.", 0, 2000), ("Label {}", 0, 0)],
)
def test_gold_digits(labels, form, num_exact, num_quasi):
    assert labels == ["0", "1"] * 1000
    states = [state(form.format(label), correct(label)) for label in labels]
    rows = METRICS["exact_match"].fn(states, {})
    assert sum(row[0].value for row in rows) == num_exact
    assert sum(row[1].value for row in rows) == num_quasi


def test_one_digit_for_all_is_half_right(labels):
    rows = METRICS["exact_match"].fn([state("1", correct(label)) for label in labels], {})
    assert sum(row[0].value for row in rows) == 1000
