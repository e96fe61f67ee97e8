"""How a text is typed, and that nothing else changes."""

import re

import pytest

from medhelm_spark.adaptation.perturbations.surface import NEIGHBOURS
from medhelm_spark.domain.scenario import Message
from medhelm_spark.errors import ConfigError
from tests.unit.adaptation.perturbations.lists import OWN, copy_of
from tests.unit.adaptation.rows import refs, row


@pytest.mark.parametrize(
    ("name", "args", "text", "expected"),
    [
        ("lowercase", {}, "BP 120/80 And Fever", "bp 120/80 and fever"),
        ("extra_space", {}, "a b  c\nd", "a  b  c\nd"),
        ("extra_space", {"num_spaces": "3"}, "a b", "a   b"),
        ("contraction", {}, "Do not go. He is ill.", "Don't go. He's ill."),
        ("expansion", {}, "Don't go. He's ill.", "Do not go. He's ill."),
        ("misspellings", {"prob": "1"}, "Fever, feverish", "Feaver, feverish"),
        ("synonym", {"prob": "1"}, "often", "frequently"),
        ("filler_words", {"prob": "1"}, "It hurts here", "It um, hurts um, here"),
    ],
)
def test_what_becomes_of_a_text(name: str, args: dict[str, str], text: str, expected: str) -> None:
    references = refs("He is NOT well", "Fever")
    copy = copy_of(row(1, text, references), name, **args)
    assert copy is not None
    assert copy.input == expected
    assert (copy.instance_id, copy.perturbation) == ("i001", name)
    assert copy.references == references, "nobody should have to give a broken answer"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lowercase", "small already"),
        ("extra_space", "one"),
        ("contraction", "nothing here"),
        ("misspellings", "nothing here"),
        ("typos", "120/80 37.2"),
    ],
)
def test_a_copy_equal_to_its_original_is_skipped(name: str, text: str) -> None:
    assert copy_of(row(1, text), name, **({"prob": "1"} if name == "typos" else {})) is None


def test_spaces_are_one_to_three_and_words_stay() -> None:
    copy = copy_of(row(1, "a b c d e f g h"), "space")
    assert copy is not None
    assert copy.input.split() == list("abcdefgh")
    assert {len(gap) for gap in re.findall(" +", copy.input)} <= {1, 2, 3}


def test_a_typo_is_a_neighbouring_key_of_the_same_case() -> None:
    assert set(NEIGHBOURS["g"]) == {"f", "h", "t", "y", "v", "b"}
    assert set(NEIGHBOURS["q"]) == {"w", "a"}
    copy = copy_of(row(1, "Give 5 mg QID"), "typos", prob="1")
    assert copy is not None
    for before, after in zip("Give 5 mg QID", copy.input, strict=True):
        if before.isalpha():
            assert after.lower() in NEIGHBOURS[before.lower()]
            assert before.isupper() == after.isupper()
        else:
            assert after == before


def test_the_share_of_typos_is_about_its_probability() -> None:
    text = "a" * 10_000
    copy = copy_of(row(1, text), "typos", prob="0.1")
    assert copy is not None
    assert 0.08 < sum(letter != "a" for letter in copy.input) / len(text) < 0.12


def test_the_mild_mix_is_made_of_four_steps() -> None:
    copy = copy_of(row(1, "Do not give FEVER drugs"), "mild_mix")
    assert copy is not None
    assert copy.input.split()[0] == "don't"
    assert copy.input == copy.input.lower()


def test_user_turns_are_perturbed_and_the_others_stay() -> None:
    turns = (
        Message(role="system", content="BE BRIEF"),
        Message(role="user", content="I AM ILL"),
        Message(role="assistant", content="SINCE WHEN?"),
        Message(role="user", content="MONDAY"),
    )
    copy = copy_of(row(1, "MONDAY", messages=turns), "lowercase")
    assert copy is not None
    assert [turn.content for turn in copy.messages] == [
        "BE BRIEF",
        "i am ill",
        "SINCE WHEN?",
        "monday",
    ]
    assert copy.input == copy.messages[-1].content


def test_the_last_turn_and_the_input_are_typed_alike() -> None:
    text = "a long last turn with many words " * 5
    turns = (Message(role="user", content="first one"), Message(role="user", content=text))
    copy = copy_of(row(1, text, messages=turns), "typos", prob="0.5")
    assert copy is not None
    assert copy.input == copy.messages[-1].content != text


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("typos", {"prob": "2"}, "prob is '2'; allowed: 0 to 1"),
        ("typos", {"prob": "nan"}, "prob is 'nan'"),
        ("typos", {"chance": "1"}, "the argument 'chance'; allowed: prob"),
        ("space", {"max_spaces": "0"}, "allowed: 1 to 20"),
        ("typo", {}, "unknown perturbation 'typo'. Did you mean 'typos'"),
    ],
)
def test_wrong_arguments_are_refused(name: str, args: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        copy_of(row(1, "x"), name, **args)


def test_a_word_list_that_is_absent_is_named() -> None:
    with pytest.raises(ConfigError, match=r"word list 'synonyms'.*perturbations/synonyms\.yaml"):
        copy_of(row(1, "x"), "synonym", {**OWN, "synonyms": {}})
