"""The page Drift, on a lake with a release that was looked at twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit

from tests.app_pages import opened, page_text
from tests.unit.watch.served import RELEASE, SUITE, Served


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A small run: this process computes it, without Java."""
    streamlit.cache_resource.clear()
    drift = Served(tmp_path_factory.mktemp("drift"), 200).released()
    drift.watch("--margin", "0.05")
    drift.lost = lambda index: index % 5 == 0
    drift.watch("--margin", "0.05")
    yield drift
    drift.close()


def words(test) -> str:
    return " ".join(page_text(test).split())


def test_the_page_says_what_moved_and_lists_the_looks(monkeypatch, ward: Served) -> None:
    test = opened(monkeypatch, Path(ward.lake), release=RELEASE, view="Drift")
    text = words(test)
    assert "MOVED: look 2 at release r1: Cases: exact_match of ward/served." in text
    assert "Looks: 2" in text
    assert "something moved in 1 of them" in text
    assert "-0.200 [" in text
    assert "Fingerprints that did not change: settings, engine, data." in text


def test_of_a_suite_the_page_says_that_looks_are_at_releases(monkeypatch, ward: Served) -> None:
    test = opened(monkeypatch, Path(ward.lake), suite=SUITE, view="Drift")
    assert any("Choose a release above" in info.value for info in test.info)
