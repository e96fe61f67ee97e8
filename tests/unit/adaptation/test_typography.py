"""Answers in the characters that models and word processors write for hyphens, minus and quotes."""

from itertools import product

import pytest

from medhelm_spark.adaptation.extraction import read_answer
from medhelm_spark.adaptation.plain_text import plain
from medhelm_spark.config.extraction import method_for_all
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod

CHOICE = AnswerExtraction(method=ExtractionMethod.CHOICE)
YES_NO = AnswerExtraction(method=ExtractionMethod.YES_NO)
HYPHENS = "‐‑‒–−－﹣-"


def read(text: str, *options: str) -> str | None:
    how = AnswerExtraction(method=ExtractionMethod.CHOICE, options=options)
    return read_answer(text, how, output_mapping={}, references=options[-1:])


@pytest.mark.parametrize(("of_reply", "of_option"), [*product(HYPHENS, "-‑–")])
def test_a_word_with_any_hyphen_is_one_word(of_reply: str, of_option: str) -> None:
    options = ("surgical", f"non{of_option}surgical")
    for sentence in ("{}", "The case is **{}**.", "Answer: {}", "{}, since it is mild."):
        assert read(sentence.format(f"non{of_reply}surgical"), *options) == options[1]
        assert read(sentence.format("surgical"), *options) == options[0]


@pytest.mark.parametrize("hyphen", HYPHENS)
def test_options_with_a_hyphen_are_read(hyphen: str) -> None:
    assert read(f"I would order a CT{hyphen}scan.", "MRI", "CT-scan") == "CT-scan"
    assert read(f"SARS{hyphen}CoV{hyphen}2", "SARS-CoV-2", "RSV") == "SARS-CoV-2"
    assert read(f"It is HLA{hyphen}negative.", "HLA-positive", "HLA-negative") == "HLA-negative"
    assert read(f"self{hyphen}limiting", "limiting", "self-limiting") == "self-limiting"


@pytest.mark.parametrize("hyphen", HYPHENS)
def test_a_joined_word_is_no_yes_and_no_no(hyphen: str) -> None:
    texts = (f"No{hyphen}show", f"Yes{hyphen}no")
    assert [read_answer(text, YES_NO, output_mapping={}, references=["no"]) for text in texts] == [
        None,
        None,
    ]


@pytest.mark.parametrize("dash", [" – ", " — ", "—"])
def test_a_dash_between_sentences_parts_them(dash: str) -> None:
    text = f"Yes{dash}the patient bleeds."
    assert read_answer(text, YES_NO, output_mapping={}, references=["yes"]) == "yes"


@pytest.mark.parametrize("minus", "−‐‑–-")
def test_a_minus_before_a_number_is_one(minus: str) -> None:
    assert read(f"The score is {minus}2.", "2", "-2") == read("The score is -2.", "2", "-2")
    assert plain(f"5 {minus}2") == "5 -2"


@pytest.mark.parametrize("quote", "'’ʼ′‘՚")
def test_an_apostrophe_is_one_however_it_is_written(quote: str) -> None:
    assert read(f"It is Crohn{quote}s disease.", "colitis", "Crohn's disease") == "Crohn's disease"


def test_what_is_left_of_half_a_character_does_not_hide_an_answer() -> None:
    assert read_answer("yes \ufffd", YES_NO, output_mapping={}, references=["yes"]) == "yes"


@pytest.mark.parametrize(
    "labels",
    [
        ("हाँ", "नहीं"),
        ("ใช่", "ไม่ใช่"),
        ("ஆம்", "இல்லை"),
        ("হ্যাঁ", "না"),
        ("అవును", "కాదు"),
        ("ဟုတ်ကဲ့", "မဟုတ်ပါ"),
        ("mo\u0308glich", "unmo\u0308glich"),
        ("예", "아니요"),
        ("是", "不是"),
        ("بله", "نمی\u200cدانم"),
        ("نعم", "لا"),
        ("non‑urgent", "urgent"),
    ],
)
def test_labels_of_any_script_are_read_in_a_sentence(labels: tuple[str, ...]) -> None:
    assert method_for_all(labels) is ExtractionMethod.CHOICE
    for label in labels:
        for reply in (label, f"**{label}**", f"{label}."):
            assert (
                read_answer(
                    reply,
                    AnswerExtraction(method=ExtractionMethod.CHOICE, options=labels),
                    output_mapping={},
                    references=[label],
                )
                == label
            )


def test_letters_among_words_are_still_not_read_in_sentences() -> None:
    assert method_for_all(["A", "AB"]) is ExtractionMethod.STRICT
    assert method_for_all(["α", "αβ"]) is ExtractionMethod.STRICT
