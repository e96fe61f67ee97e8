"""Finds what ships with the project, in a checkout, an installed wheel and a zipped wheel alike."""

import tempfile
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from medhelm_spark.errors import SetupError

RESOURCES = "_resources"


def resource(*parts: str) -> Path:
    """The path of a shipped file or folder, for example `resource("dashboards", "board.py")`.

    Raises:
        SetupError: If this installation does not carry it.
    """
    path = _root().joinpath(*parts)
    if not path.exists():
        name = "/".join(parts)
        raise SetupError(
            f"{name} is missing from this installation of medhelm-spark: reinstall it."
        )
    return path


def conf_path(*parts: str) -> Path:
    """The path of a shipped configuration file or folder, for example `conf_path("scenarios")`."""
    return resource("conf", *parts)


@cache
def _root() -> Path:
    package = files("medhelm_spark")
    if not isinstance(package, Path):
        return _unpacked(package / RESOURCES)
    wheel = package / RESOURCES
    return wheel if wheel.is_dir() else package.parent


def _unpacked(folder: Traversable) -> Path:
    """A copy on disk of resources inside a zip: what `spark-submit --py-files` makes of a wheel."""
    target = Path(tempfile.mkdtemp(prefix="medhelm_spark_"))
    _copy(folder, target)
    return target


def _copy(source: Traversable, target: Path) -> None:
    if not source.is_dir():
        target.write_bytes(source.read_bytes())
        return
    target.mkdir(exist_ok=True)
    for child in source.iterdir():
        _copy(child, target / child.name)
