"""A judge's verdict: the JSON Schema that constrains it, and the parser that reads it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.criterion import Criterion
from medhelm_spark.domain.request import CriterionScore

MET_KEY = "met"
SCORE_KEY = "score"
CLASS_KEY = "class"
EXPLANATION_KEY = "explanation"
MAX_EXPLANATION = 300
"""Longest explanation that the schema allows, in characters; a small model might never stop."""

_EXPLANATION = {"type": "string", "maxLength": MAX_EXPLANATION}
_MET = {"true": 1.0, "false": 0.0}
_OBJECT_START = re.compile(r'\{\s*"[^"]{0,500}"\s*:')
_DECODER = json.JSONDecoder(strict=False)
_SHORT = 1000
"""Characters of a candidate that are parsed first: most broken objects fail within them."""
_MOST_LONG_FAILURES = 64
_LONGEST_TOKEN = 16
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
"""An escape of JSON, or a backslash that begins none, as in `50\\%` of a judge that knows LaTeX."""
_THOUGHT = re.compile(
    r"\A\s*<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE
)
"""Thinking at the beginning of a reply, up to the first end tag: a later one may be quoted."""


def verdict_schema(rubric: Rubric) -> str:
    """The JSON Schema of a verdict, as text: one object with every criterion and nothing else.

    Each criterion is an object of its `keys`: `score` a number on the criterion's scale, `class`
    one of its classes, all others strings of bounded length. Explanations come before the score,
    whatever the order of `keys`: engines that constrain decoding write properties in this order,
    and a score that is written after its reasons can follow from them.
    """
    criteria = {criterion.name: _criterion_schema(criterion) for criterion in rubric.criteria}
    return json.dumps(_object_schema(criteria), separators=(",", ":"), ensure_ascii=False)


def met_schema(_: Rubric) -> str:
    """The JSON Schema of a verdict on one rubric item: an explanation, then true or false."""
    verdict = {EXPLANATION_KEY: _EXPLANATION, MET_KEY: {"type": "boolean"}}
    return json.dumps(_object_schema(verdict), separators=(",", ":"))


def _criterion_schema(criterion: Criterion) -> dict[str, Any]:
    read = CLASS_KEY if criterion.classes else SCORE_KEY
    properties: dict[str, Any] = {key: _EXPLANATION for key in criterion.keys if key != read}
    if criterion.classes:
        return _object_schema(
            properties | {CLASS_KEY: {"type": "string", "enum": list(criterion.classes)}}
        )
    scale = {"minimum": criterion.minimum, "maximum": criterion.maximum}
    if criterion.whole:
        scale = {name: int(limit) for name, limit in scale.items()}
    kind = "integer" if criterion.whole else "number"
    return _object_schema(properties | {SCORE_KEY: {"type": kind, **scale}})


def _object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def parse_verdict(text: str, rubric: Rubric) -> tuple[CriterionScore, ...] | None:
    """Read a judge's reply; None where it has no valid verdict, or two that differ.

    A verdict is a JSON object that has every criterion. It is valid where every criterion has all
    its keys and a score that is a number, or a numeric text, on its scale, and whole where the
    criterion asks for whole numbers; or one of its classes, in whatever letter case. The last
    verdict must be valid, and no broken one may follow: an earlier object may be quoted from the
    judged answer and does not count instead. Two valid verdicts with different scores are
    ambiguous, since one may be quoted; equal ones count. Thinking in tags at the beginning is no
    part of the reply. Further keys are ignored (MedHELM averages them). Prose and code fences
    around the object do not matter, nor do raw line breaks in its strings, nor a backslash that
    begins no escape of JSON. The time is linear in the length of the text.

    Returns:
        The scores in the rubric's order, or None.
    """

    def read(verdict: Mapping[str, Any]) -> tuple[CriterionScore, ...] | None:
        scores = [_criterion_score(verdict[c.name], c) for c in rubric.criteria]
        valid = tuple(score for score in scores if score is not None)
        return valid if len(valid) == len(scores) else None

    return _agreed_verdict(text, [criterion.name for criterion in rubric.criteria], read)


def parse_met(text: str, _: Rubric) -> tuple[CriterionScore, ...] | None:
    """Read a judge's reply about one rubric item, by the rules of `parse_verdict`.

    Returns:
        The score `met`, 1 or 0, or None where `met` is neither true nor false.
    """

    def read(verdict: Mapping[str, Any]) -> tuple[CriterionScore, ...] | None:
        met = _MET.get(str(verdict[MET_KEY]).strip().lower())
        if met is None:
            return None
        return (CriterionScore(criterion=MET_KEY, score=met, explanation=_explanation(verdict)),)

    return _agreed_verdict(text, [MET_KEY], read)


_Read = Callable[[Mapping[str, Any]], tuple[CriterionScore, ...] | None]


def _agreed_verdict(
    text: str, names: Sequence[str], read: _Read
) -> tuple[CriterionScore, ...] | None:
    """The scores that all valid verdicts of a reply share, unless an invalid one comes last."""
    text = _ESCAPE.sub(lambda match: match[0].rjust(2, "\\"), _THOUGHT.sub("", text))
    last: tuple[CriterionScore, ...] | None = None
    distinct: set[tuple[float, ...]] = set()
    last_end = 0
    for value, end in _objects(text):
        for verdict in _with_names(value, frozenset(names)):
            scores = read(verdict)
            if scores is not None:
                distinct.add(tuple(score.score for score in scores))
            # An invalid object inside a valid one is a part of it, and no verdict.
            if scores is not None or end != last_end:
                last, last_end = scores, end
    if last is None or len(distinct) != 1 or _names_a_criterion(text[last_end:], names):
        return None
    return last


def _objects(text: str) -> Iterator[tuple[dict[str, Any], int]]:
    """The outermost JSON objects of a text, each with the position after it.

    An object inside a broken one counts.
    """
    position, long_failures = 0, 0
    while match := _OBJECT_START.search(text, position):
        start = match.start()
        position = start + 1
        value, end = _decoded(text[start : start + _SHORT])
        if value is None and end is None and start + _SHORT < len(text):
            value, end = _decoded(text[start:])
            long_failures += value is None
            if long_failures > _MOST_LONG_FAILURES:
                return  # hostile nesting would take quadratic time
        if value is not None and end is not None:
            position = start + end
            yield value, position


def _decoded(text: str) -> tuple[dict[str, Any] | None, int | None]:
    """The object that a text begins with, and its end; no end where the object may go on."""
    try:
        return _DECODER.raw_decode(text)
    except json.JSONDecodeError as error:
        is_cut = error.pos > len(text) - _LONGEST_TOKEN or error.msg.startswith("Unterminated")
        return None, None if is_cut else error.pos
    except (ValueError, RecursionError):
        return None, None


def _with_names(value: object, names: frozenset[str]) -> Iterator[dict[str, Any]]:
    """The objects in a JSON value that have every name, outer ones first."""
    stack = [value]
    while stack:
        inner = stack.pop()
        if isinstance(inner, dict):
            if inner.keys() >= names:
                yield inner
            stack.extend(inner.values())
        elif isinstance(inner, list):
            stack.extend(inner)


def _names_a_criterion(text: str, names: Sequence[str]) -> bool:
    named = "|".join(map(re.escape, names))
    return re.search(rf"[\"'](?:{named})[\"']\s*:", text) is not None


def _explanation(verdict: Mapping[str, Any]) -> str:
    explanation = verdict.get(EXPLANATION_KEY)
    return explanation if isinstance(explanation, str) else ""


def _criterion_score(value: object, criterion: Criterion) -> CriterionScore | None:
    if not isinstance(value, dict) or not value.keys() >= set(criterion.keys):
        return None
    if criterion.classes:
        return _class_score(value, criterion)
    score = _number(value.get(SCORE_KEY))
    if score is None or not criterion.minimum <= score <= criterion.maximum:
        return None
    if criterion.whole and not score.is_integer():
        return None
    return CriterionScore(criterion=criterion.name, score=score, explanation=_explanation(value))


def _class_score(value: Mapping[str, Any], criterion: Criterion) -> CriterionScore | None:
    label = str(value.get(CLASS_KEY)).strip().casefold()
    indices = [index for index, name in enumerate(criterion.classes) if name.casefold() == label]
    if not indices:
        return None
    return CriterionScore(
        criterion=criterion.name,
        score=float(indices[0]),
        label=criterion.classes[indices[0]],
        explanation=_explanation(value),
    )


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
