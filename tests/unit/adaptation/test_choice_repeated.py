"""Answers that repeat the question's words, point back to an option, or are beside all others."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.adaptation.options import options_among, options_of
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod

DRUGS = {"A": "Aspirin", "B": "Heparin", "C": "Warfarin", "D": "Alteplase"}
ORGANS = {"A": "Spleen", "B": "Kidney", "C": "Thyroid", "D": "Pancreas"}
YES_NO = AnswerExtraction(method=ExtractionMethod.YES_NO)
EXCEPT = "All of these prolong the bleeding time EXCEPT:"


def drug(text: str, question: str = "", *, is_cut: bool = False) -> str | None:
    return read_choice(text, options_of(DRUGS), question=question, is_cut=is_cut)


def organ(text: str, question: str = "") -> str | None:
    return read_choice(text, options_of(ORGANS), question=question)


def among(options: dict[str, str], text: str) -> str | None:
    return read_choice(text, options_of(options), question="Which is it?")


def kind(text: str, *kinds: str) -> str | None:
    return read_choice(text, options_among(kinds), question="Triage the letter.")


def word(text: str, question: str) -> str | None:
    references = ["yes", "no"]
    return read_answer(text, YES_NO, output_mapping={}, references=references, question=question)


@pytest.mark.parametrize(
    "text",
    [
        "B<|im_end|>\n<|im_start|>user\nWhich drug is oral?\nA. Aspirin\nB. Heparin<|im_end|>\nA",
        "B<|eot_id|><|start_header_id|>user\nAnd in pregnancy?\nC",
        "B\nuser\nWhich drug is oral?\nassistant\nC",
        "B. Heparin\n\n#7. A man bleeds. What did he take?\nA) Aspirin\nB) Heparin\nAnswer: A",
        "Heparin.\n\nWhich drug acts slowly?\nWarfarin",
    ],
)
def test_a_next_turn_does_not_change_the_answer(text: str) -> None:
    assert drug(text, "Which drug acts at once?") == "B"


def test_a_question_that_a_reply_asks_itself_is_no_next_turn() -> None:
    text = "It must act fast.\n\nWhich drug acts at once?\nHeparin."
    assert drug(text, "Which drug acts at once?") == "B"
    assert drug("Slow ones fail.\n\nWhat then?\nHeparin.", "Which drug acts at once?") == "B"


@pytest.mark.parametrize(
    "text",
    [
        "The one with the longest half-life is C, while the most rapid anticoagulant is heparin.",
        "B. Some prefer A. The most rapid anticoagulant is B, which acts within minutes.",
    ],
)
def test_what_the_subject_of_the_question_is_said_to_be_is_the_answer(text: str) -> None:
    assert drug(text, "What is the most rapid anticoagulant?") == "B"


def test_another_subject_than_the_asked_one_is_none() -> None:
    question = "What is the most rapid anticoagulant after a stroke?"
    assert drug("The most rapid anticoagulant in children is C or B.", question) is None


def test_a_sentence_with_all_words_of_the_question_names_the_answer() -> None:
    question = "Which organ is enlarged in malaria and leukaemia?"
    text = "The kidney is small. The spleen, an organ of the left side, is enlarged in "
    assert organ(f"{text}leukaemia and malaria. The thyroid swells in goitre.", question) == "A"
    assert organ(f"{text}neither malaria nor leukaemia. The thyroid swells.", question) is None


def test_the_line_that_says_nothing_but_what_is_asked_is_the_answer() -> None:
    question = "Which organ regulates the metabolic rate?"
    lines = "A - immune defence\nB - acid-base balance\nC - metabolic rate\nD - digestion"
    assert organ(lines, question) == "C"
    assert organ(lines.replace("C - metabolic", "C - not the metabolic"), question) is None
    assert organ(lines.replace("B - acid-base balance", "B - metabolic"), question) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Of course, let me help. Steroids are not generally indicated for a cold.", "no"),
        ("I'm not a doctor, but steroids might be indicated.", None),
        ("Sure. Oral steroids such as prednisone are indicated for a severe cold.", "yes"),
        ("No problem! Steroids fail and a severe cold heals, so they aren't indicated.", "no"),
        ("Steroids may be indicated for a cold.", None),
        ("Steroids are indicated for asthma.", None),
        ("Steroids are indicated only if the cold is severe.", None),
        ("There's no indication for them.", "no"),
        ("Generally no, although some colds last.", "no"),
        ("In principle yes, although the evidence is old.", "yes"),
    ],
)
def test_yes_and_no_by_the_verb_of_the_question(text: str, expected: str | None) -> None:
    assert word(text, "Are steroids indicated for a severe cold?") == expected


def test_not_all_answers_a_question_for_all() -> None:
    assert word("Not all children. Most heal alone.", "Should all children be treated?") == "no"
    assert word("Not all children. Most heal alone.", "Should children be treated?") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Aspirin ↑ time.\nHeparin ↑ time.\nWarfarin ↑ time.\nAlteplase ↓ time (why?)", None),
        ("Aspirin ↑ time.\nHeparin ↑ time.\nWarfarin ↑ time.\nAlteplase ↓ time.", "D"),
        ("A: in the list. B: in the list. C: in the list. D belongs elsewhere.", "D"),
        ("A is true. Statement B is true. D is true, of course. C describes a vitamin.", "C"),
        ("A prolongs it. B prolongs it. C prolongs it. D can also prolong it.", None),
        ("A prolongs it. B thins the blood. C is slow. D dissolves clots.", None),
    ],
)
def test_the_only_one_of_which_something_else_is_said_is_the_exception(
    text: str, expected: str | None
) -> None:
    assert drug(text, EXCEPT) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Aspirin is weak. Heparin acts within minutes, making it the correct answer.",
        "Warfarin is slow. Heparin acts within minutes, so this is the answer.",
        "Warfarin is slow. Aspirin is weak. Heparin is fast, hence it's the one that acts at once.",
        "A, C and D take hours. They are not suitable. The remaining option is fast.",
        "A is weak. It's not C. It isn't D. It's not A either.",
        "Warfarin may do, but heparin is better suited.",
        "Both C and B thin the blood, but here B edges out C.",
        "Heparin > alteplase > warfarin > aspirin.",
        "I almost picked C (warfarin). The drug that acts at once is heparin, i.e. option B.",
        "The answer is warfarin. Sorry, I meant heparin – it acts at once, warfarin does not.",
        "I can't give medical advice; see a doctor. That said, it is heparin.",
        "Please call an emergency number now! Regarding the exam question: one gives heparin.",
    ],
)
def test_an_option_is_named_by_what_points_back_to_it(text: str) -> None:
    assert drug(text, "Which drug acts at once?") == "B"


@pytest.mark.parametrize(
    "text",
    [
        "Aspirin and heparin thin the blood, so this is the answer.",
        "A and C are slow. The remaining options are not.",
        "A and C thin the blood. D dissolves clots. The remaining option is old.",
        "Price: warfarin > aspirin > heparin.",
        "Step 1 is rest. Step 2 is A or B. Step 3 is D.",
        "Aspirin > warfarin in price, and heparin > both.",
    ],
)
def test_what_points_back_to_several_names_none(text: str) -> None:
    assert drug(text, "Which drug acts at once?") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I wouldn't file this as a routine visit. He bleeds.", "urgent"),
        ("He bleeds. It would be wrong to call this routine.", "urgent"),
        ("A routine letter is not what this is.", "urgent"),
        ("It is not clearly routine.", None),
        ("There is no evidence of a routine process.", None),
        ("It can't be called routine, since information is missing.", None),
    ],
)
def test_of_two_classes_the_denied_one_leaves_the_other(text: str, expected: str | None) -> None:
    assert kind(text, "urgent", "routine") == expected


def test_a_class_and_its_denial() -> None:
    pair = ("urgent", "not urgent")
    assert kind("It would be a mistake to rate it as not urgent.", *pair) == "urgent"
    assert kind("She asks for a form; there's nothing urgent in it.", *pair) == "not urgent"
    text = "It is no emergency. It shouldn't wait as a routine one. So the middle category fits."
    assert kind(text, "emergency", "soon", "routine") == "soon"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rest the swollen joint and cool it.", "A"),
        ("Both the joint and the tendon should rest", None),
        ("six weeks", "C"),
        ("Diclofenac, one tablet twice a day.", "D"),
        ("Resting is not for the joint", None),
    ],
)
def test_an_option_by_most_of_its_words(text: str, expected: str | None) -> None:
    options = {"A": "Cooling and rest of the joint", "B": "Surgery of the tendon", "C": "6 weeks"}
    assert among({**options, "D": "Ibuprofen or diclofenac"}, text) == expected


def test_the_opposite_of_a_word_is_no_option() -> None:
    options = {"A": "Left inferior rectus muscle", "B": "Optic nerve", "C": "Lens", "D": "Iris"}
    assert among(options, "The inferior rectus, a muscle") == "A"
    assert among(options, "The right inferior rectus") is None


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("Adrenaline", "Epinephrine"), ("Acetaminophen 1 g", "Paracetamol"),
        ("Cephalexin for ten days", "Cefalexin 500 mg"), ("30 per minute", "30/min"),
    ],
)  # fmt: skip
def test_a_drug_by_its_other_name_and_a_unit_in_words(text: str, option: str) -> None:
    assert among({"A": option, "B": "Insulin", "C": "Water"}, text) == "A"


def test_a_lead_before_a_discussed_option_draws_nothing() -> None:
    assert drug("In adults, aspirin thins the blood; heparin and warfarin do it as well.") is None


def test_true_and_false_with_a_remark_in_a_table() -> None:
    rows = "| A | False (slow) |\n| B | True |\n| C | False (weak) |\n| D | False |"
    assert drug(f"| | True / False |\n|---|---|\n{rows}") == "B"
