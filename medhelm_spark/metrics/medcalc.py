"""MedCalc-Bench accuracy by the authors' rule and by MedHELM 0.8.0's.

The authors (Khandekar et al. 2024) judge by the kind of value: a decimal is right within its lower
and upper limit (5 % around the truth), an integer after rounding, a date as a date, a gestational
age as weeks and days. This rule agrees with all 1,400 verdicts they published with the outputs of
GPT-4o-mini (216 of 1,047 right) and GPT-4. They cut the value out of the reply first; here a number
may be followed by its unit (`25.2 mL/min`, `1,250 mg`, `12 %`), and any other wording is wrong.

MedHELM compares `risk`, `severity` and `diagnosis` as strings, lists `physical`, `date` and a
category "dosage conversion" that the data spells `dosage`, and gives 0 to everything else, so that
`lab` and `dosage`, 35 % of the rows, are always wrong.
"""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, Score, ScoreStatus
from medhelm_spark.metrics.metric import (
    MEDHELM,
    Metric,
    Params,
    ScoreRow,
    first_text,
    unscored,
)
from medhelm_spark.metrics.quantity import MINUS, QUANTITY

_DATE = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})")
_AGE = re.compile(
    r"\(?\s*['\"]?([0-9]{1,3})(?:\s*weeks?)?['\"]?(?:\s*,\s*|\s+and\s+|\s+)"
    r"['\"]?([0-9]{1,3})(?:\s*days?)?['\"]?\s*\)?",
    re.IGNORECASE,
)
_MEDHELM_AGE = re.compile(r"\('(\d+) weeks', '(\d+) days'\)")
_INTEGER_CATEGORIES = frozenset({"risk", "severity", "diagnosis"})
_DAYS_PER_WEEK = 7


def _number(text: str) -> float | None:
    if not (match := QUANTITY.fullmatch(text.translate(MINUS))):
        return None
    value = float(match[1].replace(",", ""))
    return value if math.isfinite(value) else None


def _date(text: str) -> date | None:
    if not (match := _DATE.fullmatch(text)):
        return None
    month, day, year = (int(part) for part in match.groups())
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _age(text: str) -> tuple[int, int] | None:
    match = _AGE.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


def _kind(truth: str, extra: Mapping[str, str]) -> str:
    """age, date, integer or decimal; by the category where the data names no output type."""
    if _MEDHELM_AGE.fullmatch(truth):
        return "age"
    if kind := extra.get("output_type", ""):
        return kind
    category = extra.get("category", "")
    return (
        "integer"
        if category in _INTEGER_CATEGORIES
        else "date"
        if category == "date"
        else "decimal"
    )


def _by_authors(prediction: str, truth: str, extra: Mapping[str, str]) -> bool | None:
    """The authors' verdict; None where truth or limits of the data cannot be read."""
    kind = _kind(truth, extra)
    if kind in ("age", "date"):
        read = _age if kind == "age" else _date
        expected = read(truth)
        return None if expected is None else read(prediction) == expected
    predicted = _number(prediction)
    if kind == "integer":
        whole = _number(truth)
        return None if whole is None else predicted is not None and round(predicted) == whole
    low, high = _number(extra.get("lower_limit", "")), _number(extra.get("upper_limit", ""))
    if low is None or high is None:
        return None
    return predicted is not None and min(low, high) <= predicted <= max(low, high)


def _medhelm_value(text: str, category: str, *, is_age: bool) -> float:
    if category == "physical":
        return float(text)
    if not is_age:
        if (day := _date(text)) is None:
            raise ValueError("not a date")
        return day.toordinal()
    if not (match := _MEDHELM_AGE.match(text)):
        raise ValueError("not weeks and days")
    return int(match[1]) * _DAYS_PER_WEEK + int(match[2])


def _by_medhelm(prediction: str, truth: str, extra: Mapping[str, str]) -> bool:
    """MedHELM's verdict; whatever it cannot read is wrong."""
    category = extra.get("category", "")
    if category in _INTEGER_CATEGORIES:
        return prediction == truth
    if category not in ("date", "physical", "dosage conversion"):
        return False
    as_value = "date" if category == "date" else "physical"
    is_age = _MEDHELM_AGE.match(truth) is not None
    texts = (extra.get("lower_limit", ""), prediction, extra.get("upper_limit", ""))
    try:
        low, predicted, high = (_medhelm_value(text, as_value, is_age=is_age) for text in texts)
    except ValueError:
        return False
    return low <= predicted <= high


def _row(state: RequestState) -> ScoreRow:
    prediction = first_text(state)
    if prediction is None:
        return unscored(_NAMES, ScoreStatus.NO_ANSWER)
    if not state.references:
        return unscored(_NAMES, ScoreStatus.NO_REFERENCE)
    truth, extra = state.references[0].text, state.extra_data
    ours, theirs = _NAMES
    verdict = _by_authors(prediction, truth.strip(), extra)
    return (
        Score(name=ours, value=None, status=ScoreStatus.NO_REFERENCE)
        if verdict is None
        else Score(name=ours, value=float(verdict)),
        Score(name=theirs, value=float(_by_medhelm(prediction, truth, extra))),
    )


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    return [_row(state) for state in states]


MEDCALC_BENCH_ACCURACY = Metric(
    fn=_score,
    needs=frozenset({"references", "extra_data", "completions"}),
    emits=(
        MetricInfo(
            name="medcalc_bench_accuracy",
            display_name="MedCalc accuracy",
            description="Share of values that are right by the MedCalc-Bench authors' rule.",
        ),
        MetricInfo(
            name=f"medcalc_bench_accuracy{MEDHELM}",
            display_name="MedCalc accuracy (MedHELM 0.8)",
            description="Share of values that are right by MedHELM 0.8.0's rule.",
        ),
    ),
    version="2",
    data_set="MedCalc-Bench",
)
_NAMES = tuple(info.name for info in MEDCALC_BENCH_ACCURACY.emits)

METRICS = {"medcalc_bench_accuracy": MEDCALC_BENCH_ACCURACY}
