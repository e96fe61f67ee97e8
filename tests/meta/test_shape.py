"""Sizes that keep a file one idea and a function one thought."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.meta.tree import ROOT, modules, shown, syntax

MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 40
MAX_POSITIONAL = 5
ROW_OPTIONS = {"frozen", "slots", "kw_only"}
MODULES = modules()


def functions(module: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(syntax(module)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def positional(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


@pytest.mark.parametrize("module", MODULES, ids=shown)
def test_module_is_short_documented_and_made_of_short_functions(module: Path) -> None:
    lines = len(module.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_FILE_LINES, f"{shown(module)} has {lines} lines"
    assert ast.get_docstring(syntax(module)) or not syntax(module).body, "no module docstring"
    long = {f.name: length(f) for f in functions(module) if length(f) > MAX_FUNCTION_LINES}
    assert not long, f"functions over {MAX_FUNCTION_LINES} lines: {long}"
    wide = {f.name: positional(f) for f in functions(module) if len(positional(f)) > MAX_POSITIONAL}
    assert not wide, f"functions with over {MAX_POSITIONAL} positional parameters: {wide}"


def test_the_package_was_found() -> None:
    names = {shown(module) for module in MODULES}
    assert {"medhelm_spark/errors.py", "medhelm_spark/domain/ids.py"} <= names


@pytest.mark.parametrize("folder", ["jobs", "dashboards", "benchmarks", "tests"])
def test_every_other_file_of_code_says_what_it_is(folder: str) -> None:
    silent = [
        shown(path)
        for path in (ROOT / folder).rglob("*.py")
        if syntax(path).body and not ast.get_docstring(syntax(path))
    ]
    assert not silent


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
