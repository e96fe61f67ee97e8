"""Billing codes: precision, recall and F1 of the ICD-10 codes of an answer, and MedHELM 0.8.0's.

A code of the answer is an ICD-10-CM code (a letter, a digit, a digit or A or B, then up to four
more digits and letters with or without a point) or an ICD-10-PCS code (seven digits and letters
other than I and O, at least one a digit), in capital letters, as a word of its own. Codes are
compared without the point. The gold codes are the correct references, split at commas.

Per note, over sets of codes: precision = right / predicted, recall = right / gold, F1 = 2 right /
(predicted + gold), each 0 where its denominator is. Their mean gives each note the same weight. The
three counts are stats too; `mimiciv_billing_code_micro` is the micro average, the same formulas
over the counts of all notes of a run together, which gives each code the same weight.

MedHELM finds codes in answer and references by one pattern without letters after the first: it
cuts S72.001A to S72 and misses M1A.0 and every ICD-10-PCS code, on both sides.
"""

import re
from collections.abc import Iterable, Sequence

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.scenario import Reference
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.metrics.metric import (
    MEDHELM,
    Columns,
    Metric,
    Params,
    RunMetric,
    ScoreRow,
    Weights,
    first_text,
    scored,
    unscored,
)

_CODE = re.compile(
    r"(?<![A-Za-z0-9])"
    r"(?:[A-Z][0-9][0-9AB](?:\.?[0-9A-Z]{1,4})?|(?=[A-Z]*[0-9])[0-9A-HJ-NP-Z]{7})"
    r"(?![A-Za-z0-9]|\.[0-9])"
)
_MEDHELM_CODE = re.compile(r"\b[A-Z]\d{1,3}(?:\.\d{1,4})?\.?\b")

Codes = frozenset[str]
Counts = tuple[int, int, int]


def _codes_in(answer: str) -> Codes:
    return frozenset([code.replace(".", "") for code in _CODE.findall(answer)])


def _listed(references: Iterable[Reference]) -> Codes:
    listed = (
        code
        for reference in references
        if reference.is_correct
        for code in reference.text.split(",")
    )
    return frozenset(code for part in listed if (code := part.strip().upper().replace(".", "")))


def _medhelm_codes(text: str) -> Codes:
    codes = _MEDHELM_CODE.findall(text.replace("**", ""))
    return frozenset([code.rstrip(".") for code in codes])


def _medhelm_listed(references: Iterable[Reference]) -> Codes:
    return frozenset().union(*(_medhelm_codes(reference.text) for reference in references))


def micro(right: float, predicted: float, gold: float) -> tuple[float, float, float]:
    """Precision, recall and F1 of counts over one note or many.

    >>> micro(2, 4, 2)
    (0.5, 1.0, 0.6666666666666666)
    """
    return (
        right / predicted if predicted else 0.0,
        right / gold if gold else 0.0,
        2 * right / (predicted + gold) if predicted + gold else 0.0,
    )


def _compared(predicted: Codes, gold: Codes) -> Counts:
    """How many codes are right, predicted and gold."""
    return len(predicted & gold), len(predicted), len(gold)


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    rows: dict[tuple[Counts, Counts], ScoreRow] = {}

    def row(state: RequestState) -> ScoreRow:
        if (answer := first_text(state)) is None:
            return unscored(_NAMES, ScoreStatus.NO_ANSWER)
        if not (gold := _listed(state.references)):
            return unscored(_NAMES, ScoreStatus.NO_REFERENCE)
        ours = _compared(_codes_in(answer), gold)
        theirs = _compared(_medhelm_codes(answer), _medhelm_listed(state.references))
        if (ours, theirs) not in rows:
            rows[ours, theirs] = scored(_NAMES, (*micro(*ours), *ours, *micro(*theirs)))
        return rows[ours, theirs]

    return [row(state) for state in states]


def _rates(suffix: str = "", title: str = "") -> tuple[MetricInfo, ...]:
    return tuple(
        MetricInfo(
            name=f"mimiciv_billing_code_{name}{suffix}",
            display_name=f"{label}{title}",
            description=f"{what}, as a mean over notes.",
        )
        for name, label, what in (
            ("precision", "Precision of codes", "Share of given codes that are right"),
            ("recall", "Recall of codes", "Share of right codes that were given"),
            ("f1", "F1 of codes", "Harmonic mean of precision and recall"),
        )
    )


def _counts() -> tuple[MetricInfo, ...]:
    return tuple(
        MetricInfo(
            name=f"mimiciv_billing_code_{name}",
            display_name=label,
            lower_is_better=None,
            maximum=None,
            description=f"{label} of a note; for the micro average.",
        )
        for name, label in (
            ("num_right", "Right codes"),
            ("num_given", "Given codes"),
            ("num_wanted", "Wanted codes"),
        )
    )


MIMICIV_BILLING_CODE = Metric(
    fn=_score,
    needs=frozenset({"references", "completions"}),
    emits=(*_rates(), *_counts(), *_rates(MEDHELM, " (MedHELM 0.8)")),
    version="1",
)
_NAMES = tuple(info.name for info in MIMICIV_BILLING_CODE.emits)

COUNTS = tuple(info.name for info in _counts())


def _of_run(columns: Columns, weights: Weights, params: Params) -> tuple[float, float, float]:
    return micro(*map(float, weights @ columns))


MIMICIV_BILLING_CODE_MICRO = RunMetric(
    fn=_of_run,
    reads=lambda params: COUNTS,
    emits=tuple(
        MetricInfo(
            name=f"mimiciv_billing_code_micro_{name}",
            display_name=f"{label} of codes (micro)",
            description=f"{label} over the codes of all notes together.",
        )
        for name, label in (("precision", "Precision"), ("recall", "Recall"), ("f1", "F1"))
    ),
    version="1",
)

METRICS = {"mimiciv_billing_code": MIMICIV_BILLING_CODE}

RUN_METRICS = {"mimiciv_billing_code_micro": MIMICIV_BILLING_CODE_MICRO}
