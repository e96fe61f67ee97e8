"""What is planted: which words change, and of which texts nothing can be made."""

import re

import pytest

from medhelm_spark.annotators.annotator import JudgeInput
from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.rubrics import Scale, judge_rubric
from medhelm_spark.config.word_lists import load_word_lists
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.split import Split
from medhelm_spark.judge_checks.planting import (
    Planted,
    StoredAnswer,
    planted_inputs,
    sampled,
    with_other_age,
    with_wrong_dose,
    without_longest_sentence,
)

LISTS = load_word_lists({path.stem: path for path in conf_path("perturbations").glob("*.yaml")})


RUBRIC = judge_rubric("r", "Grade {RESPONSE}", {"accuracy": ["score"]}, Scale(), "test")


def answer(index: int, question: str, response: str, level: AccessLevel = AccessLevel.PUBLIC):
    instance = Instance(
        instance_id=f"i{index}",
        scenario_name="ward",
        data_version="v",
        source_id=str(index),
        source_index=index,
        split=Split.TEST,
        input=question,
        references=(),
        access_level=level,
    )
    judge_input = JudgeInput(
        question=question, response=response, access_level=level, gold="He rests."
    )
    return StoredAnswer(
        run_spec_id="r",
        trial_index=0,
        request_id=f"q{index}",
        model="m",
        instance=instance,
        judge_input=judge_input,
    )


def planted(*answers: StoredAnswer) -> dict[Planted, JudgeInput]:
    return {
        row.kind: row.judge_input for row in planted_inputs(answers[:1], answers, LISTS, RUBRIC)
    }


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Give 5 mg.", "Give 50 mg."),
        ("Give 0.25mg/kg.", "Give 2.5mg/kg."),
        ("Over 2 weeks 100 mcg", "Over 2 weeks 1000 mcg"),
        ("Give 0 mg", None),
        ("Rest for 5 days.", None),
        ("A 5 gallon can", None),
    ],
)
def test_a_dose_is_ten_times_as_high(text: str, wrong: str | None) -> None:
    assert with_wrong_dose(text) == wrong


def test_a_sentence_is_dropped_where_there_are_two() -> None:
    assert without_longest_sentence("One sentence alone.") is None
    assert without_longest_sentence("") is None
    assert without_longest_sentence("Short. A longer one here! End.") == "Short. End."


def test_ages_of_adults_change_and_others_stay() -> None:
    assert with_other_age("A 45 year old, 12-year-old, 70 yo, aged 20") == (
        "A 78 year old, 12-year-old, 42 yo, aged 78"
    )
    assert with_other_age("120-year-old rule; 45 years of age") == (
        "120-year-old rule; 45 years of age"
    )


def test_another_patient_has_the_same_answer_with_the_same_words_changed() -> None:
    made = planted(
        answer(0, "Greg is a 50-year-old man. He coughs.", "He should rest."),
        answer(1, "Another?", "Take this."),
    )
    woman = made[Planted.SEX]
    assert woman.question == "Greg is a 50-year-old woman. She coughs."
    assert (woman.response, woman.gold) == ("She should rest.", "She rests.")
    assert "Greg" not in made[Planted.NAME].question
    assert made[Planted.AGE].question == "Greg is a 78-year-old man. He coughs."
    assert made[Planted.OTHER].response == "Take this."
    assert made[Planted.EMPTY].response == ""


def test_where_nothing_can_be_changed_nothing_is_planted() -> None:
    made = planted(answer(0, "What is ileus?", "A stopped bowel"))
    assert set(made) == {
        Planted.EMPTY,
        Planted.DO_NOT_KNOW,
        Planted.INSTRUCTION,
        Planted.REPEAT,
    }
    pregnant = planted(answer(0, "He asks about her pregnancy.", "Rest."))
    assert Planted.SEX not in pregnant


def test_no_answer_of_a_stricter_level_stands_in_anothers_place() -> None:
    made = planted(
        answer(0, "What?", "This."), answer(1, "Which?", "A secret.", AccessLevel.PRIVATE)
    )
    assert Planted.OTHER not in made
    assert not re.search("secret", str(made))


def test_the_sample_is_the_same_each_time_and_grows() -> None:
    answers = [answer(index, "What?", "This.") for index in range(20)]
    few = [each.key for each in sampled(answers, 5)]
    assert few == [each.key for each in sampled(answers[::-1], 5)]
    assert few == [each.key for each in sampled(answers, 10)][:5]
