"""What the meta tests share: the files of the checkout and the modules of the package."""

import ast
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "medhelm_spark"
PURE = (
    "domain",
    "adaptation",
    "annotators",
    "engines",
    "policy",
    "metrics",
    "scenarios",
    "statistics",
)


@cache
def checkout_files() -> tuple[Path, ...]:
    """Every file that is in git or would be added to it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = (ROOT / name for name in listed.split("\0") if name)
    return tuple(sorted(path for path in paths if path.is_file()))


def modules(*parts: str) -> tuple[Path, ...]:
    """The modules of the package, or of the named parts of it."""
    folders = [PACKAGE / part for part in parts] or [PACKAGE]
    return tuple(sorted(path for folder in folders for path in folder.rglob("*.py")))


def dotted(module: Path) -> str:
    """The name under which a module of the package is imported."""
    names = module.relative_to(ROOT).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


def shown(path: Path) -> str:
    """A path as test ids and messages show it."""
    return path.relative_to(ROOT).as_posix()


@cache
def syntax(module: Path) -> ast.Module:
    """The parsed source of a module."""
    return ast.parse(module.read_text(encoding="utf-8"), filename=shown(module))
