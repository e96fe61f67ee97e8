"""Whole words only, in the case of what they replace."""

import pytest

from medhelm_spark.adaptation.perturbations.words import (
    begins_sentence,
    indexed,
    inverted,
    like,
    replace_words,
)
from medhelm_spark.domain.plan import WordList


def swapped(text: str, words: WordList, *, exact: bool = False) -> str:
    index = indexed(words, exact=exact)
    return replace_words(text, index, lambda word: index.others[word][0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("he", "she"),
        ("He said he HE", "She said she SHE"),
        ("the heart; there", "the heart; there"),
        ("he's, he'll, he'd", "she's, she'll, she'd"),
        ("he\u2019s", "she\u2019s"),
        ("he2 he_ _he", "he2 he_ _he"),
        ("(he)", "(she)"),
        ("he-man", "she-man"),
        ("", ""),
        ("\u0130 he", "\u0130 she"),
    ],
)
def test_words_and_nothing_inside_words(text: str, expected: str) -> None:
    assert swapped(text, {"he": ("she",)}) == expected


def test_the_longest_phrase_counts_and_a_phrase_is_not_read_twice() -> None:
    words = {"chest": ("thorax",), "chest pain": ("CP",), "pain": ("ache",)}
    assert swapped("Chest pain, pain in the chest.", words) == "CP, ache in the thorax."


def test_a_contraction_is_no_phrase_of_its_first_half() -> None:
    words = {"can": ("may",), "don": ("DON",), "they": ("we",)}
    assert swapped("can't don't they're can", words) == "can't don't they're may"


def test_exact_words_are_known_by_their_case() -> None:
    assert swapped("Brad's BRAD brad Bradley", {"Brad": ("Jamal",)}, exact=True) == (
        "Jamal's BRAD brad Bradley"
    )


def test_what_is_not_chosen_stays() -> None:
    assert replace_words("he he", indexed({"he": ("she",)}), lambda _: None) == "he he"


def test_text_is_never_a_pattern() -> None:
    hostile = r"he \1 $0 {he} (he (* \g<0> %s"
    assert swapped(hostile, {"he": (r"\1{x}",)}).count(r"\1{x}") == 3


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("Father", "mother", "Mother"),
        ("FATHER", "mother", "MOTHER"),
        ("I", "we", "We"),
        ("tylenol", "acetaminophen", "acetaminophen"),
        ("hypertension", "HTN", "HTN"),
        ("5th", "x", "x"),
    ],
)
def test_case_follows_the_source(source: str, target: str, expected: str) -> None:
    assert like(source, target) == expected


def test_what_stands_for_two_things_is_not_inverted() -> None:
    words = {"do not": ("don't",), "he is": ("he's",), "he has": ("he's",)}
    assert inverted(words) == {"don't": ("do not",)}


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [("HTN", 0, True), ("Pain. HTN", 6, True), ("Pain\nHTN", 5, True), ("has HTN", 4, False)],
)
def test_where_a_sentence_begins(text: str, at: int, expected: bool) -> None:
    assert begins_sentence(text, at) is expected
