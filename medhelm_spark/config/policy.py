"""`policy.yaml`: which locality may see text of which access level."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.scenario import AccessLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class _PolicyFile:
    allowed: Mapping[AccessLevel, tuple[Locality, ...]]


def load_policy(path: Path) -> Policy:
    """Reads the policy; a level that the file leaves out is denied everywhere.

    Raises:
        ConfigError: If it names a level or a locality that does not exist.
    """
    rules = load_yaml(path, _PolicyFile).allowed
    allowed = tuple((level, _ordered(rules[level])) for level in AccessLevel if level in rules)
    return Policy(allowed=allowed, version=content_id(allowed), origin=str(path))


def _ordered(localities: tuple[Locality, ...]) -> tuple[Locality, ...]:
    return tuple(locality for locality in Locality if locality in localities)
