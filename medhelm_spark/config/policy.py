"""`policy.yaml`: which locality may see text of which access level, and what may be compared."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.policy import Comparison, Policy
from medhelm_spark.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class _PolicyFile:
    allowed: Mapping[AccessLevel, tuple[Locality, ...]]
    comparison: Comparison = field(default_factory=Comparison)


def load_policy(path: Path) -> Policy:
    """Reads the policy; a level that the file leaves out is denied everywhere.

    Raises:
        ConfigError: If it names a level or a locality that does not exist, or a share that is none.
    """
    file = load_yaml(path, _PolicyFile)
    floor = file.comparison.coverage_floor
    if not 0 <= floor <= 1:
        raise ConfigError(f"{path}: comparison.coverage_floor is {floor}; allowed: 0 to 1.")
    allowed = tuple(
        (level, _ordered(file.allowed[level])) for level in AccessLevel if level in file.allowed
    )
    return Policy(
        allowed=allowed,
        version=content_id(allowed, file.comparison),
        origin=str(path),
        comparison=file.comparison,
    )


def _ordered(localities: tuple[Locality, ...]) -> tuple[Locality, ...]:
    return tuple(locality for locality in Locality if locality in localities)
