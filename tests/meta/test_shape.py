"""Every file of code says what it is, and the domain's rows cannot change."""

import ast

from tests.meta.tree import ROOT, modules, shown, syntax

ROW_OPTIONS = {"frozen", "slots", "kw_only"}
OTHER_FOLDERS = ("jobs", "dashboards", "benchmarks", "tests")


def test_every_file_of_code_says_what_it_is() -> None:
    others = [path for folder in OTHER_FOLDERS for path in (ROOT / folder).rglob("*.py")]
    files = (*modules(), *others)
    assert ROOT / "medhelm_spark" / "domain" / "ids.py" in files
    silent = [
        shown(path) for path in files if syntax(path).body and not ast.get_docstring(syntax(path))
    ]
    assert not silent, f"without a docstring: {silent}"


def test_dataclasses_are_frozen_slotted_and_keyword_only() -> None:
    """Rows travel between processes and serve as keys: a mutable or positional one would not."""
    loose = []
    for module in modules("domain"):
        for node in ast.walk(syntax(module)):
            if isinstance(node, ast.ClassDef):
                for decorator in node.decorator_list:
                    given = {keyword.arg for keyword in getattr(decorator, "keywords", [])}
                    if "dataclass" in ast.unparse(decorator) and given != ROW_OPTIONS:
                        loose.append(f"{shown(module)}:{node.name}")
    assert not loose
