"""Answers that the same text contradicts, sets aside, leaves open or takes back."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.options import options_of

DRUGS = {"A": "Aspirin", "B": "Heparin", "C": "Warfarin", "D": "Alteplase"}


def drug(text: str, question: str = "") -> str | None:
    return read_choice(text, options_of(DRUGS), question=question)


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "A", "text": "Heparin"}', '{"answer": "C", "drug": "Aspirin"}',
        '{"choice": "B", "content": "Warfarin", "confidence": 0.9}',
        '{"final_answer": "D", "name": "heparin"}',
        '{"label": "(A)", "treatment": "Alteplase."}',
        '{"answer": {"letter": "C", "description": "Heparin"}}',
        '```json\n{"option": "B", "diagnosis": "Aspirin"}\n```',
    ],
)  # fmt: skip
def test_a_letter_is_no_answer_where_another_member_is_another_options_text(text: str) -> None:
    assert drug(text) is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('{"answer": "B", "text": "Heparin"}', "B"),
        ('{"answer": "B", "drug": "heparin", "runner_up": "Warfarin"}', "B"),
        ('{"answer": "B", "rejected": "Aspirin"}', "B"),
        ('{"answer": "B", "explanation": "Aspirin is too weak."}', "B"),
        ('{"answer": "B", "second_choice": "Warfarin"}', "B"),
        ('{"answer": "B", "route": "subcutaneous"}', "B"),
        ('{"answer": "B", "A": "Aspirin", "B": "Heparin", "C": "Warfarin", "D": "Alteplase"}', "B"),
        ('{"answer": "B", "option_a": "Aspirin", "option_b": "Heparin"}', "B"),
    ],
)
def test_a_letter_stands_where_no_other_member_contradicts_it(text: str, label: str) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Most likely B, although aspirin (A) is cheaper.", "B"),
        ("Probably C, though heparin acts faster.", "C"),
        ("I think it is heparin, even though warfarin is taken by mouth.", "B"),
        ("Likely D, while aspirin can be added later.", "D"),
        ("Surely B, even if alteplase (D) works too.", "B"),
        ("Probably A, unless warfarin (C) is already given.", "A"),
        ("Most likely heparin, whereas warfarin starts slowly.", "B"),
    ],
)
def test_an_option_in_a_concession_stands_aside(text: str, label: str) -> None:
    assert drug(text) == label


@pytest.mark.parametrize(
    "text",
    [
        "Not B, although aspirin (A) is cheaper.",
        "Although heparin is fast.",
        "It depends, though warfarin (C) is common.",
        "B or C, although aspirin is cheaper.",
    ],
)
def test_a_concession_without_an_answer_before_it_is_none(text: str) -> None:
    assert drug(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Alteplase (D) is for strokes. So C and D can be dropped.",
        "Option D is for strokes. Options C and D can be ruled out.",
        "Warfarin (C) is slow. C is eliminated.",
        "The choice here is hard. Heparin (B) bleeds. Thus B can be excluded.",
        "(A) and (C) have been crossed out, as the clot is fresh.",
        "Alteplase can be safely discarded here.",
        "Both A and B were dismissed, so was (C).",
    ],
)
def test_an_option_that_is_dropped_is_no_answer(text: str) -> None:
    assert drug(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Heparin (B) is fast.\nMore information would be needed before one could be chosen.",
        "Option B is fast. Further details are required to choose between the two.",
        "I like (C). Additional data would be necessary to decide which is better.",
        "Aspirin (A) is cheap. More clinical information is needed to pick one of them.",
        "So it is B or D. More tests are needed before either can be preferred.",
        "Option A is safe. The choice between A and B cannot be made.",
    ],
)
def test_a_text_that_ends_undecided_is_none(text: str) -> None:
    assert drug(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "The answer is B. More information is needed to choose the dose.",
        "The answer is B. Further tests are required to find the cause.",
        "The answer is B. More data would be needed to choose one, but B is the best here.",
    ],
)
def test_a_text_that_asks_for_more_about_something_else_is_read(text: str) -> None:
    assert drug(text) == "B"


@pytest.mark.parametrize(
    "text",
    [
        "Aspirin: yes, used. Heparin: yes, used. Warfarin: yes, used. "
        "So the one that does not belong is option D.",
        "Aspirin - yes. Heparin - yes. Warfarin - yes. The one that is not used is D.",
        "Aspirin: used. Warfarin: used. The option that does not fit is (D).",
        "Heparin: yes. Aspirin: yes. So the drug is option D that is not used; answer: D.",
        "The one which isn't used here: alteplase.",
        "Warfarin: yes, used. Heparin: yes, used. Aspirin: yes, used. Answer: D",
        "The choice that doesn't belong is alteplase, a lytic.",
    ],
)
def test_the_one_that_does_not_belong_is_the_exception(text: str) -> None:
    assert drug(text, "Which of these is NOT used in prophylaxis?") == "D"


@pytest.mark.parametrize(
    "text",
    [
        "Aspirin: yes, used. Heparin: yes, used. Warfarin: yes, used.",
        "Aspirin: a cheap drug. Heparin: a fast one.",
    ],
)
def test_the_first_of_several_headings_is_no_answer(text: str) -> None:
    assert drug(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "It's C. Sorry, that's an oral drug. Let me fix that.",
        "It is B. I need to correct this.", "The answer is C. I'll revise my answer.",
        "Answer: A. Hmm, she bleeds. I must change it.", "B. Let me amend my earlier reply...",
        "So D. I should redo this!",
    ],
)  # fmt: skip
def test_an_answer_is_none_after_the_promise_to_mend_it(text: str) -> None:
    assert drug(text) is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("It's C. Sorry, that's slow. Let me fix that. The answer is B.", "B"),
        ("It's C. Let me correct that: B.", "B"),
        ("The answer is C. I will revise my answer. It is D.", "D"),
    ],
)
def test_a_mended_answer_is_the_one_after_it(text: str, label: str) -> None:
    assert drug(text) == label
