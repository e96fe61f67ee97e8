"""`judges.yaml`: MedHELM's jury file, with `name` and `validated` added."""

from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.deployment import Judge, Jury
from medhelm_spark.errors import ConfigError

DEFAULT_JURY = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgesFile:
    judges: tuple[Judge, ...]
    name: str = DEFAULT_JURY
    validated: bool = False


def load_jury(path: Path) -> Jury:
    """Reads one jury.

    Raises:
        ConfigError: If the file is broken, names no judge, or two of one name.
    """
    file = load_yaml(path, _JudgesFile)
    return build_jury(file.name, file.judges, where=str(path), validated=file.validated)


def build_jury(
    name: str, judges: tuple[Judge, ...], *, where: str, validated: bool = False
) -> Jury:
    """A jury of at least one judge, each with its own name (the key of its annotations)."""
    if not judges:
        raise ConfigError(f"{where}: judges is empty; a jury needs at least one judge.")
    names = [judge.name for judge in judges]
    twice = next((one for one in names if names.count(one) > 1), None)
    if twice:
        raise ConfigError(f"{where}: judge {twice!r} is named twice.")
    return Jury(name=name, judges=judges, validated=validated)
