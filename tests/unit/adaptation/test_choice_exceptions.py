"""Exceptions, lists in sentences, and answers that are taken back."""

import pytest

from medhelm_spark.adaptation.choice import read_choice
from medhelm_spark.adaptation.options import options_among, options_of

FEATURES = {"A": "Oedema", "B": "Heavy proteinuria", "C": "Gross haematuria"}
NERVE = {"A": "Diaphragm", "B": "Diaphragm, pleura", "C": "Diaphragm, pleura, pericardium"}
EXCEPT = "All are features of nephrotic syndrome EXCEPT:"
TABLE = "| Feature | Seen? |\n|---|---|\n| Oedema | Yes |\n| Heavy proteinuria | {} |\n"
ROWS = TABLE + "| Gross haematuria | No |"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Gross haematuria is not a feature of it.", "C"),
        ("Oedema does not spare the face. The answer is C.", "C"),
        ("The answer is C. Oedema does not spare the face.", "C"),
        ("The odd one out is C.", "C"),
        ("All except C are seen.", "C"),
        ("B is not the answer.", None),
        (ROWS.format("Yes"), "C"),
        (ROWS.format("No"), "A"),
        (TABLE.format("No"), None),
    ],
)
def test_the_exception_is_read_where_it_is_asked_for(text: str, label: str | None) -> None:
    assert read_choice(text, options_of(FEATURES), question=EXCEPT) == label


def test_what_is_not_so_is_no_answer_to_another_question() -> None:
    text = "Gross haematuria is not a feature of it."
    assert read_choice(text, options_of(FEATURES), question="Which is a feature?") is None


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("It supplies the diaphragm and the pleura.", "B"),
        ("The pericardium, the pleura, and the diaphragm.", "C"),
        ("It supplies the diaphragm.", "A"),
        ("B is the diaphragm and pleura, but the pericardium too: the answer is C.", "C"),
    ],
)
def test_a_list_in_a_sentence_is_the_option_that_lists_the_same(text: str, label: str) -> None:
    assert read_choice(text, options_of(NERVE)) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("The answer is B. Oops, I misread the question. It should be C.", "C"),
        ("~~B~~ C", "C"),
        ("b is the correct answer", "B"),
        ("i would go for b", "B"),
        ("To answer this, consider each choice:\n(A) Oedema - common\n(B) Heavy", None),
        ("It could be anything apart from an oedema.", None),
    ],
)
def test_answers_that_are_taken_back_or_not_given(text: str, label: str | None) -> None:
    assert read_choice(text, options_of(FEATURES)) == label


def test_who_cannot_answer_yes_or_no_says_neither() -> None:
    words = options_among(["yes", "no"])
    assert read_choice("I cannot answer yes or no to this question.", words) is None
    assert read_choice("Yes! I'd be glad to check it. Please send the note.", words) is None
    assert read_choice("Yes, I am glad to say that it healed.", words) == "yes"
