"""`policy.yaml`: which locality may see text of which access level, and what may be compared.

A site's policy, a file or a catalog's table, is binding where nobody who runs a job could have
chosen (`config.settings.named_policy`) or written it (`config.policy_trust`). Every other one is
advisory: it restricts what the policy above it allows.
"""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from medhelm_spark.config.loader import load_yaml, validate
from medhelm_spark.config.policy_trust import why_ours, why_ours_in_catalog
from medhelm_spark.config.yaml_text import parse_yaml
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.level_change import Approval
from medhelm_spark.domain.network import LOOPBACK, Network, narrowed
from medhelm_spark.domain.policy import (
    Audience,
    ComparisonRules,
    JudgeCheckRules,
    ListedPlugin,
    Policy,
    PolicyTrust,
    RatingLinks,
    SmallCells,
)
from medhelm_spark.domain.policy_table import PolicyTable
from medhelm_spark.domain.release_requirements import ReleaseRequirements
from medhelm_spark.domain.retention import LEAST, Retention
from medhelm_spark.domain.sign_off import STEPS, ListedPerson, ReleasePeople, TokenIssuer
from medhelm_spark.domain.viewer_rules import ViewerRules
from medhelm_spark.errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Release:
    require: ReleaseRequirements = field(default_factory=ReleaseRequirements)
    people: tuple[ListedPerson, ...] = ()
    issuers: tuple[TokenIssuer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFile:
    """`policy.yaml`."""

    allowed: Mapping[AccessLevel, tuple[Locality, ...]] | None = None
    comparison: ComparisonRules | None = None
    networks: Mapping[Locality, tuple[Network, ...]] = field(default_factory=dict)
    plugins: tuple[ListedPlugin, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    approvals: tuple[Approval, ...] = ()
    release: _Release | None = None
    retention: Retention | None = None
    small_cells: SmallCells | None = None
    rating_links: RatingLinks | None = None
    judge_checks: JudgeCheckRules | None = None
    audiences: tuple[Audience, ...] = ()
    viewers: ViewerRules | None = None


Commands = tuple[tuple[str, ...], ...]
Networks = tuple[tuple[Locality, tuple[Network, ...]], ...]
SHA256 = re.compile("[0-9a-f]{64}")
PUBLIC_KEY_BYTES = 32
MIN_CANARY = 8
"""A canary has so many letters and digits, so that no ordinary text contains it."""


def load_policy(source: Path | PolicyTable, above: Policy | None = None) -> Policy:
    """Reads the policy; a level that its `allowed` leaves out is denied everywhere.

    One without `allowed` allows what the policy `above` it does.

    Raises:
        ConfigError: If it names a level or a locality that does not exist, a share or a network
            that is none.
    """
    origin = _origin(source)
    file = _parsed(source)
    localities = (
        file.allowed if file.allowed is not None else dict(above.allowed) if above else None
    )
    if localities is None:
        raise ConfigError(f"{origin}: allowed is missing; allowed: levels with their localities.")
    comparison = file.comparison or ComparisonRules()
    floor = comparison.coverage_floor
    if not 0 <= floor <= 1:
        raise ConfigError(f"{origin}: comparison.coverage_floor is {floor}; allowed: 0 to 1.")
    allowed = tuple(
        (level, _ordered(localities[level])) for level in AccessLevel if level in localities
    )
    networks = _networks(file.networks, origin)
    required = _required(file, origin)
    links = file.rating_links or (above.rating_links if above else RatingLinks())
    return Policy(
        allowed=allowed,
        version=content_id(allowed, comparison, networks, *_stated(required, file.commands)),
        origin=origin,
        comparison=comparison,
        networks=networks,
        plugins=_plugins(file, origin),
        commands=file.commands,
        approvals=file.approvals,
        release=required,
        people=_people(file, origin),
        retention=_retention(file, origin),
        small_cells=_small_cells(file, origin),
        rating_links=links,
        judge_checks=_judge_checks(file, origin),
        audiences=_audiences(file, origin),
        viewers=_viewers(file, origin),
    )


def policy_in_force(
    shipped: Path,
    named: Path | PolicyTable | None,
    site: Path | None,
    *,
    why_chosen: str | None = None,
) -> Policy:
    """The policy that the files make together.

    `named` is what the platform's settings name, a file or a catalog's table: binding, and then in
    place of the shipped one, unless this process could have chosen it (`why_chosen` says how) or
    written it. `site` is the one of the site folder. What is advisory leaves only what the file
    above it allows too.

    Raises:
        ConfigError: If a file is wrong, or an advisory one states what a binding one decides.
    """
    policy = load_policy(shipped)
    if named and (reason := why_chosen or _why_ours(named)):
        policy = replace(_restricted(policy, load_policy(named, policy)), reason=reason)
    elif named:
        policy = _stamped(replace(load_policy(named), standing=PolicyTrust.BINDING))
    if site is None:
        return policy
    if policy.is_binding:
        _refuse_decided(site, policy)
    return _restricted(policy, load_policy(site, policy))


def _origin(source: Path | PolicyTable) -> str:
    return source.name if isinstance(source, PolicyTable) else str(source)


def _why_ours(source: Path | PolicyTable) -> str | None:
    return why_ours_in_catalog(source) if isinstance(source, PolicyTable) else why_ours(source)


def _parsed(source: Path | PolicyTable) -> PolicyFile:
    if isinstance(source, Path):
        return load_yaml(source, PolicyFile, _spelled_out)
    return validate(_spelled_out(parse_yaml(source.text, source.name)), PolicyFile, source.name)


def _refuse_decided(site: Path, binding: Policy) -> None:
    """Refuse what an advisory file states in vain, beside a binding one."""
    file = load_yaml(site, PolicyFile, _spelled_out)
    for key in (
        "comparison",
        "plugins",
        "commands",
        "approvals",
        "release",
        "retention",
        "judge_checks",
        "audiences",
        "viewers",
    ):
        if getattr(file, key):
            raise ConfigError(f"{site}: {key} is decided by {binding.label}; leave it out here.")


def _restricted(policy: Policy, advisory: Policy) -> Policy:
    """The policy with no more than an advisory file allows too.

    Every field that is not named here stays as in the policy above.
    """
    above = dict(policy.allowed)
    permitted, withheld = [], []
    for level, listed in advisory.allowed:
        over = tuple(locality for locality in listed if locality not in above.get(level, ()))
        permitted.append((level, tuple(locality for locality in listed if locality not in over)))
        withheld += [(level, over)] if over else []
    if policy.standing is PolicyTrust.SHIPPED:
        changed = replace(
            policy,
            standing=PolicyTrust.ADVISORY,
            origin=advisory.origin,
            comparison=advisory.comparison,
            plugins=advisory.plugins,
            commands=advisory.commands,
            release=advisory.release,
            people=advisory.people,
            retention=advisory.retention,
            judge_checks=advisory.judge_checks,
            audiences=advisory.audiences,
            viewers=advisory.viewers,
        )
    else:
        required = policy.release if policy.release.required else advisory.release
        people = policy.people if policy.people.people else advisory.people
        changed = replace(policy, restricted_by=advisory.origin, release=required, people=people)
    networks = _narrowed(policy, advisory)
    least = max(policy.small_cells.minimum, advisory.small_cells.minimum)
    links = (policy.rating_links, advisory.rating_links)
    return _stamped(
        replace(
            changed,
            allowed=tuple(permitted),
            withheld=tuple(withheld),
            networks=networks,
            small_cells=SmallCells(minimum=least),
            rating_links=min(links, key=lambda each: each.highest_level.strictness),
        )
    )


def _narrowed(policy: Policy, advisory: Policy) -> Networks:
    """The networks of a policy with no more than an advisory file lists too.

    Without a list `local` is this machine and the job's own nodes, which no file can list: of an
    advisory list the loopback addresses count then.
    """
    above = {Locality.LOCAL: LOOPBACK, **dict(policy.networks)}
    listed = dict(advisory.networks)
    narrow = {each: narrowed(listed[each], above.get(each, ())) for each in listed}
    both = {**dict(policy.networks), **narrow}
    return tuple((each, both[each]) for each in Locality if each in both)


def _stamped(policy: Policy) -> Policy:
    """The policy with the version of its present content and of how far it can be relied on."""
    parts = (
        policy.allowed,
        policy.comparison,
        policy.networks,
        policy.plugins,
        policy.approvals,
        policy.standing,
    )
    return replace(policy, version=content_id(*parts, *_stated(policy.release, policy.commands)))


def _stated(required: ReleaseRequirements, commands: Commands) -> tuple[Any, ...]:
    """Their part of the policy's version; none of what is not stated, as in older versions."""
    return (*([required] if required.required else ()), *([commands] if commands else ()))


_RANGES = {
    "judge_coverage": "0 to 1",
    "min_instances": "a whole number from 1 on",
    "max_interval_width": "a number above 0",
    "approval_days": "a whole number from 1 on",
}


def _required(file: PolicyFile, origin: str) -> ReleaseRequirements:
    required = file.release.require if file.release else ReleaseRequirements()
    share, number, width = (
        required.judge_coverage,
        required.min_instances,
        required.max_interval_width,
    )
    wrong = {
        "judge_coverage": share is not None and not 0 <= share <= 1,
        "min_instances": number is not None and number < 1,
        "max_interval_width": width is not None and width <= 0,
        "approval_days": required.approval_days is not None and required.approval_days < 1,
    }
    for name in (name for name, is_wrong in wrong.items() if is_wrong):
        raise ConfigError(
            f"{origin}: release.require.{name} is {getattr(required, name)}; "
            f"allowed: {_RANGES[name]}."
        )
    return required


def _people(file: PolicyFile, origin: str) -> ReleasePeople:
    """It is not in the policy's version: a change of a release has who took the step."""
    if file.release is None:
        return ReleasePeople()
    issuers = {each.issuer for each in file.release.issuers}
    recognised: dict[object, str] = {}
    for person in file.release.people:
        where = f"{origin}: release.people: {person.name!r}"
        for step in person.may:
            if step not in STEPS:
                raise ConfigError(f"{where}: may is {step!r}; allowed: {', '.join(STEPS)}.")
        marks = [mark for mark in (person.key, person.subject, person.platform) if mark]
        if len(marks) != 1 or bool(person.subject) != bool(person.issuer):
            raise ConfigError(f"{where}: allowed: one of key, platform, and subject with issuer.")
        if person.issuer and person.issuer not in issuers:
            raise ConfigError(f"{where}: issuer is {person.issuer!r}, which issuers does not list.")
        if person.key and not _is_key(person.key):
            raise ConfigError(f"{where}: key is no Base64 of 32 bytes.")
        mark = (marks[0], person.issuer)
        if recognised.setdefault(mark, person.name) != person.name:
            raise ConfigError(f"{where} is recognised as {recognised[mark]!r} is.")
    return ReleasePeople(people=file.release.people, issuers=file.release.issuers)


def _is_key(text: str) -> bool:
    try:
        return len(base64.b64decode(text, validate=True)) == PUBLIC_KEY_BYTES
    except ValueError:
        return False


def _retention(file: PolicyFile, origin: str) -> Retention:
    """Its part is not in the policy's version: it decides about nothing that a number rests on."""
    retention = file.retention or Retention()
    for each in fields(Retention):
        days, least = getattr(retention, each.name), getattr(LEAST, each.name)
        if days < least:
            raise ConfigError(
                f"{origin}: retention.{each.name} is {days}; allowed: a whole number of days from "
                f"{least} on."
            )
    return retention


def _small_cells(file: PolicyFile, origin: str) -> SmallCells:
    """It is not in the policy's version either: a group's numbers carry the minimum they met."""
    rules = file.small_cells or SmallCells()
    if rules.minimum < 1:
        raise ConfigError(
            f"{origin}: small_cells.minimum is {rules.minimum}; allowed: a whole number from 1 on."
        )
    return rules


def _judge_checks(file: PolicyFile, origin: str) -> JudgeCheckRules:
    """It is not in the policy's version: a judge card has the limits that its lines met."""
    rules = file.judge_checks or JudgeCheckRules()
    for each in fields(JudgeCheckRules):
        value = getattr(rules, each.name)
        if each.name == "days":
            if value < 1:
                raise ConfigError(
                    f"{origin}: judge_checks.days is {value}; allowed: a whole number from 1 on."
                )
        elif not 0 <= value <= 1:
            raise ConfigError(f"{origin}: judge_checks.{each.name} is {value}; allowed: 0 to 1.")
    return rules


def _audiences(file: PolicyFile, origin: str) -> tuple[Audience, ...]:
    """It is not in the policy's version: a share's manifest names its audience's rules itself."""
    for audience in file.audiences:
        where = f"{origin}: audiences: {audience.name!r}"
        if not 0 <= audience.decimals <= 6:
            raise ConfigError(f"{where}: decimals is {audience.decimals}; allowed: 0 to 6.")
        for pattern in audience.record_numbers:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ConfigError(
                    f"{where}: record_numbers: {pattern!r} is no regular expression ({error})."
                ) from None
        for number, canary in enumerate(audience.canaries, 1):
            if (size := sum(map(str.isalnum, canary))) < MIN_CANARY:
                raise ConfigError(
                    f"{where}: canaries: number {number} has {size} letters and digits; "
                    f"allowed: from {MIN_CANARY} on."
                )
    names = [audience.name for audience in file.audiences]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ConfigError(f"{origin}: audiences: {min(twice)!r} occurs twice.")
    return file.audiences


def _viewers(file: PolicyFile, origin: str) -> ViewerRules:
    """It is not in the policy's version: no number rests on who looks at it."""
    rules = file.viewers or ViewerRules()
    if rules.hours < 1:
        raise ConfigError(
            f"{origin}: viewers.hours is {rules.hours}; allowed: a whole number from 1 on."
        )
    if file.viewers and not rules.people:
        raise ConfigError(f"{origin}: viewers.people is missing; allowed: people who sign in.")
    for index, each in enumerate(rules.people):
        where = f"{origin}: viewers.people[{index}]"
        if not each.issuer or bool(each.subject) == bool(each.group):
            raise ConfigError(f"{where}: allowed: issuer, with one of subject and group.")
        if each.group and each.name:
            raise ConfigError(f"{where}: name is {each.name!r}; allowed: of a subject alone.")
        if each.may_rate and each.text is None:
            raise ConfigError(f"{where}: may_rate needs text: a level whose text they read.")
    return rules


def _plugins(file: PolicyFile, origin: str) -> tuple[ListedPlugin, ...]:
    for index, plugin in enumerate(file.plugins):
        if not SHA256.fullmatch(plugin.sha256):
            raise ConfigError(
                f"{origin}: plugins[{index}].sha256 is {plugin.sha256!r}; allowed: 64 hexadecimal "
                "digits, as the command prints them."
            )
    return file.plugins


def _ordered(localities: tuple[Locality, ...]) -> tuple[Locality, ...]:
    return tuple(locality for locality in Locality if locality in localities)


def _spelled_out(data: Any) -> Any:
    """The file with each network that is written as a text alone as its mapping."""
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


def _networks(listed: Mapping[Locality, tuple[Network, ...]], origin: str) -> Networks:
    for locality, networks in listed.items():
        for index, network in enumerate(networks):
            try:
                _ = network.range
            except ValueError:
                raise ConfigError(
                    f"{origin}: networks.{locality}[{index}] is {network.cidr!r}; allowed: an "
                    "address or a range without host bits, such as 10.20.0.0/16."
                ) from None
    return tuple((each, listed[each]) for each in Locality if each in listed)
