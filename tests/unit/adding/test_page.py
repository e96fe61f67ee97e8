"""A page of the dashboard is a module and an entry of `PAGES`."""

import shutil
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.unit.leaderboard.planted import ALPHA, plant

DASHBOARDS = Path(__file__).resolve().parents[3] / "dashboards"
MODULE = '''\
"""The models of a suite or release."""

import streamlit as st


def show(runs):
    """Their names."""
    st.text(", ".join(sorted({run.run_spec.model_deployment for run in runs})))
'''
ENTRY = "PAGES: Mapping[str, Callable[[Shown], None]] = {\n"


def test_a_page_is_shown_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(DASHBOARDS, tmp_path / "dashboards")
    (folder / "models_page.py").write_text(MODULE)
    source = (folder / "app.py").read_text(encoding="utf-8")
    source = source.replace(
        "import robustness_page\n", "import models_page\nimport robustness_page\n"
    )
    source = source.replace(
        ENTRY, f'{ENTRY}    "Models": lambda shown: models_page.show(shown.runs),\n'
    )
    (folder / "app.py").write_text(source, encoding="utf-8")
    lake = plant(tmp_path / "lake")
    monkeypatch.setattr(sys, "argv", ["app.py", "--output-path", str(lake), "--suite", "s1"])
    test = AppTest.from_file(str(folder / "app.py"), default_timeout=60)
    test.query_params["view"] = "Models"
    test.run()
    assert not test.exception
    assert ALPHA in test.text[0].value
    assert test.button_group(key="view").options[0] == "Models"
