"""Who may take which step of a release, and what a person states with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from medhelm_spark.domain.release import ReleaseChange, ReleaseStatus
from medhelm_spark.domain.release_requirements import ReleaseRequirements
from medhelm_spark.errors import ReleaseError
from medhelm_spark.namespaces import MARK

DATABRICKS, KERBEROS = PLATFORMS = ("Databricks", "Kerberos")
"""What names a user of a platform."""

HANDED_IN = ("made", "submitted")
"""What a person does with a release of their own will; jobs in containers run what is in it."""

MONITORED = ("margin", "answers_margin", "sample", "days")
"""The keys of a monitoring plan: options of `release watch`, and the days until it is due again."""

STEPS: Mapping[str, ReleaseStatus] = {
    "submit": ReleaseStatus.IN_REVIEW,
    "approve": ReleaseStatus.APPROVED,
    "publish": ReleaseStatus.PUBLISHED,
    "withdraw": ReleaseStatus.WITHDRAWN,
}
"""The steps that a policy lets people take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPerson:
    """A person whom a policy names, and how they are recognised: by one of the three."""

    name: str
    may: tuple[str, ...] = ("approve",)
    """The steps, of STEPS. A step for which nobody is listed is open to all."""
    key: str | None = None
    """The 32 bytes of their public Ed25519 key, as Base64."""
    subject: str | None = None
    """The subject in a token of `issuer`."""
    issuer: str | None = None
    platform: str | None = None
    """The user's name on Databricks or of Kerberos."""

    def is_named_in(self, change: ReleaseChange) -> bool:
        """Whether a status has this person's name, and was given by what names them here."""
        if self.name != change.changed_by:
            return False
        if self.key:
            return self.key == change.key
        if self.issuer:
            return self.issuer == change.identified_by
        return change.identified_by in PLATFORMS


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenIssuer:
    """An issuer of OpenID Connect whose tokens name people."""

    issuer: str
    audience: str
    """What a token has to be for."""
    keys: str
    """The file with the issuer's public keys (JWKS)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePeople:
    """Who may take which step of a release."""

    people: tuple[ListedPerson, ...] = ()
    issuers: tuple[TokenIssuer, ...] = ()

    def may(self, person: "Person", to: ReleaseStatus) -> bool:
        """Whether a person may take the step: the listed ones where somebody is listed for it.

        The name alone does not count: a subject or a user of a platform may be called as somebody
        whom the policy lists by a key.
        """
        allowed = self.names(to)
        return not allowed or (person.is_listed and person.name in allowed)

    def may_have_given(self, change: ReleaseChange) -> bool:
        """Whether whom a status names may take that step; `may` for a status on record."""
        allowed = self.names(change.to_status)
        return not allowed or (change.changed_by in allowed and self.has_named(change))

    def has_named(self, change: ReleaseChange) -> bool:
        """Whether a listed person has the name of a status, and what it says named them."""
        return any(person.is_named_in(change) for person in self.people)

    def names(self, to: ReleaseStatus) -> frozenset[str]:
        """Who is listed for a step."""
        return frozenset(
            person.name for person in self.people if to in {STEPS[step] for step in person.may}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who takes a step of a release.

    >>> Person(name="root").is_verified
    False
    """

    name: str
    identified_by: str = ""
    """What names them; empty for the operating system's user, whom nobody has checked."""
    is_listed: bool = False
    """Whether their key, subject or platform user is in the policy, whose name for it `name` is."""

    @property
    def is_verified(self) -> bool:
        """Whether somebody else than the process attests who it is."""
        return bool(self.identified_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOff:
    """What a person states with a status; all but the note is of approvals."""

    note: str = ""
    conditions: tuple[str, ...] = ()
    expires_at: datetime | None = None
    owner: str = ""
    monitoring: Mapping[str, str] = field(default_factory=dict)

    def lacks(self, required: ReleaseRequirements, at: datetime) -> Sequence[str]:
        """What a policy requires of an approval and this one does not state."""
        lacking = {
            "a note (--note)": required.approval_note and not self.note.strip(),
            "who answers for the model (--owner)": required.approval_owner
            and not self.owner.strip(),
            "a monitoring plan (--margin and --every)": required.approval_monitoring
            and not {"margin", "days"} <= self.monitoring.keys(),
        }
        if days := required.approval_days:
            latest = at + timedelta(days=days)
            is_late = self.expires_at is None or self.expires_at > latest
            lacking[f"an end (--until), {latest:%Y-%m-%d} at the latest"] = is_late
        return [what for what, is_lacking in lacking.items() if is_lacking]


def stated_in(change: ReleaseChange) -> SignOff:
    """What a person stated with a status."""
    return SignOff(
        note=change.note,
        conditions=change.conditions or (),
        expires_at=change.expires_at,
        owner=change.owner or "",
        monitoring=change.monitoring or {},
    )


def refuse_involved(release: str, approver: str, involved: Mapping[str, Iterable[str]]) -> None:
    """Refuse an approver who had a hand in the release.

    Args:
        release: its name.
        approver: who is about to approve it.
        involved: what a person did with the release ("made"), with the names of who did it.

    Raises:
        ReleaseError: the names are compared as recorded, whatever their case. A name of a user
            namespace may be anybody's: a person with one does not approve, and a release that one
            made or submitted is not approved.
    """
    unproven = [name for what in HANDED_IN for name in involved.get(what, ()) if MARK in name]
    if MARK in approver or unproven:
        who = approver if MARK in approver else unproven[0]
        raise ReleaseError(
            f"release {release!r}: {who!r} may be any user of this machine, so that nobody can be "
            "shown to be somebody else; make, submit and approve it outside a user namespace."
        )
    own = _plain(approver)
    did = [what for what, names in involved.items() if own in set(map(_plain, names))]
    if did:
        raise ReleaseError(
            f"release {release!r}: {approver!r} {' and '.join(did)} it; who does that does not "
            "approve it; somebody else has to. Two people with one system user are distinguished "
            "by keys or tokens (release.people of the policy)."
        )


def _plain(name: str) -> str:
    return name.removesuffix(MARK).strip().casefold()
