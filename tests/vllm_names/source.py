"""vLLM's own files, read and not imported: what its modules, classes and functions are called."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Source:
    """The folder of the package."""

    package: Path

    def text(self, path: str) -> str:
        return (self.package / path).read_text(encoding="utf-8")

    def module(self, dotted: str) -> Path | None:
        """The file of `vllm.a.b`; None where there is none."""
        path = self.package.joinpath(*dotted.split(".")[1:])
        files = (path.with_suffix(".py"), path / "__init__.py")
        return next((file for file in files if file.is_file()), None)

    def has_name(self, dotted: str, name: str) -> bool:
        """Whether `from dotted import name` finds something."""
        file = self.module(dotted)
        if file is None:
            return False
        if self.module(f"{dotted}.{name}"):
            return True
        return name in _names(file)

    def members(self, path: str, cls: str) -> set[str]:
        """Methods, fields, and what methods assign to `self`, of a class and its bases here."""
        return set(_members(_tree(self.package / path), cls))

    def parameters(self, path: str, function: str) -> set[str]:
        """The parameters of a function, or of `Class.method`."""
        *outer, name = function.split(".")
        tree: ast.AST = _tree(self.package / path)
        for each in outer:
            (tree,) = (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == each)
        found = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
        return {a.arg for f in found for a in (*f.args.args, *f.args.kwonlyargs)}

    def values(self, path: str, name: str) -> set[str]:
        """The texts of an assignment (a Literal, a tuple, a mapping), and of names in it."""
        tree = _tree(self.package / path)
        assigned = {
            node.targets[0].id: node.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        found: set[str] = set()
        pending = [assigned[name]]
        while pending:
            for node in ast.walk(pending.pop()):
                if isinstance(node, ast.Constant):
                    found.add(str(node.value))
                elif isinstance(node, ast.Name) and node.id in assigned:
                    pending.append(assigned[node.id])
        return found


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _names(file: Path) -> Iterator[str]:
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value  # a package whose attributes are loaded at first use lists them


def _members(tree: ast.Module, cls: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == cls:
            for base in node.bases:
                if isinstance(base, ast.Name):
                    yield from _members(tree, base.id)
            for part in ast.walk(node):
                if isinstance(part, ast.FunctionDef):
                    yield part.name
                elif isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                    yield part.target.id
                elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
                    yield part.attr
