"""Personal links to the rating queue: made, listed and revoked."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.moments import now
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.errors import ConfigError, DataError, PolicyError
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.user import this_user
from medhelm_spark.ratings.answers import answers_of, within
from medhelm_spark.ratings.assignment import assigned, in_drawn_order
from medhelm_spark.ratings.invitations import all_invitations, hash_of
from medhelm_spark.ratings.pseudonyms import pseudonym, pseudonym_key
from medhelm_spark.ratings.rated_criteria import (
    of_rubrics,
    of_scale,
    refuse_other_scale,
    rubrics_behind,
)
from medhelm_spark.ratings.tables import Invitation, RatedCriterion
from medhelm_spark.workspace.names import check_known
from medhelm_spark.workspace.workspace import Workspace

ADDRESS = "http://127.0.0.1:8501"
"""Where `medhelm-spark serve` serves the dashboard by default."""
PARAMETER = "rate"
MOST_DAYS = 365
_TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalLink:
    """The link of one rater; it is in no table and no other object."""

    rater: str
    """The rater's name, as the caller wrote it."""
    link: str = field(repr=False)
    invitation_id: str
    num_items: int
    ends_at: datetime

    def __str__(self) -> str:
        last = self.ends_at - timedelta(days=1)
        items = counted(self.num_items, "item")
        return f"{self.rater} ({self.invitation_id}, {items}, to {last:%Y-%m-%d}): {self.link}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalLinks:
    """The links of all who were invited together: printed once, and stored nowhere."""

    links: tuple[PersonalLink, ...]
    num_items: int
    """The instances that are rated by at least one rater."""
    num_too_strict: int
    """The instances that no link of this level opens."""

    def __str__(self) -> str:
        strict = (
            f"; {counted(self.num_too_strict, 'instance')} of a stricter level left out"
            if self.num_too_strict
            else ""
        )
        return "\n".join([*map(str, self.links), f"{counted(self.num_items, 'item')}{strict}"])


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationRequest:
    """Who shall rate what."""

    raters: Sequence[str]
    suite: str
    scenario: str
    items: int | None
    """How many instances (None: all)."""
    raters_per_item: int | None
    """How many raters each instance gets (None: all)."""
    level: AccessLevel
    days: int
    criteria: Sequence[str]
    scale: tuple[float, float] | None


def invite(
    workspace: Workspace,
    specs: Sequence[RunSpec],
    request: InvitationRequest,
    *,
    key_file: Path | None,
    address: str,
) -> PersonalLinks:
    """Store an invitation for each rater, and return the links.

    Args:
        workspace: the lake and the site.
        specs: the runs whose answers are rated.
        request: who shall rate what.
        key_file: the file with the key of the pseudonyms.
        address: where the raters reach the dashboard.

    Raises:
        ConfigError: something in the request is not allowed, or no scale is known.
        PolicyError: the policy lets no link open this level, or all instances are stricter.
        DataError: the runs have no answer.
    """
    _check(workspace, request)
    criteria = _criteria(workspace, specs, request)
    answers = answers_of(workspace.reader, specs)
    if not answers:
        raise DataError(f"suite {request.suite!r} has no answers of {request.scenario} to rate.")
    allowed = within(answers, request.level)
    if not allowed:
        raise PolicyError(
            f"every instance of {request.scenario} has a stricter level than {request.level}; a "
            "link opens such text only with --levels, and only where the policy allows it."
        )
    # Instances that most models answered come first, so that models are compared on the same ones.
    drawn = sorted(in_drawn_order(allowed), key=lambda each: -len(allowed[each]))[: request.items]
    secret = pseudonym_key(key_file, workspace.location)
    names = {pseudonym(name, secret): name for name in request.raters}
    if len(names) < len(request.raters):
        raise ConfigError("--rater: a rater is named twice; name each once.")
    shares = assigned(drawn, names, request.raters_per_item or len(names))
    links, rows = [], []
    for rater, name in names.items():
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        row = _row(request, rater, token, criteria, shares[rater])
        rows.append(row)
        links.append(
            PersonalLink(
                rater=name,
                link=f"{address.rstrip('/')}/?{urlencode({PARAMETER: token})}",
                invitation_id=row.invitation_id,
                num_items=len(row.instance_ids),
                ends_at=row.ends_at,
            )
        )
    workspace.context("").lake.append_rows("rating_invitations", rows, secrets.token_hex(16))
    return PersonalLinks(
        links=tuple(links), num_items=len(drawn), num_too_strict=len(answers) - len(allowed)
    )


def revoke(workspace: Workspace, invitation_id: str) -> Invitation:
    """End an invitation; a revoked invitation stays as it is.

    Raises:
        UnknownNameError: the lake has no such invitation.
    """
    invitations = {row.invitation_id: row for row in all_invitations(workspace.reader)}
    check_known("invitation", invitation_id, invitations)
    row = invitations[invitation_id]
    if row.revoked_at is not None:
        return row
    revoked = replace(row, revoked_by=this_user(), revoked_at=now([row.invited_at]))
    lake = workspace.context("").lake
    lake.append_rows("rating_invitations", [revoked], secrets.token_hex(16))
    return revoked


def _row(
    request: InvitationRequest,
    rater: str,
    token: str,
    criteria: tuple[RatedCriterion, ...],
    instances: tuple[str, ...],
) -> Invitation:
    at = now()
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    return Invitation(
        invitation_id=f"invitation-{secrets.token_hex(4)}",
        token_hash=hash_of(token),
        rater=rater,
        suite=request.suite,
        scenario_name=request.scenario,
        criteria=criteria,
        instance_ids=instances,
        highest_level=request.level,
        ends_at=midnight + timedelta(days=request.days + 1),
        invited_by=this_user(),
        invited_at=at,
    )


def _check(workspace: Workspace, request: InvitationRequest) -> None:
    """Refuse what is not allowed before anything is read."""
    numbers = {
        "items": (request.items, None),
        "raters_per_item": (request.raters_per_item, None),
        "days": (request.days, MOST_DAYS),
    }
    for name, (number, most) in numbers.items():
        if number is not None and (number < 1 or (most and number > most)):
            limit = f" to {most}" if most else " on"
            raise ConfigError(f"{name} is {number}; allowed: a whole number from 1{limit}.")
    if not request.raters or not all(name.strip() for name in request.raters):
        raise ConfigError("--rater missing or empty: name each rater.")
    _refuse_level(workspace.registry.policy, request.level)
    if not Location.of(workspace.location).is_folder:
        raise ConfigError(
            f"{workspace.location}: answers are rated in the dashboard where the lake is a folder "
            "of the machine that serves the dashboard; elsewhere store ratings by `ratings import`."
        )


def _refuse_level(policy: Policy, level: AccessLevel) -> None:
    highest = policy.rating_links.highest_level
    if level.strictness > highest.strictness:
        raise PolicyError(
            f"raters' links may open text of level {highest} at most (rating_links.highest_level "
            f"of {policy.label}); received {level}."
        )


def _criteria(
    workspace: Workspace, specs: Sequence[RunSpec], request: InvitationRequest
) -> tuple[RatedCriterion, ...]:
    """The criteria that were named on one scale, else those of the judges' rubrics."""
    own = rubrics_behind(workspace.reader, workspace.registry.rubrics, specs)
    if request.criteria or request.scale:
        if not (request.criteria and request.scale):
            raise ConfigError("--criteria and --scale are given together, or neither.")
        refuse_other_scale(own, request.criteria, request.scale)
        return of_scale(request.criteria, request.scale)
    found = of_rubrics(own)
    if not found:
        raise ConfigError(
            f"{request.scenario}: no rubric of its judges has criteria; name them, as --criteria "
            "accuracy clarity --scale 1-5."
        )
    return found
