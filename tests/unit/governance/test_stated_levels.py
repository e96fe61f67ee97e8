"""Whose bytes a card's data are, what was stated of them, and by whom."""

import os
import pwd
from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.config.registry import Registry
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.errors import ConfigError, PolicyError
from medhelm_spark.governance.stated_levels import with_user_data
from medhelm_spark.lake.user import this_user
from medhelm_spark.user_data.own_data import OwnData

PUBMED = "pubmed_qa"


def test_a_shipped_card_with_pinned_bytes_is_published_and_keeps_its_level(
    registry: Registry,
) -> None:
    card = registry.cards[PUBMED]
    provided = with_user_data({PUBMED: card}, {}, None, registry)
    assert (provided.published, provided.stated_by) == ({PUBMED}, {})
    assert provided.cards[PUBMED] == card
    (file, *_) = card.source.files
    moved = replace(card, source=replace(card.source, files=(replace(file, sha256="0" * 64),)))
    assert not with_user_data({PUBMED: moved}, {}, None, registry).published


@pytest.mark.attack("levels", "a table of private notes as the data of a public card")
def test_own_data_is_not_published_and_who_stated_its_level_is_kept(
    registry: Registry, tmp_path: Path
) -> None:
    cards = {PUBMED: registry.cards[PUBMED]}
    (tmp_path / "ward_notes.json").write_text("{}")
    for path in ("table:clinic.notes", str(tmp_path / "ward_notes.json")):
        own = OwnData(paths=[path])
        with pytest.raises(PolicyError, match="add --access-level"):
            with_user_data(cards, {PUBMED: own}, None, registry)
        for stated in AccessLevel:
            provided = with_user_data(cards, {PUBMED: own}, stated, registry)
            assert provided.cards[PUBMED].access_level is stated
            assert provided.stated_by == {PUBMED: this_user()}
            assert not provided.published
        by_object = replace(own, access_level=AccessLevel.GATED)
        provided = with_user_data(cards, {PUBMED: by_object}, AccessLevel.PUBLIC, registry)
        assert provided.cards[PUBMED].access_level is AccessLevel.GATED


@pytest.mark.attack("levels", "a lowering signed by another name: LOGNAME, USER")
def test_who_states_a_level_is_known_by_the_process_not_by_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, "the privacy officer")
    assert this_user() == pwd.getpwuid(os.geteuid()).pw_name


def test_imported_data_has_the_level_that_it_was_imported_with(registry: Registry) -> None:
    card = registry.cards[PUBMED]
    imported = replace(card, source=replace(card.source, files=(), data_version="0" * 32))
    assert with_user_data({PUBMED: imported}, {}, None, registry).cards[PUBMED] == imported
    with pytest.raises(ConfigError, match="import it again as gated"):
        with_user_data({PUBMED: imported}, {}, AccessLevel.GATED, registry)


@pytest.mark.attack("levels", "a lowering recorded under a name that a variable gives")
def test_a_variable_does_not_say_who_lowers_a_level(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, "somebody.else")
    assert this_user() == pwd.getpwuid(os.getuid()).pw_name
