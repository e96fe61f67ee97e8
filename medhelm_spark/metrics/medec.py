"""MEDEC: does the note have an error, in which sentence, and what is the correction? And MedHELM's.

The reference is the word CORRECT, or the number of the wrong sentence followed by the corrected
one; the answer should look the same. By the rules of the authors' evaluation (Ben Abacha et al.
2024, MEDIQA-CORR and MEDEC), over all notes:

- `medec_error_flag_accuracy`: both say that there is an error, or both that there is none.
- `medec_error_sentence_accuracy`: both name the same sentence, or both say that there is no error.
- `medec_correction_rouge_1`: 1 where both say that there is no error, 0 where one does, else
  ROUGE-1 F of the two corrected sentences (theirs is over sets of unstemmed words). The other parts
  of their aggregate, BERTScore and BLEURT, need models.
- `medec_correction_exact_match`: the same with quasi-exact match for ROUGE-1.

An answer that is neither form is wrong. Case, Markdown, and a point or colon around the word or
the number make no difference, nor does `Sentence` before the number.

MedHELM takes every answer but the exact word CORRECT for "there is an error", and reads the number
of the reference only where no corrected sentence follows it, so that no error is ever found in the
right sentence.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from medhelm_spark.domain.request import RequestState
from medhelm_spark.domain.stats import MetricInfo, ScoreStatus
from medhelm_spark.metrics.metric import (
    MEDHELM,
    Metric,
    Params,
    ScoreRow,
    first_text,
    scored,
    unscored,
)
from medhelm_spark.metrics.rouge import rouge_1
from medhelm_spark.metrics.text import normalise

_DECORATION = " \t\r\n*_`\"'“”.:"
_NUMBERED = re.compile(
    r"[\s*_`\"'>#(\[]{0,8}(?:sentence\s{0,3}(?:id|number|no\.?)?[\s:#*(\[]{0,4})?"
    r"([0-9]{1,4})"
    r"(?:[*`]{0,3}\s{0,3}[:)\]|]+|[*`]{0,3}[.,]?(?=\s|$)|\s{1,3}[-–—](?=\s))",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d{1,4000}")  # Python reads no longer number


@dataclass(frozen=True, slots=True)
class _Finding:
    """What a text finds: no error (`sentence` None), or the wrong sentence and its correction."""

    sentence: int | None = None
    correction: str = ""


def _read(text: str) -> _Finding | None:
    """The finding of a reference or an answer; None where it has neither form."""
    if match := _NUMBERED.match(text):
        return _Finding(int(match[1]), text[match.end() :].strip(" \t\r\n*_`\"'“”"))
    first_line, _, _ = text.strip(_DECORATION).partition("\n")
    return _Finding() if first_line.strip(_DECORATION).lower() == "correct" else None


def _ours(expected: _Finding, predicted: _Finding | None) -> tuple[float, float, float, float]:
    """Flag, sentence, and the correction by ROUGE-1 and by quasi-exact match."""
    if predicted is None or (expected.sentence is None) != (predicted.sentence is None):
        return 0.0, 0.0, 0.0, 0.0
    if expected.sentence is None:
        return 1.0, 1.0, 1.0, 1.0
    return (
        1.0,
        float(expected.sentence == predicted.sentence),
        rouge_1(expected.correction, predicted.correction),
        float(normalise(expected.correction) == normalise(predicted.correction)),
    )


def _medhelm(reference: str, answer: str) -> tuple[float, float]:
    """Flag and sentence by MedHELM's rule; -1 is no sentence of a reference, -2 of an answer."""
    gold = reference.replace(".", "").strip()
    is_error, says_error = gold != "CORRECT", answer != "CORRECT"
    if not (is_error and says_error):
        return (float(is_error == says_error),) * 2
    sentence = int(gold) if _DIGITS.fullmatch(gold) else -1
    number = _DIGITS.match(answer)
    return 1.0, float(sentence == (int(number[0]) if number else -2))


def _row(state: RequestState) -> ScoreRow:
    if (answer := first_text(state)) is None:
        return unscored(_NAMES, ScoreStatus.NO_ANSWER)
    gold = next((reference.text for reference in state.references if reference.is_correct), "")
    if (expected := _read(gold)) is None:
        return unscored(_NAMES, ScoreStatus.NO_REFERENCE)
    return scored(_NAMES, (*_ours(expected, _read(answer)), *_medhelm(gold, answer)))


def _score(states: Sequence[RequestState], params: Params) -> list[ScoreRow]:
    return [_row(state) for state in states]


def _info(name: str, display_name: str, description: str) -> MetricInfo:
    return MetricInfo(name=f"medec_{name}", display_name=display_name, description=description)


MEDEC = Metric(
    fn=_score,
    needs=frozenset({"references", "completions"}),
    emits=(
        _info(
            "error_flag_accuracy",
            "Error flag accuracy",
            "Share of notes rightly found to have an error, or none.",
        ),
        _info(
            "error_sentence_accuracy",
            "Error sentence accuracy",
            "Share of notes with the right sentence named, or rightly none.",
        ),
        _info(
            "correction_rouge_1",
            "Correction ROUGE-1",
            "ROUGE-1 of the corrected sentence; 1 where there is rightly none, 0 where wrongly.",
        ),
        _info(
            "correction_exact_match",
            "Correction exact match",
            "Share of notes with the very correction of the reference, or rightly none.",
        ),
        _info(
            f"error_flag_accuracy{MEDHELM}",
            "Error flag accuracy (MedHELM 0.8)",
            "Error flag accuracy by MedHELM 0.8.0's rule.",
        ),
        _info(
            f"error_sentence_accuracy{MEDHELM}",
            "Error sentence accuracy (MedHELM 0.8)",
            "Error sentence accuracy by MedHELM 0.8.0's rule.",
        ),
    ),
    version="2",
    data_set="MEDEC",
)
_NAMES = tuple(info.name for info in MEDEC.emits)

METRICS = {"medec": MEDEC}
