"""A jury's work on one answer: what a judge is asked, and what becomes of the reply.

Judging uses the same requests, tables and policy as inference, so a new judge or rubric re-reads
stored answers and never asks the evaluated model again.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from medhelm_spark.annotators.verdict import parse_verdict, verdict_schema
from medhelm_spark.domain.annotation import Rubric, RubricItem
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
    "Shown",
    "annotation_for",
    "judge_decoding",
    "judge_prompts",
    "needs_judging",
    "parse_verdict",
    "verdict_schema",
]

_PLACEHOLDER = re.compile(r"\{(CONVERSATION|QUESTION|RESPONSE|GOLD_RESPONSE|CRITERION)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a judge may be shown of one answer.

    `question` is the instance's input without adapter instructions, `messages` the conversation
    that it ends (empty where there is none), `gold` the reference answer or empty, and `items` the
    instance's own rubric. `access_level` is the strictest of them all.
    """

    question: str
    response: str
    access_level: AccessLevel
    gold: str = ""
    messages: tuple[Message, ...] = ()
    items: tuple[RubricItem, ...] = ()


def judge_prompts(
    rubric: Rubric, shown: Shown, *, judged_request_id: str, render_id: str
) -> Iterator[Prompt]:
    """What is asked about one answer: one prompt, or one per rubric item of its instance.

    Each is one user message. All placeholders of the template are replaced in one pass, so a
    placeholder, `$` or backslash inside a value stays what it is, and the rest of the template is
    sent as its author wrote it (MedHELM reads `$` in a template as a variable and stops at it).

    Args:
        rubric: The judge's instructions.
        shown: The answer and what belongs to it.
        judged_request_id: The request whose answer is judged; becomes `subject_id`.
        render_id: The id of this rendering, for example the rubric's version.
    """
    values = {
        "CONVERSATION": conversation_text(shown.messages, shown.question),
        "QUESTION": shown.question,
        "RESPONSE": shown.response,
        "GOLD_RESPONSE": shown.gold,
    }
    criteria = enumerate(item.criterion for item in shown.items)
    for place, criterion in criteria if rubric.is_per_item else [(None, "")]:
        content = _filled(rubric.template, {**values, "CRITERION": criterion})
        messages = (Message(role="user", content=content),)
        yield Prompt(
            prompt_id=content_id(messages, shown.access_level),
            render_id=render_id,
            subject_id=judged_request_id,
            access_level=shown.access_level,
            messages=messages,
            num_characters=len(content),
            rubric_item=place,
        )


def _filled(template: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)


def conversation_text(messages: Sequence[Message], question: str) -> str:
    """All turns in order, each under its role; the question alone is a turn of the user's."""
    turns = messages or (Message(role="user", content=question),)
    return "\n\n".join(f"{turn.role.upper()}:\n{turn.content}" for turn in turns)


def judge_decoding(rubric: Rubric) -> Decoding:
    """Greedy decoding, bounded by the rubric's `max_tokens`, constrained to its verdict schema."""
    return Decoding(max_tokens=rubric.max_tokens, response_schema=verdict_schema(rubric))


def needs_judging(rubric: Rubric, completions: Sequence[Completion] | None) -> VerdictStatus | None:
    """Why an answer is not put before the judges, or None where it is.

    As in MedHELM only the first completion is judged, and an empty one (white space) is not; but by
    an instance's own rubric an empty answer is judged, because it may well meet an item such as
    "does not advise to call an ambulance".
    """
    if not completions:
        return VerdictStatus.NO_ANSWER
    is_empty = not rubric.is_per_item and not completions[0].text.strip()
    return VerdictStatus.SKIPPED_EMPTY_OUTPUT if is_empty else None


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
