"""Each promise about text names the test that shows it, and that test is there."""

import ast
import re

import pytest

from tests.meta.tree import ROOT, syntax

NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
GOVERNANCE = "docs/governance.md"


def section(page: str, title: str) -> str:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert f"\n## {title}\n" in text, f"{page} has no section {title!r}"
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows() -> list[list[str]]:
    lines = [line for line in section(GOVERNANCE, "Shown by").splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def functions_of(path: str) -> set[str]:
    return {
        node.name for node in ast.walk(syntax(ROOT / path)) if isinstance(node, ast.FunctionDef)
    }


def test_every_promise_names_a_test() -> None:
    promises = re.findall(r"^- ", section(GOVERNANCE, "What is promised"), re.MULTILINE)
    assert len(rows()) >= len(promises) > 0
    assert not [row for row in rows() if len(row) != 2 or not NAMED.search(row[1])]


@pytest.mark.parametrize("page", [GOVERNANCE, "README.md", "SECURITY.md"])
def test_every_test_that_a_page_names_is_there(page: str) -> None:
    named = NAMED.findall((ROOT / page).read_text(encoding="utf-8"))
    lacking = [
        f"{path}::{test}"
        for path, test in named
        if not (ROOT / path).is_file() or test not in functions_of(path)
    ]
    assert not lacking


def test_a_test_that_the_text_names_without_its_file_stands_in_the_table() -> None:
    page = (ROOT / GOVERNANCE).read_text(encoding="utf-8")
    tabled = {test for _, test in NAMED.findall(section(GOVERNANCE, "Shown by"))}
    assert not set(re.findall(r"`(test_\w+)`", page)) - tabled


def test_the_readme_and_the_policy_on_reports_lead_to_the_promises() -> None:
    for page in ("README.md", "SECURITY.md"):
        assert f"]({GOVERNANCE})" in (ROOT / page).read_text(encoding="utf-8"), page
    assert "](SECURITY.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
