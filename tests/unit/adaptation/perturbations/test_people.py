"""Dialect, gender and names: text and references alike, and consistently."""

import pytest

from medhelm_spark.domain.scenario import Message
from medhelm_spark.errors import ConfigError
from tests.unit.adaptation.perturbations.lists import OWN, copy_of
from tests.unit.adaptation.rows import refs, row


def test_dialect_rewrites_references_too() -> None:
    copy = copy_of(row(1, "He is not well.", refs("Going to bed", "Rest")), "dialect")
    assert copy is not None
    assert copy.input == "He ain't well."
    assert [ref.text for ref in copy.references] == ["Gonna bed", "Rest"]
    assert [ref.is_correct for ref in copy.references] == [True, False]


def test_gender_terms_and_pronouns() -> None:
    text = "A man and his father. He's 58."
    terms = copy_of(row(1, text), "gender", mode="terms")
    pronouns = copy_of(row(1, text), "gender", mode="pronouns")
    assert terms is not None
    assert pronouns is not None
    assert terms.input == "A woman and his mother. He's 58."
    assert pronouns.input == "A man and her father. She's 58."


def test_gender_stays_where_sex_itself_matters() -> None:
    assert copy_of(row(1, "He has an enlarged Prostate."), "gender") is None
    assert copy_of(row(1, "He is ill.", refs("prostate cancer")), "gender") is None


def test_a_name_is_the_same_other_name_wherever_it_stands() -> None:
    turns = (
        Message(role="user", content="Brad is ill."),
        Message(role="assistant", content="What does Brad's wife Emily say?"),
    )
    copy = copy_of(row(1, "Brad is ill.", refs("Brad", "Rest")), "person_name")
    chat = copy_of(row(1, "Brad is ill.", messages=turns), "person_name")
    assert copy is not None
    assert chat is not None
    assert copy.input == "Jamal is ill."
    assert [ref.text for ref in copy.references] == ["Jamal", "Rest"]
    assert [turn.content for turn in chat.messages] == [
        "Jamal is ill.",
        "What does Jamal's wife Aisha say?",
    ]


def test_no_two_names_become_one() -> None:
    copy = copy_of(row(1, "Brad told Greg.", refs("Greg", "Brad")), "person_name")
    assert copy is not None
    assert copy.input == "Jamal told Greg."
    assert [ref.text for ref in copy.references] == ["Greg", "Jamal"]
    assert copy_of(row(1, "Brad told Jamal."), "person_name") is None


def test_gender_of_first_names_is_kept_or_not() -> None:
    seen = set()
    for index in range(40):
        copy = copy_of(row(index, "Brad."), "person_name", preserve_gender="false")
        assert copy is not None
        seen.add(copy.input)
        renamed = copy_of(row(index, "Brad."), "person_name")
        assert renamed is not None
        assert renamed.input == "Jamal."
    assert seen == {"Jamal.", "Aisha."}


def test_last_names() -> None:
    groups = {"person_name_type": "last_name", "source": "white", "target": "hispanic"}
    copy = copy_of(row(1, "Dr. Olson's note; olson"), "person_name", **groups)
    assert copy is not None
    assert copy.input == "Dr. Garcia's note; olson"


def test_a_group_of_names_that_is_absent_is_named() -> None:
    with pytest.raises(ConfigError, match="no group 'martian_female'; its groups are white_amer"):
        copy_of(row(1, "x"), "person_name", target="martian")
    with pytest.raises(ConfigError, match="mode is 'names'; allowed: terms or pronouns"):
        copy_of(row(1, "x"), "gender", OWN, mode="names")
