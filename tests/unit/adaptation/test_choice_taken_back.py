"""Corrections, answers that are taken back without another one, offers and begun texts."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.adaptation.options import options_among, options_of
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod

DRUGS = {"A": "Aspirin", "B": "Heparin", "C": "Warfarin", "D": "Alteplase"}
YES_NO = AnswerExtraction(method=ExtractionMethod.YES_NO)


def drug(text: str, *, is_cut: bool = False) -> str | None:
    return read_choice(text, options_of(DRUGS), is_cut=is_cut)


def word(text: str) -> str | None:
    return read_answer(text, YES_NO, output_mapping={}, references=["yes", "no", "maybe"])


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("A -> B (it acts at once)", "B"), ("A → C", "C"),
        ("Aspirin -> COX. Heparin is fast.", None),
        ("A. Hmm, no. She bleeds, which makes it B.", "B"), ("B—no, C.", "C"),
        ("The answer is B. No wait. It's C.", "C"),
        ("B is my instinct, but on reflection C is better.", "C"),
        ("Answer: B. Wait, no. Let me think again. A clot must be lysed, so D.", "D"),
        ("Answer: C\n\nOn second thought, I would revise this to D.", "D"),
        ("B\n\nWait, that's not right. A slow start means C.", "C"),
        ("I'd pick A... actually, let me change that to D.", "D"),
    ],
)  # fmt: skip
def test_a_correction_is_the_answer(text: str, label: str | None) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("No. Hmm, on re-reading it the ratio was 2.4, so I should say yes.", "yes"),
        ("Yes. Wait, the p value was 0.3. I must answer no.", "no"),
        ("No... well, maybe.", "maybe"),
        ("Yes... hmm, on balance no.", "no"), ("No — let me revise: yes.", "yes"),
        ("Yes. Correction: it crosses 1, therefore maybe.", "maybe"),
        ("Yes, but with caution.", "yes"), ("Yes. I was wrong about the dose at first.", "yes"),
    ],
)  # fmt: skip
def test_a_word_that_is_corrected_is_the_last_one(text: str, answer: str) -> None:
    assert word(text) == answer


def test_a_label_is_corrected_in_words_of_classes() -> None:
    options = options_among(["positive", "negative", "neutral"])
    assert (
        read_choice("neutral... let me correct that: negative, as she left.", options) == "negative"
    )
    assert read_choice("positive -> negative", options) == "negative"


@pytest.mark.parametrize(
    "text",
    [
        "The answer is B. Wait, it is contraindicated. Let me reconsider the options again.",
        "The answer is A. Hold on, that cannot be right. He is allergic to it.", "B. Scratch that.",
        "Answer: A. Let me reconsider. Both heparin and warfarin could be used.",
        "My answer is C. I need to rethink this. It takes days to act.",
    ],
)  # fmt: skip
def test_an_answer_that_is_taken_back_is_none(text: str) -> None:
    assert drug(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "The answer is B. Wait, let me double-check: it acts at once. So my answer stands.",
        "B. Wait, is it C? No. I'll stick with B.", "B. Wait for the aPTT before giving more.",
        "Answer: B. Hold on to the list of drugs.", "Answer: B. Some say A. This is wrong.",
    ],
)  # fmt: skip
def test_an_answer_that_is_kept_after_a_doubt_is_read(text: str) -> None:
    assert drug(text) == "B"


@pytest.mark.parametrize(
    "text",
    [
        "Yes, of course. What would you like to know about probiotics?", "Yes, I understand.",
        "Yes, go ahead and share the abstract.", "Yes, absolutely. Where is the text?",
        "Yes - happy to! Which study?", "No, I'm sorry, I can't answer that.",
        "No, I cannot access external documents.", "Yes, I have read the abstract.",
    ],
)  # fmt: skip
def test_an_offer_and_a_refusal_are_no_answer(text: str) -> None:
    assert word(text) is None


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Yes. Would you like me to explain the statistics?", "yes"),
        ("No. The rates were equal. What else would you like to know?", "no"),
    ],
)
def test_an_answer_before_a_question_to_the_reader_is_read(text: str, answer: str) -> None:
    assert word(text) == answer


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('{"explanation": "Option A: it is weak. Option B: it gives', None),
        ('{"thoughts": "Option C is slow.", "next": "', None),
        ('The answer is B.\n{"explanation": "It', "B"), ('{"answer": "B", "why": "it', "B"),
        ('{"answer": "probably not warfarin"}', None), ('{"answer": "heparin infusion"}', "B"),
        ("Let us go through each option:\n\nA. Aspirin: weak.\nB. Heparin: it acts at once.", None),
        ("Analicemos cada opción:\n\nA) Aspirin: es la base del", None),
        ("C. Warfarin\n\nIt is given by mouth. Heparin would be", "C"),
        ("A. Aspirin\n\nIt is given by mouth. Heparin would be", None),
        ("C. Warfarin\n\nWarfarin is a coumarin, which", None),
    ],
)  # fmt: skip
def test_what_a_begun_text_had_not_come_to_is_not_read(text: str, label: str | None) -> None:
    assert drug(text, is_cut=text.endswith(("be", "which"))) == label


def test_the_final_channel_is_read_where_its_marks_are_gone() -> None:
    assert drug("A is weak and C is slow, so B.assistantfinalB") == "B"
