"""`policy.yaml`: which locality may see text of which access level, and what may be compared."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.network import Network
from medhelm_spark.domain.policy import Comparison, Policy
from medhelm_spark.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class _PolicyFile:
    allowed: Mapping[AccessLevel, tuple[Locality, ...]]
    comparison: Comparison = field(default_factory=Comparison)
    networks: Mapping[Locality, tuple[Network, ...]] = field(default_factory=dict)


def load_policy(path: Path) -> Policy:
    """Reads the policy; a level that the file leaves out is denied everywhere.

    Raises:
        ConfigError: If it names a level or a locality that does not exist, a share or a network
            that is none.
    """
    file = load_yaml(path, _PolicyFile, _spelled_out)
    floor = file.comparison.coverage_floor
    if not 0 <= floor <= 1:
        raise ConfigError(f"{path}: comparison.coverage_floor is {floor}; allowed: 0 to 1.")
    allowed = tuple(
        (level, _ordered(file.allowed[level])) for level in AccessLevel if level in file.allowed
    )
    networks = _networks(file.networks, path)
    return Policy(
        allowed=allowed,
        version=content_id(allowed, file.comparison, networks),
        origin=str(path),
        comparison=file.comparison,
        networks=networks,
    )


def _ordered(localities: tuple[Locality, ...]) -> tuple[Locality, ...]:
    return tuple(locality for locality in Locality if locality in localities)


def _spelled_out(data: Any) -> Any:
    """The file with each network that is written as a text alone as the mapping it stands for."""
    networks = data.get("networks") if isinstance(data, Mapping) else None
    if not isinstance(networks, Mapping):
        return data
    spelled = {
        locality: [{"cidr": each} if isinstance(each, str) else each for each in listed]
        if isinstance(listed, list)
        else listed
        for locality, listed in networks.items()
    }
    return {**data, "networks": spelled}


def _networks(
    listed: Mapping[Locality, tuple[Network, ...]], path: Path
) -> tuple[tuple[Locality, tuple[Network, ...]], ...]:
    for locality, networks in listed.items():
        for place, network in enumerate(networks):
            try:
                _ = network.range
            except ValueError:
                raise ConfigError(
                    f"{path}: networks.{locality}[{place}] is {network.cidr!r}; allowed: an "
                    "address or a range without host bits, such as 10.20.0.0/16."
                ) from None
    return tuple((each, listed[each]) for each in Locality if each in listed)
