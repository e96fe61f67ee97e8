"""The same question to a judge in another order."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.annotators.annotator import JudgeInput, filled
from medhelm_spark.config.rubrics import Scale, judge_rubric, load_judge_prompt, load_rubric
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.annotation import NOTES
from medhelm_spark.judge_checks.orders import (
    with_answer_moved,
    with_criteria_reversed,
    with_notes_reversed,
)

CONF = Path(__file__).parents[3] / "conf"
JUDGE_INPUT = JudgeInput(
    question="What now?", response="Rest.", gold="Sleep.", access_level=AccessLevel.PUBLIC
)


def rubric_of(template: str, *names: str):
    return judge_rubric("r", template, {name: ["score"] for name in names}, Scale(), "test")


def test_the_answer_and_the_reference_change_places_with_their_tags() -> None:
    rubric = load_rubric(CONF / "rubrics" / "aci_bench.md")
    text = filled(rubric, JUDGE_INPUT)
    assert text.index("Sleep.") < text.index("Rest.")
    moved = with_answer_moved(rubric, JUDGE_INPUT)
    assert moved is not None
    text = filled(moved, JUDGE_INPUT)
    assert text.index("<note_to_grade>\nRest.\n</note_to_grade>") < text.index("<reference_note>")
    assert moved.version != rubric.version
    assert sorted(moved.template) == sorted(rubric.template)
    back = with_answer_moved(moved, JUDGE_INPUT)
    assert back is not None
    assert back.template == rubric.template


def test_without_a_reference_the_answer_changes_places_with_the_question() -> None:
    rubric = rubric_of("Q: {QUESTION}\nA: {RESPONSE}\nG: {GOLD_RESPONSE}\n", "accuracy")
    moved = with_answer_moved(rubric, replace(JUDGE_INPUT, gold=""))
    assert moved is not None
    assert moved.template == "A: {RESPONSE}\nQ: {QUESTION}\nG: {GOLD_RESPONSE}\n"
    moved = with_answer_moved(rubric, JUDGE_INPUT)
    assert moved is not None
    assert moved.template == "Q: {QUESTION}\nG: {GOLD_RESPONSE}\nA: {RESPONSE}\n"


@pytest.mark.parametrize(
    "template",
    [
        "Grade {RESPONSE} by {GOLD_RESPONSE}.",
        "Answer:\n\n{RESPONSE}\n\nReference:\n\n{GOLD_RESPONSE}",
        "Grade this: {RESPONSE}",
    ],
    ids=["one line", "names apart", "nothing beside"],
)
def test_a_prompt_that_does_not_name_both_texts_is_left_alone(template: str) -> None:
    assert with_answer_moved(rubric_of(template, "accuracy"), JUDGE_INPUT) is None


@pytest.mark.parametrize("name", ["aci_bench", "pdsqi_9"], ids=["plain", "typed"])
def test_criteria_change_places_in_words_in_json_and_in_the_schema(name: str) -> None:
    rubric = load_rubric(CONF / "rubrics" / f"{name}.md")
    turned = with_criteria_reversed(rubric)
    assert turned is not None
    names = [each.name for each in rubric.criteria]
    assert [each.name for each in turned.criteria] == names[::-1]
    starts = [turned.template.index(f"\n{each}:") for each in names]
    assert starts == sorted(starts, reverse=True)
    written = [turned.template.index(f'"{each}": {{') for each in names]
    assert written == sorted(written, reverse=True)
    assert sorted(turned.template) == sorted(rubric.template)
    back = with_criteria_reversed(turned)
    assert back is not None
    assert back.template == rubric.template


def test_a_block_of_criteria_of_medhelms_form_is_turned() -> None:
    path = CONF / "demos" / "discharge_note" / "judge_prompt.txt"
    rubric = load_judge_prompt(path, "demo", Scale())
    turned = with_criteria_reversed(rubric)
    assert turned is not None
    assert '{"plain_language": ["score"], "accuracy": ["score"]}' in turned.template
    assert turned.template.index("plain_language: ") < turned.template.index("accuracy: ")


def test_one_criterion_or_none_in_the_prompt_has_no_order() -> None:
    assert with_criteria_reversed(rubric_of('{"a": 1} {RESPONSE}', "a")) is None
    assert with_criteria_reversed(rubric_of("Grade {RESPONSE}", "a", "b")) is None


def test_notes_come_from_the_last_to_the_first_unless_the_answer_cites_them() -> None:
    notes = {NOTES: json.dumps(["Cough.", "Fever.", "Well."])}
    turned = with_notes_reversed(replace(JUDGE_INPUT, extra_data=notes))
    assert turned is not None
    assert json.loads(turned.extra_data[NOTES]) == ["Well.", "Fever.", "Cough."]
    cited = replace(JUDGE_INPUT, extra_data=notes, response="Fever [Note 2].")
    assert with_notes_reversed(cited) is None
    assert with_notes_reversed(JUDGE_INPUT) is None
    assert with_notes_reversed(replace(JUDGE_INPUT, extra_data={NOTES: "One note."})) is None
