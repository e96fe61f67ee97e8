"""The dashboard's pages in this process, and what is in their markup."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import streamlit
from streamlit.runtime.context import ContextProxy, StreamlitHeaders
from streamlit.testing.v1 import AppTest

from tests.servers import HOST, START_SECONDS

APP = Path(__file__).resolve().parents[1] / "dashboards" / "app.py"


def opened(
    monkeypatch: pytest.MonkeyPatch,
    lake: Path,
    suite: str = "s1",
    more: Sequence[str] = (),
    **address: str | list[str],
) -> AppTest:
    """The page at an address, as somebody at this machine sees it; `more` are flags of the page."""
    words = ["app.py", "--output-path", str(lake), "--suite", suite, *more]
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(ContextProxy, "headers", StreamlitHeaders([("Host", HOST)]))
    monkeypatch.setattr(streamlit, "get_option", {"server.address": HOST}.__getitem__)
    test = AppTest.from_file(str(APP), default_timeout=START_SECONDS)
    for name, value in address.items():
        test.query_params[name] = value
    return test.run()


@contextmanager
def imported_from(folder: Path) -> Iterator[None]:
    """Modules of the dashboard come from this folder alone, and from none of its own afterwards."""
    names = {module.stem for module in folder.glob("*.py")}
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(before)


def markup(test: AppTest) -> list[str]:
    """The HTML of the page, piece by piece, without its styles."""
    assert not test.exception
    bodies = [part.proto.body for part in test.html]
    return [body for body in bodies if not body.startswith("<style")]


def words_of(body: str) -> str:
    """The words of a piece of HTML, one space between two."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def page_text(test: AppTest) -> str:
    """All words of the page without its markup and styles."""
    return unescape(re.sub(r"<[^>]*>", " ", " ".join(markup(test))))


def answer_rows(test: AppTest) -> list[list[str]]:
    """The cells of the table of answers, row by row."""
    return [row["cells"] for row in _answers(test)["rows"]]


def answer_columns(test: AppTest) -> list[str]:
    """The columns of the table of answers."""
    return [column["name"] for column in _answers(test)["columns"]]


def _answers(test: AppTest) -> dict[str, list[dict[str, Any]]]:
    (found,) = (
        each.proto.json
        for each in test.get("bidi_component")
        if each.proto.component_name == "answer_table"
    )
    table: dict[str, list[dict[str, Any]]] = json.loads(found)
    return table


def board(test: AppTest) -> str:
    """The markup of the board."""
    (found,) = (body for body in markup(test) if 'aria-label="Leaderboard"' in body)
    return found
