"""Every file of code has a docstring, and the domain's rows cannot change."""

import ast
from collections import defaultdict

from medhelm_spark.features import FEATURES, part
from tests.meta.tree import ROOT, modules, shown, syntax

ROW_OPTIONS = {"frozen", "slots", "kw_only"}
SECOND_BASES = {"StatKey"}
"""Of two bases with slots Python makes no class: the second has none."""

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
                    options = {keyword.arg for keyword in getattr(decorator, "keywords", [])}
                    expected = ROW_OPTIONS - {"slots"} if node.name in SECOND_BASES else ROW_OPTIONS
                    if "dataclass" in ast.unparse(decorator) and options != expected:
                        loose.append(f"{shown(module)}:{node.name}")
    assert not loose


def test_no_public_class_name_stands_for_two_things() -> None:
    by_name = defaultdict(list)
    for module in modules():
        for node in syntax(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                by_name[node.name].append(shown(module))
    assert len(by_name) > 300
    assert not {name: where for name, where in by_name.items() if len(where) > 1}


def test_the_lake_names_no_table_of_a_feature() -> None:
    of_features = {
        table.name
        for feature in FEATURES
        if (found := part(feature, "tables"))
        for table in found.TABLES
    }
    assert "releases" in of_features
    named = {
        f"{shown(module)}: {table}"
        for module in modules("lake")
        if module.stem not in ("example_queries", "describe")  # which write docs/tables.md
        for node in ast.walk(syntax(module))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for table in of_features
        if node.value == table or f"{{{table}}}" in node.value
    }
    assert not named
