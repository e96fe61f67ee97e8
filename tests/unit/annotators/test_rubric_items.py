"""A rubric of the instance's own: one question per item, one verdict per item."""

import json
from dataclasses import replace

import pytest

from medhelm_spark.annotators.annotator import JudgeInput
from medhelm_spark.annotators.jury import judge_decoding, judge_prompts, needs_judging
from medhelm_spark.annotators.kinds import kind_of, version_of
from medhelm_spark.annotators.verdict import MAX_EXPLANATION, parse_met
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.annotation import RubricItem, items_text
from medhelm_spark.domain.request import CriterionScore, Prompt, VerdictStatus
from medhelm_spark.domain.scenario import Message
from medhelm_spark.errors import UnknownNameError
from tests.unit.annotators.rubrics import PER_ITEM, TWO, completion

TURNS = (
    Message(role="system", content="Be brief."),
    Message(role="user", content="My head hurts."),
    Message(role="assistant", content="Since when?"),
    Message(role="user", content="Since {CRITERION} a fall, $5."),
)
ITEMS = (
    RubricItem(criterion="Asks about vomiting", points=5),
    RubricItem(criterion="Says {RESPONSE} is \\1 harmless", points=-8),
    RubricItem(criterion="Advises care today", points=7),
)


def ask(*items: RubricItem, messages: tuple[Message, ...] = TURNS) -> list[Prompt]:
    judge_input = JudgeInput(
        question="Since a fall.",
        messages=messages,
        response="Go to a {CRITERION} doctor.",
        extra_data={"rubric_items": items_text(items)},
        access_level=AccessLevel.PUBLIC,
    )
    return list(judge_prompts(PER_ITEM, judge_input, judged_request_id="answer", render_id="r"))


def test_every_item_is_asked_about_alone_and_keeps_its_place() -> None:
    prompts = ask(*ITEMS)
    assert [prompt.rubric_item for prompt in prompts] == [0, 1, 2]
    assert {(prompt.subject_id, prompt.render_id) for prompt in prompts} == {("answer", "r")}
    assert len({prompt.prompt_id for prompt in prompts}) == 3
    assert prompts[1].messages == (
        Message(
            role="user",
            content=(
                "Judge.\nSYSTEM:\nBe brief.\n\nUSER:\nMy head hurts.\n\nASSISTANT:\nSince when?\n\n"
                "USER:\nSince {CRITERION} a fall, $5.\n<answer>Go to a {CRITERION} doctor.</answer>"
                "\nMet? Says {RESPONSE} is \\1 harmless"
            ),
        ),
    )


def test_prompts_of_one_answer_differ_in_the_criterion_at_their_end_only() -> None:
    texts = [prompt.messages[0].content for prompt in ask(*ITEMS)]
    assert len({text.partition("</answer>\nMet? ")[0] for text in texts}) == 1
    ends = [text.partition("</answer>\nMet? ")[2] for text in texts]
    assert ends == [item.criterion for item in ITEMS]


def test_without_messages_the_question_is_the_conversation() -> None:
    (prompt,) = ask(ITEMS[0], messages=())
    assert "Judge.\nUSER:\nSince a fall.\n<answer>" in prompt.messages[0].content


def test_an_instance_without_items_asks_nothing() -> None:
    assert ask() == []


def test_an_empty_answer_is_judged_by_items_and_not_by_scales() -> None:
    empty = [completion(" \n")]
    assert needs_judging(PER_ITEM, empty) is None
    assert needs_judging(TWO, empty) == VerdictStatus.SKIPPED_EMPTY_OUTPUT
    assert needs_judging(PER_ITEM, None) == VerdictStatus.NO_ANSWER


def test_the_schema_asks_for_reasons_and_then_true_or_false() -> None:
    decoding = judge_decoding(PER_ITEM)
    assert decoding.max_tokens == 128
    assert json.loads(decoding.response_schema or "") == {
        "type": "object",
        "properties": {
            "explanation": {"type": "string", "maxLength": MAX_EXPLANATION},
            "met": {"type": "boolean"},
        },
        "required": ["explanation", "met"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"explanation": "it does", "met": true}', 1.0),
        ('```json\n{"explanation": "it\ndoes", "met": false}\n```', 0.0),
        ('{"met": "True", "explanation": "as text"}', 1.0),
        ('{"met": true}', 1.0),
        ('The answer says {"met": 1}. My verdict: {"explanation": "x", "met": false}', 0.0),
    ],
)
def test_forms_that_real_judges_write(text: str, score: float) -> None:
    parsed = parse_met(text, PER_ITEM)
    assert parsed is not None
    assert [(criterion_score.criterion, criterion_score.score) for criterion_score in parsed] == [
        ("met", score)
    ]


def test_the_explanation_is_kept() -> None:
    assert parse_met('{"explanation": "why", "met": true}', PER_ITEM) == (
        CriterionScore(criterion="met", score=1.0, explanation="why"),
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", "true", "Met.", "{}", '{"explanation": "no verdict"}', '{"met": null}'),
        *('{"met": 1}', '{"met": 0.5}', '{"met": "yes and no"}', '{"met": [true]}'),
        '{"met": true} but then {"met": fal',
        'The answer says {"met": true}. My verdict: {"explanation": "x", "met": false}',
    ],
)
def test_anything_else_is_no_verdict(text: str) -> None:
    assert parse_met(text, PER_ITEM) is None


def test_a_rubric_of_a_kind_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"rubric 'items': unknown kind 'rubrics'.*'rubric'"):
        kind_of(replace(PER_ITEM, kind="rubrics"))


def test_the_packages_own_kinds_leave_a_rubrics_version_as_it_is() -> None:
    assert version_of(PER_ITEM) == PER_ITEM.version
    assert version_of(TWO) == TWO.version
