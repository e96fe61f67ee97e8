"""Clinical perturbations: the right answer stays right, or moves where it must."""

import pytest

from medhelm_spark.adaptation.perturbations import PERTURBATIONS
from medhelm_spark.adaptation.perturbations.units import amounts
from medhelm_spark.domain.scenario import Instance, Message
from tests.unit.adaptation.perturbations.lists import copy_of
from tests.unit.adaptation.rows import refs, row


def right(instance: Instance | None) -> list[str]:
    assert instance is not None
    return [ref.text for ref in instance.references if ref.is_correct]


def changed(text: str, name: str, *options: str) -> str | None:
    copy = copy_of(row(1, text, refs(*options)), name)
    return copy.input if copy else None


def test_abbreviations_and_back() -> None:
    assert changed("Hypertension and multiple sclerosis.", "abbreviation") == "HTN and MS."
    text = "HTN since 2010. Has HTN, MS and htn."
    expanded = "Hypertension since 2010. Has hypertension, MS and htn."
    assert changed(text, "abbreviation_expansion") == expanded


def test_a_question_about_abbreviations_is_left_alone() -> None:
    assert changed("What does HTN stand for?", "abbreviation_expansion") is None
    assert changed("Give the acronym of hypertension.", "abbreviation") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5 g", "500 mg"),
        ("500 mg daily", "0.5 g daily"),
        ("5 mg.", "5000 mcg."),
        ("250\u00b5g", "0.25mg"),
        ("1,500 mL", "1.5 L"),
        ("2 L", "2000 mL"),
        ("1.75 cm", "17.5 mm"),
        ("0.4 kg", "400 g"),
        ("38 \u00b0C", "100.4 \u00b0F"),
        ("37.25\u00b0C", "99.05\u00b0F"),
        ("98.6\u00b0F", "37\u00b0C"),
        ("2 cm x 3 cm", "20 mm x 30 mm"),
    ],
)
def test_amounts_are_converted_exactly(text: str, expected: str) -> None:
    assert changed(text, "unit") == expected


@pytest.mark.parametrize(
    "text",
    [
        "5-10 mg",
        "5 to 10 mg",
        "2 x 3 cm",
        "10/12.5 mg",
        "100 mg/dL",
        "5 mg per day",
        "120 mm Hg",
        "PaO2 130mm",
        "98.7\u00b0F",
        "38\u00b0C (100.4\u00b0F)",
        "B12 5 mgs",
        "L5 level",
        "90 kg",
        "0 mg",
        "-4 \u00b0C",
        "it rose by 2 \u00b0C",
        "cooled by 1.5\u00b0C",
        "5 \u00b0F lower",
        "3.5.2 g",
    ],
)
def test_amounts_that_would_not_be_equal_or_plain_stay(text: str) -> None:
    assert list(amounts(text)) == []
    assert changed(text, "unit") is None


def test_an_amount_that_an_answer_repeats_stays() -> None:
    assert changed("She took 500 mg.", "unit", "500 mg", "250 mg") is None


def test_an_aside_stands_before_the_case() -> None:
    assert changed("Cough.", "irrelevant_text") == "The clinic was repainted.\nCough."
    turns = (
        Message(role="user", content="Hello"),
        Message(role="assistant", content="Yes?"),
        Message(role="user", content="Cough."),
    )
    copy = copy_of(row(1, "Cough.", messages=turns), "irrelevant_text")
    assert copy is not None
    assert [turn.content for turn in copy.messages] == [
        "Hello",
        "Yes?",
        "The clinic was repainted.\nCough.",
    ]
    assert copy.input == copy.messages[-1].content


def test_drug_names_in_text_and_references() -> None:
    copy = copy_of(row(1, "Takes ADVIL and warfarin.", refs("Advil", "Rest")), "drug_generic")
    assert copy is not None
    assert copy.input == "Takes IBUPROFEN and warfarin."
    assert right(copy) == ["Ibuprofen"]
    assert changed("Stop ibuprofen.", "drug_brand", "Coumadin", "rest") == "Stop Advil."


def test_a_brand_that_stands_there_already_is_not_repeated() -> None:
    assert changed("Stop ibuprofen (Advil).", "drug_brand") is None


def test_drug_names_that_would_give_the_answer_away_stay() -> None:
    assert changed("What is the generic name of Advil?", "drug_generic", "ibuprofen") is None
    assert changed("Which one?", "drug_generic", "Advil", "ibuprofen") is None


def test_every_option_moves_and_takes_its_tag_along() -> None:
    original = row(1, "Which?", refs("a1", "b1", "c1", "d1", correct=2))
    copy = copy_of(original, "option_order")
    assert right(copy) == ["c1"]
    assert copy is not None
    moved = [ref.text for ref in copy.references]
    assert sorted(moved) == ["a1", "b1", "c1", "d1"]
    assert all(one != two for one, two in zip(moved, ["a1", "b1", "c1", "d1"], strict=True))


@pytest.mark.parametrize(
    "option", ["All of the above", "Both A and B", "None of the above.", "A or C", "option B"]
)
def test_options_that_speak_of_their_order_stay(option: str) -> None:
    assert copy_of(row(1, "Which?", refs("x", option)), "option_order") is None


def test_one_option_cannot_move() -> None:
    assert copy_of(row(1, "Which?", refs("x")), "option_order") is None


def test_negation_turns_a_choice_and_its_answers() -> None:
    text = "A man coughs. Which of the following drugs is the best choice?"
    copy = copy_of(row(1, text, refs("x", "y", "z", correct=1)), "negation")
    assert right(copy) == ["x", "z"]
    assert copy is not None
    assert copy.input == "A man coughs. Which of the following drugs is not the best choice?"


def test_negation_turns_yes_and_no() -> None:
    text = "Context: It helped.\nQuestion: Does it help?"
    copy = copy_of(row(1, text, refs("yes", "no", "maybe")), "negation")
    assert right(copy) == ["no"]
    assert copy is not None
    assert copy.input == (
        'Context: It helped.\nQuestion: Is "no" the right answer to this question: Does it help?'
    )
    assert right(copy_of(row(1, text, refs("yes", "no", correct=1)), "negation")) == ["yes"]


@pytest.mark.parametrize(
    ("text", "options", "correct"),
    [
        ("Does it help?", ("yes", "no", "maybe"), 2),
        ("Why does it not help?", ("yes", "no"), 0),
        ("Does it not help?", ("yes", "no"), 0),
        ("Which of the following is NOT a sign?", ("x", "y"), 0),
        ("Which of the following is a sign, except one?", ("x", "y"), 0),
        ("Which of the following that is given helps?", ("x", "y"), 0),
        ("Which of the following is it?", ("x", "All of the above"), 0),
        ("What is it?", ("x", "y"), 0),
        ("Which of the following is it?", ("x",), 0),
    ],
)
def test_what_cannot_be_turned_for_sure_is_left_alone(
    text: str, options: tuple[str, ...], correct: int
) -> None:
    assert copy_of(row(1, text, refs(*options, correct=correct)), "negation") is None


def test_only_negation_changes_the_meaning() -> None:
    changing = [name for name, entry in PERTURBATIONS.items() if not entry.keeps_meaning]
    assert changing == ["negation"]
