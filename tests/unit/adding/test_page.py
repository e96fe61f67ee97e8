"""A page of the dashboard is a module and an entry of `pages.py`."""

import shutil
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.app_pages import imported_from
from tests.unit.board.planted import ALPHA, plant

DASHBOARDS = Path(__file__).resolve().parents[3] / "dashboards"
MODULE = '''\
"""The models of a suite or release."""

import streamlit as st

ABOUT = "One name for each model. Those that the filters hide are absent. Nothing else is shown."


def show(context):
    """Their names."""
    st.text(", ".join(sorted({run.run_spec.model_deployment for run in context.runs})))
'''
ENTRY = "PAGES = (\n"


def test_a_page_is_shown_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(DASHBOARDS, tmp_path / "dashboards")
    (folder / "models_page.py").write_text(MODULE)
    pages = folder / "pages.py"
    source = pages.read_text(encoding="utf-8")
    source = source.replace(
        "import robustness_page\n", "import models_page\nimport robustness_page\n"
    )
    source = source.replace(
        ENTRY,
        f'{ENTRY}    Page(name="Models", about=models_page.ABOUT, show=models_page.show),\n',
    )
    pages.write_text(source, encoding="utf-8")
    lake = plant(tmp_path / "lake")
    monkeypatch.setattr(sys, "argv", ["app.py", "--output-path", str(lake), "--suite", "s1"])
    test = AppTest.from_file(str(folder / "app.py"), default_timeout=60)
    test.query_params["view"] = "Models"
    with imported_from(folder):
        test.run()
    assert not test.exception
    assert ALPHA in test.text[0].value
    assert test.button_group(key="view").options[0] == "Models"
