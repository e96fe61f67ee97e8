"""Judge prompts have values as they are; annotations have scores only where a judge gave them."""

import json

import pytest

from medhelm_spark.annotators.annotator import JudgeInput
from medhelm_spark.annotators.jury import (
    annotation_for,
    judge_decoding,
    judge_prompts,
    needs_judging,
)
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.request import (
    Annotation,
    AnnotationKey,
    CriterionScore,
    FailureKind,
    Prompt,
    VerdictStatus,
)
from medhelm_spark.domain.scenario import Message
from tests.unit.annotators.rubrics import TWO, completion, verdict

KEY = AnnotationKey(
    run_spec_id="run",
    instance_id="i1",
    perturbation="",
    train_trial_index=1,
    trial_index=2,
    request_id="judge-request",
    annotator="demo",
    judge="local",
)


def ask(question: str, response: str, gold: str) -> Prompt:
    judge_input = JudgeInput(
        question=question, response=response, gold=gold, access_level=AccessLevel.GATED
    )
    (prompt,) = judge_prompts(TWO, judge_input, judged_request_id="answer-request", render_id="v1")
    return prompt


def test_values_stand_where_the_template_has_them() -> None:
    prompt = ask("why?", "because", "gold")
    text = "Costs $5, {keep}. Q: why?\nGold: gold\nA: because\nbecause"
    assert prompt.messages == (Message(role="user", content=text),)
    assert (prompt.subject_id, prompt.render_id) == ("answer-request", "v1")
    assert prompt.rubric_item is None
    assert (prompt.access_level, prompt.num_characters) == (AccessLevel.GATED, len(text))
    assert prompt.prompt_id == content_id(prompt.messages, AccessLevel.GATED)


@pytest.mark.parametrize(
    "value", ["{GOLD_RESPONSE}", "{RESPONSE}", "$QUESTION $$ ${x}", r"\1 \g<0>", "nul \x00 🩺", ""]
)
def test_placeholders_and_signs_inside_values_are_inert(value: str) -> None:
    content = ask(value, value, "g").messages[0].content
    assert content == f"Costs $5, {{keep}}. Q: {value}\nGold: g\nA: {value}\n{value}"


def test_judges_decode_greedily_within_the_rubric_and_its_schema() -> None:
    decoding = judge_decoding(TWO)
    assert (decoding.temperature, decoding.max_tokens, decoding.num_completions) == (0.0, 256, 1)
    assert json.loads(decoding.response_schema or "")["required"] == ["accuracy", "clarity"]


@pytest.mark.parametrize(
    ("texts", "status"),
    [
        (None, VerdictStatus.NO_ANSWER),
        ([], VerdictStatus.NO_ANSWER),
        ([""], VerdictStatus.SKIPPED_EMPTY_OUTPUT),
        ([" \n\t\u2003"], VerdictStatus.SKIPPED_EMPTY_OUTPUT),
        (["", "second"], VerdictStatus.SKIPPED_EMPTY_OUTPUT),
        (["no"], None),
    ],
)
def test_which_answers_go_before_a_judge(
    texts: list[str] | None, status: VerdictStatus | None
) -> None:
    completions = None if texts is None else [completion(text) for text in texts]
    assert needs_judging(TWO, completions) == status


def annotate(
    reply: str | None = None,
    failure: FailureKind | None = None,
    skipped: VerdictStatus | None = None,
) -> Annotation:
    return annotation_for(
        KEY,
        TWO,
        access_level=AccessLevel.PRIVATE,
        completions=None if reply is None else (completion(reply),),
        failure=failure,
        skipped=skipped,
    )


def test_a_sound_reply_becomes_scores_under_the_key_of_the_link() -> None:
    assert annotate(verdict(4, 7)) == Annotation(
        run_spec_id="run",
        instance_id="i1",
        perturbation="",
        train_trial_index=1,
        trial_index=2,
        annotator="demo",
        judge="local",
        status=VerdictStatus.OK,
        access_level=AccessLevel.PRIVATE,
        scores=(
            CriterionScore(criterion="accuracy", score=4.0, explanation="a"),
            CriterionScore(criterion="clarity", score=7.0, explanation="c"),
        ),
        request_id="judge-request",
    )


@pytest.mark.parametrize(
    ("reply", "failure", "skipped", "status"),
    [
        ("I cannot say.", None, None, VerdictStatus.UNPARSEABLE),
        ("", None, None, VerdictStatus.UNPARSEABLE),
        (verdict(6, 7), None, None, VerdictStatus.UNPARSEABLE),
        (None, FailureKind.DENIED, None, VerdictStatus.DENIED),
        (None, FailureKind.TIMEOUT, None, VerdictStatus.REQUEST_FAILED),
        (None, FailureKind.ENGINE_ERROR, None, VerdictStatus.REQUEST_FAILED),
        (None, FailureKind.TOO_LONG, None, VerdictStatus.REQUEST_FAILED),
        (None, None, None, VerdictStatus.REQUEST_FAILED),
        (None, None, VerdictStatus.DENIED, VerdictStatus.DENIED),
        (None, None, VerdictStatus.NO_ANSWER, VerdictStatus.NO_ANSWER),
        (
            verdict(4, 7),
            None,
            VerdictStatus.SKIPPED_EMPTY_OUTPUT,
            VerdictStatus.SKIPPED_EMPTY_OUTPUT,
        ),
    ],
)
def test_everything_else_has_its_status_and_no_score(
    reply: str | None,
    failure: FailureKind | None,
    skipped: VerdictStatus | None,
    status: VerdictStatus,
) -> None:
    annotation = annotate(reply, failure, skipped)
    assert (annotation.status, annotation.scores) == (status, ())
