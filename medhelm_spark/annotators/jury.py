"""A jury's work on one answer: what a judge is asked, and what becomes of the reply.

Judging uses the same requests, tables and policy as inference, so a new judge or rubric re-reads
stored answers and never asks the evaluated model again.
"""

import re
from collections.abc import Sequence
from dataclasses import fields

from medhelm_spark.annotators.verdict import parse_verdict, verdict_schema
from medhelm_spark.domain.annotation import Rubric
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.request import (
    Annotation,
    AnnotationKey,
    Completion,
    CriterionScore,
    Decoding,
    FailureKind,
    Prompt,
    VerdictStatus,
)
from medhelm_spark.domain.scenario import AccessLevel, Message

__all__ = [
    "annotation_for",
    "judge_decoding",
    "judge_prompt",
    "needs_judging",
    "parse_verdict",
    "verdict_schema",
]

_PLACEHOLDER = re.compile(r"\{(QUESTION|RESPONSE|GOLD_RESPONSE)\}")


def judge_prompt(
    rubric: Rubric,
    *,
    question: str,
    response: str,
    gold: str,
    access_level: AccessLevel,
    judged_request_id: str,
    render_id: str,
) -> Prompt:
    """Fill the rubric's template for one answer, as one user message.

    All placeholders are replaced in one pass, so a placeholder, `$` or backslash inside a value
    stays what it is, and the rest of the template is sent as its author wrote it (MedHELM reads
    `$` in a template as a variable and stops at it).

    Args:
        rubric: The judge's instructions and criteria.
        question: The instance's input, without adapter instructions.
        response: The judged answer.
        gold: The reference answer, or empty.
        access_level: The strictest level of question, response and gold.
        judged_request_id: The request whose answer is judged; becomes `subject_id`.
        render_id: The id of this rendering, for example the rubric's version.
    """
    values = {"QUESTION": question, "RESPONSE": response, "GOLD_RESPONSE": gold}
    content = _PLACEHOLDER.sub(lambda match: values[match[1]], rubric.template)
    messages = (Message(role="user", content=content),)
    return Prompt(
        prompt_id=content_id(messages, access_level),
        render_id=render_id,
        subject_id=judged_request_id,
        access_level=access_level,
        messages=messages,
        num_characters=len(content),
    )


def judge_decoding(rubric: Rubric) -> Decoding:
    """Greedy decoding, bounded by the rubric's `max_tokens`, constrained to its verdict schema."""
    return Decoding(max_tokens=rubric.max_tokens, response_schema=verdict_schema(rubric))


def needs_judging(completions: Sequence[Completion] | None) -> VerdictStatus | None:
    """Why an answer is not put before the judges, or None where it is.

    As in MedHELM only the first completion is judged, and an empty one (white space) is not.
    """
    if not completions:
        return VerdictStatus.NO_ANSWER
    return None if completions[0].text.strip() else VerdictStatus.SKIPPED_EMPTY_OUTPUT


def annotation_for(
    key: AnnotationKey,
    rubric: Rubric,
    *,
    access_level: AccessLevel,
    completions: Sequence[Completion] | None = None,
    failure: FailureKind | None = None,
    skipped: VerdictStatus | None = None,
) -> Annotation:
    """One judge's verdict on one answer; there are scores only where the status is OK.

    Args:
        key: Whose verdict it is, on which answer.
        rubric: The rubric that was applied.
        access_level: The strictest level of the answer and what the judge was shown.
        completions: The judge's reply; None where there is none.
        failure: Why there is no reply.
        skipped: Why no judge was asked: from `needs_judging`, or DENIED by the plan.
    """
    status, scores = _outcome(rubric, completions, failure, skipped)
    return Annotation(
        **{field.name: getattr(key, field.name) for field in fields(key)},
        status=status,
        access_level=access_level,
        scores=scores,
    )


def _outcome(
    rubric: Rubric,
    completions: Sequence[Completion] | None,
    failure: FailureKind | None,
    skipped: VerdictStatus | None,
) -> tuple[VerdictStatus, tuple[CriterionScore, ...]]:
    if skipped is not None:
        return skipped, ()
    if failure == FailureKind.DENIED:
        return VerdictStatus.DENIED, ()
    if failure is not None or not completions:
        return VerdictStatus.REQUEST_FAILED, ()
    scores = parse_verdict(completions[0].text, rubric)
    if scores is None:
        return VerdictStatus.UNPARSEABLE, ()
    return VerdictStatus.OK, scores
