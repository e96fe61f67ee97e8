"""A suite that was planned after the page listed the lake's."""

from pathlib import Path

import pytest
import streamlit

from tests.app_pages import opened
from tests.unit.board.planted import ALPHA, append, planned, plant, run_spec


@pytest.mark.attack("dashboard", "an address with a suite that is newer than the page's list")
def test_a_suite_newer_than_the_list_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()
    lake = plant(tmp_path)
    assert not opened(monkeypatch, lake).exception
    newer = run_spec("newer", ALPHA, "triage_choice")
    append(lake, "run_specs", [planned(newer, suite="newer", minutes=9)], "p-newer")
    page = opened(monkeypatch, lake, suite="newer")
    assert not page.exception
    body = "".join(part.proto.body for part in page.html)
    assert "Suite newer is newer than this page" in body
    assert "load the page again" in body
