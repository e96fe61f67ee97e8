"""docs/security.md lists every try that the tests make, as `make attack` writes it."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.attacks import BEGIN, END

ROOT = Path(__file__).resolve().parents[2]
HELD = "held"


def marked() -> Iterator[tuple[str, str]]:
    """Area and words of every mark `pytest.mark.attack(...)` in a test's file."""
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) != "pytest.mark.attack":
                continue
            area, tried = (ast.literal_eval(argument) for argument in node.args)
            yield area, tried


def test_the_page_has_every_try_and_its_outcome() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    table = page.partition(BEGIN)[2].partition(END)[0].strip().splitlines()
    rows = [tuple(cell.strip() for cell in row.strip("|").split(" | ")) for row in table[2:-2]]
    assert [row[:2] for row in rows] == sorted(set(marked())), "run `make attack`"
    assert {row[2] for row in rows} == {HELD}
    assert table[-1] == f"{len(rows)} tries, {len(rows)} held, 0 failed."
