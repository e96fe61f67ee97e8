"""A jury on one answer: the prompts of its judges, and the annotation from a judge's reply.

Judging uses the same requests, tables and policy as inference, so that a new judge or rubric reads
stored answers and never asks the evaluated model again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields

from medhelm_spark.annotators.annotator import JudgeInput
from medhelm_spark.annotators.kinds import kind_of
from medhelm_spark.domain.access import AccessLevel
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
from medhelm_spark.domain.scenario import Message


def judge_prompts(
    rubric: Rubric, judge_input: JudgeInput, *, judged_request_id: str, render_id: str
) -> Iterator[Prompt]:
    """The prompts to a judge about one answer, each of one user message.

    Args:
        rubric: The judge's instructions; its kind says which questions are asked.
        judge_input: The answer and what belongs to it.
        judged_request_id: The request whose answer is judged; becomes `subject_id`.
        render_id: The id of this rendering, for example the rubric's version.
    """
    for rubric_item, content in kind_of(rubric).ask(rubric, judge_input):
        messages = (Message(role="user", content=content),)
        yield Prompt(
            prompt_id=content_id(messages, judge_input.access_level),
            render_id=render_id,
            subject_id=judged_request_id,
            access_level=judge_input.access_level,
            messages=messages,
            num_characters=len(content),
            rubric_item=rubric_item,
        )


def judge_decoding(rubric: Rubric) -> Decoding:
    """Greedy decoding, bounded by the rubric's `max_tokens`, constrained to its verdict schema."""
    schema = kind_of(rubric).schema(rubric)
    return Decoding(max_tokens=rubric.max_tokens, response_schema=schema)


def needs_judging(rubric: Rubric, completions: Sequence[Completion] | None) -> VerdictStatus | None:
    """Why an answer is not sent to the judges; None where it is sent.

    As in MedHELM only the first completion is judged, and an empty one (white space) is not. By an
    instance's own rubric an empty answer is judged, because it may meet an item such as "does not
    advise to call an ambulance".
    """
    if not completions:
        return VerdictStatus.NO_ANSWER
    is_empty = not completions[0].text.strip() and not kind_of(rubric).judges_empty
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
        access_level: The strictest level of the texts that the judge read.
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
    scores = kind_of(rubric).read(completions[0].text, rubric)
    if scores is None:
        return VerdictStatus.UNPARSEABLE, ()
    return VerdictStatus.OK, scores
