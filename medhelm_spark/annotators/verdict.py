"""The form of a judge's verdict: the JSON Schema that asks for it, the parser that reads it."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from medhelm_spark.domain.annotation import Criterion, Rubric
from medhelm_spark.domain.request import CriterionScore

MET_KEY = "met"
SCORE_KEY = "score"
EXPLANATION_KEY = "explanation"
MAX_EXPLANATION = 300
"""Longest explanation that the schema allows, in characters; bounds how long a small model runs."""

_EXPLANATION = {"type": "string", "maxLength": MAX_EXPLANATION}
_MET = {"true": 1.0, "false": 0.0}
_OBJECT_START = re.compile(r'\{\s*"')
_DECODER = json.JSONDecoder(strict=False)


def verdict_schema(rubric: Rubric) -> str:
    """The JSON Schema of a verdict, as text: one object with every criterion and nothing else.

    Each criterion is an object of its `keys`: `score` a number on the criterion's scale, all
    others strings of bounded length. Explanations come before the score, whatever the order of
    `keys`: engines that constrain decoding write properties in this order, and a score written
    after its reasons can follow from them.
    """
    criteria = {criterion.name: _criterion_schema(criterion) for criterion in rubric.criteria}
    return json.dumps(_object_schema(criteria), separators=(",", ":"), ensure_ascii=False)


def met_schema(_: Rubric) -> str:
    """The JSON Schema of a verdict on one rubric item: an explanation, then true or false."""
    verdict = {EXPLANATION_KEY: _EXPLANATION, MET_KEY: {"type": "boolean"}}
    return json.dumps(_object_schema(verdict), separators=(",", ":"))


def _criterion_schema(criterion: Criterion) -> dict[str, Any]:
    properties: dict[str, Any] = {key: _EXPLANATION for key in criterion.keys if key != SCORE_KEY}
    scale = {"minimum": criterion.minimum, "maximum": criterion.maximum}
    return _object_schema(properties | {SCORE_KEY: {"type": "number", **scale}})


def _object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def parse_verdict(text: str, rubric: Rubric) -> tuple[CriterionScore, ...] | None:
    """Read a judge's reply; None where it holds no sound verdict.

    The last JSON object in the text that has every criterion is the verdict, because an earlier
    one may be quoted from the judged answer. For the same reason it must be sound itself (nothing
    falls back to an earlier object), and no broken verdict may follow it. Sound means: every
    criterion has all its keys and a score that is a number, or a numeric text, on its scale.
    Further keys are ignored and never scored (MedHELM averages them). Prose and code fences around
    the object do not matter, nor do raw line breaks in its strings. The time is linear in the
    length of the text, whatever it holds.

    Returns:
        The scores in the rubric's order, or None.
    """
    verdict = _last_verdict(text, [criterion.name for criterion in rubric.criteria])
    if verdict is None:
        return None
    scores = [_criterion_score(verdict[c.name], c) for c in rubric.criteria]
    sound = tuple(score for score in scores if score is not None)
    return sound if len(sound) == len(scores) else None


def parse_met(text: str, _: Rubric) -> tuple[CriterionScore, ...] | None:
    """Read a judge's reply about one rubric item, with the same care as `parse_verdict`.

    Returns:
        The score `met`, 1 or 0, or None where `met` is neither true nor false.
    """
    verdict = _last_verdict(text, [MET_KEY])
    met = _MET.get(str(verdict[MET_KEY]).strip().lower()) if verdict else None
    if verdict is None or met is None:
        return None
    return (CriterionScore(criterion=MET_KEY, score=met, explanation=_explanation(verdict)),)


def _last_verdict(text: str, names: Sequence[str]) -> dict[str, Any] | None:
    """The last object with every name, unless a broken one follows it.

    A verdict begins one object per criterion and one around them, so the bound on how many
    beginnings are tried is ample; it keeps hostile nesting from costing quadratic time.
    """
    starts = [match.start() for match in _OBJECT_START.finditer(text)]
    for start in reversed(starts[-(4 * len(names) + 64) :]):
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if value.keys() >= set(names):
            return None if _names_a_criterion(text[end:], names) else value
    return None


def _names_a_criterion(text: str, names: Sequence[str]) -> bool:
    named = "|".join(map(re.escape, names))
    return re.search(rf"[\"'](?:{named})[\"']\s*:", text) is not None


def _explanation(verdict: Mapping[str, Any]) -> str:
    explanation = verdict.get(EXPLANATION_KEY)
    return explanation if isinstance(explanation, str) else ""


def _criterion_score(value: object, criterion: Criterion) -> CriterionScore | None:
    if not isinstance(value, dict) or not value.keys() >= set(criterion.keys):
        return None
    score = _number(value.get(SCORE_KEY))
    if score is None or not criterion.minimum <= score <= criterion.maximum:
        return None
    return CriterionScore(criterion=criterion.name, score=score, explanation=_explanation(value))


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
