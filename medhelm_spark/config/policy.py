"""`policy.yaml`: which locality may see text of which access level, and what may be compared.

A site's file is binding where the platform names it and nobody who runs a job could have written
it (`config.standing`). Every other one is advisory: it restricts what the policy above it allows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from medhelm_spark.config.loader import load_yaml
from medhelm_spark.config.standing import why_ours
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.policy import Comparison, ListedPlugin, Policy, Standing
from medhelm_spark.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class _PolicyFile:
    allowed: Mapping[AccessLevel, tuple[Locality, ...]] | None = None
    comparison: Comparison | None = None
    plugins: tuple[ListedPlugin, ...] = ()


SHA256 = re.compile("[0-9a-f]{64}")


def load_policy(path: Path, above: Policy | None = None) -> Policy:
    """Reads the policy; a level that its `allowed` leaves out is denied everywhere.

    A file without `allowed` allows what the policy `above` it does.

    Raises:
        ConfigError: If it names a level or a locality that does not exist, or a share that is none.
    """
    file = load_yaml(path, _PolicyFile)
    given = file.allowed if file.allowed is not None else dict(above.allowed) if above else None
    if given is None:
        raise ConfigError(f"{path}: allowed is missing; allowed: levels with their localities.")
    comparison = file.comparison or Comparison()
    floor = comparison.coverage_floor
    if not 0 <= floor <= 1:
        raise ConfigError(f"{path}: comparison.coverage_floor is {floor}; allowed: 0 to 1.")
    allowed = tuple((level, _ordered(given[level])) for level in AccessLevel if level in given)
    return Policy(
        allowed=allowed,
        version=content_id(allowed, comparison),
        origin=str(path),
        comparison=comparison,
        plugins=_plugins(file, path),
    )


def policy_in_force(shipped: Path, named: Path | None, site: Path | None) -> Policy:
    """The policy that the files make together.

    `named` is the file that the platform's settings name: binding, and then in place of the shipped
    one, unless this process could have written it. `site` is the one of the site folder. What is
    advisory leaves only what the file above it allows too.

    Raises:
        ConfigError: If a file is wrong, or an advisory one states what a binding one decides.
    """
    policy = load_policy(shipped)
    if named and (reason := why_ours(named)):
        policy = replace(_restricted(policy, load_policy(named, policy)), reason=reason)
    elif named:
        policy = _stamped(replace(load_policy(named), standing=Standing.BINDING))
    if site is None:
        return policy
    if policy.is_binding:
        _refuse_decided(site, policy)
    return _restricted(policy, load_policy(site, policy))


def _refuse_decided(site: Path, binding: Policy) -> None:
    """Refuse what an advisory file states in vain, beside a binding one."""
    file = load_yaml(site, _PolicyFile)
    for key in ("comparison", "plugins"):
        if getattr(file, key):
            raise ConfigError(f"{site}: {key} is decided by {binding.label}; leave it out here.")


def _restricted(policy: Policy, advisory: Policy) -> Policy:
    """The policy with no more than an advisory file allows too.

    What is not taken over by name stays that of the policy above.
    """
    above = dict(policy.allowed)
    kept, withheld = [], []
    for level, listed in advisory.allowed:
        over = tuple(place for place in listed if place not in above.get(level, ()))
        kept.append((level, tuple(place for place in listed if place not in over)))
        withheld += [(level, over)] if over else []
    if policy.standing is Standing.SHIPPED:
        changed = replace(
            policy,
            standing=Standing.ADVISORY,
            origin=advisory.origin,
            comparison=advisory.comparison,
            plugins=advisory.plugins,
        )
    else:
        changed = replace(policy, restricted_by=advisory.origin)
    return _stamped(replace(changed, allowed=tuple(kept), withheld=tuple(withheld)))


def _stamped(policy: Policy) -> Policy:
    """The policy with the version of what it says now and of how far that can be relied on."""
    parts = (policy.allowed, policy.comparison, policy.plugins, policy.standing)
    return replace(policy, version=content_id(*parts))


def _plugins(file: _PolicyFile, path: Path) -> tuple[ListedPlugin, ...]:
    for place, plugin in enumerate(file.plugins):
        if not SHA256.fullmatch(plugin.sha256):
            raise ConfigError(
                f"{path}: plugins[{place}].sha256 is {plugin.sha256!r}; allowed: 64 hexadecimal "
                "digits, as the command prints them."
            )
    return file.plugins


def _ordered(localities: tuple[Locality, ...]) -> tuple[Locality, ...]:
    return tuple(locality for locality in Locality if locality in localities)
