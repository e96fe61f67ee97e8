"""What of the newest PySpark's names other versions and Databricks' client lack, read and not run.

Databricks' client cannot be installed beside PySpark, and needs another Python: its wheel is read
as it is. `python -m tests.meta.spark_api LABEL=FOLDER ...` writes `lacking.json` anew, with what
the PySpark of this environment has and those in the folders have not.
"""

import ast
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

LACKING = Path(__file__).with_name("lacking.json")
FUNCTIONS = "pyspark.sql.functions"
REFUSED = "pyspark 3"
"""A version that is refused: what is imported has to be there, or the refusal is not reached."""
MODULES = (
    "pyspark",
    "pyspark.errors",
    "pyspark.find_spark_home",
    "pyspark.java_gateway",
    "pyspark.sql",
    FUNCTIONS,
    "pyspark.sql.types",
    "pyspark.sql.window",
)
# The classes of Spark Connect, which is what a serverless session has.
CONNECT = ("catalog", "column", "conf", "dataframe", "group", "readwriter", "session", "window")


@dataclass
class Api:
    """The names of a PySpark: of its modules, of its classes' methods, of their parameters.

    Parameters are listed by the bare name of a method, whichever class it is of; those of a
    function of SQL by `F.NAME`.
    """

    modules: dict[str, set[str]] = field(default_factory=dict)
    methods: set[str] = field(default_factory=set)
    parameters: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def api_of(root: Path) -> Api:
    """The names of the package `pyspark` in a folder."""
    found = Api()
    for module in MODULES:
        found.modules[module] = set(_names(root, module))
    for path in (root / "pyspark" / "sql" / "functions").glob("*.py"):
        for node in _parsed(path).body:
            if isinstance(node, ast.FunctionDef):
                found.parameters[f"F.{node.name}"] |= set(_parameters(node))
    for part in CONNECT:
        path = root / "pyspark" / "sql" / "connect" / f"{part}.py"
        for node in ast.walk(_parsed(path)) if path.is_file() else ():
            if isinstance(node, ast.ClassDef):
                _take_class(node, found)
    return found


def lacking(base: Api, other: Api) -> dict[str, Any]:
    """What `base` has and `other` has not."""
    modules = {name: names - other.modules[name] for name, names in base.modules.items()}
    parameters = {
        name: base.parameters[name] - other.parameters[name]
        for name in base.parameters.keys() & other.parameters.keys()
    }
    return {
        "modules": {name: sorted(names) for name, names in sorted(modules.items()) if names},
        "methods": sorted(base.methods - other.methods),
        "parameters": {name: sorted(names) for name, names in sorted(parameters.items()) if names},
    }


def uses(tree: ast.AST, absent: Mapping[str, Any]) -> Iterator[str]:
    """Names in a module's source that a version of PySpark lacks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names = absent["modules"].get(node.module or "", ())
            yield from (f"import {alias.name}" for alias in node.names if alias.name in names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from _uses_of_call(node, node.func, absent)


def _uses_of_call(
    call: ast.Call, called: ast.Attribute, absent: Mapping[str, Any]
) -> Iterator[str]:
    name = called.attr
    is_function = isinstance(called.value, ast.Name) and called.value.id == "F"
    names = absent["modules"].get(FUNCTIONS, ()) if is_function else absent["methods"]
    if name in names:
        yield f"line {call.lineno}: .{name}()"
    parameters = absent["parameters"].get(f"F.{name}" if is_function else name, ())
    for word in call.keywords:
        if word.arg in parameters:
            yield f"line {call.lineno}: .{name}({word.arg}=...)"


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _names(root: Path, module: str) -> Iterator[str]:
    """What a module defines or imports, at its top or under a condition."""
    path = root.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not path.is_file():
        return
    tree = _parsed(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*":
                    yield from _names(root, node.module or "")
                else:
                    yield alias.asname or alias.name
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef):
            yield statement.name
        elif isinstance(statement, ast.Assign):
            yield from (one.id for one in statement.targets if isinstance(one, ast.Name))


def _take_class(node: ast.ClassDef, found: Api) -> None:
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
            found.methods.add(member.name)
            found.parameters[member.name] |= set(_parameters(member))


def _parameters(node: ast.FunctionDef) -> Iterator[str]:
    arguments = node.args
    yield from (one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def installed() -> Path:
    """The folder that contains the PySpark of this environment."""
    return Path(str(find_spec("pyspark").origin)).parents[1]  # type: ignore[union-attr]


if __name__ == "__main__":
    base = api_of(installed())
    others = dict(argument.split("=", 1) for argument in sys.argv[1:])
    absent = {name: lacking(base, api_of(Path(folder))) for name, folder in others.items()}
    for name in (name for name in absent if name.startswith(REFUSED)):
        modules = absent[name]["modules"]
        del modules[FUNCTIONS]
        absent[name] = {"modules": modules, "methods": [], "parameters": {}}
    written = {"pyspark": version("pyspark"), "lacking": absent}
    LACKING.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
