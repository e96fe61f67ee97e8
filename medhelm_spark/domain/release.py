"""A release's life: its statuses, what may follow what, who changed it, and what is required of it.

A release is what its manifest says. A status is given to a manifest, never to a name: where the
manifest is another one, what was said of the one before is void.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from enum import StrEnum

from medhelm_spark.domain.ids import LATER
from medhelm_spark.domain.pluralize import first_of
from medhelm_spark.errors import GateError, ReleaseError
from medhelm_spark.namespaces import MARK


class ReleaseStatus(StrEnum):
    """Where a release stands. EXTERNAL: its numbers were made elsewhere and imported."""

    DRAFT = "draft"
    IN_REVIEW = "in review"
    APPROVED = "approved"
    PUBLISHED = "published"
    WITHDRAWN = "withdrawn"
    EXTERNAL = "external"


TRANSITIONS: Mapping[ReleaseStatus, tuple[ReleaseStatus, ...]] = {
    ReleaseStatus.DRAFT: (ReleaseStatus.DRAFT, ReleaseStatus.IN_REVIEW, ReleaseStatus.WITHDRAWN),
    ReleaseStatus.IN_REVIEW: (
        ReleaseStatus.DRAFT,
        ReleaseStatus.IN_REVIEW,
        ReleaseStatus.APPROVED,
        ReleaseStatus.WITHDRAWN,
    ),
    ReleaseStatus.APPROVED: (
        ReleaseStatus.DRAFT,
        ReleaseStatus.PUBLISHED,
        ReleaseStatus.WITHDRAWN,
    ),
    ReleaseStatus.PUBLISHED: (ReleaseStatus.WITHDRAWN,),
    ReleaseStatus.WITHDRAWN: (),
    ReleaseStatus.EXTERNAL: (ReleaseStatus.EXTERNAL, ReleaseStatus.WITHDRAWN),
}
"""What a release of each status may become; to become a draft is to be pinned anew. What is in
review may be submitted by another person too, whom the approver is then told apart from."""

COMMANDS: Mapping[ReleaseStatus, str] = {
    ReleaseStatus.DRAFT: "publish --suites",
    ReleaseStatus.IN_REVIEW: "submit",
    ReleaseStatus.APPROVED: "approve",
    ReleaseStatus.PUBLISHED: "publish",
    ReleaseStatus.WITHDRAWN: "withdraw",
    ReleaseStatus.EXTERNAL: "import-helm",
}
"""What a person types to give a release a status."""

HANDED_IN = ("made", "submitted")
"""What a person does with a release of their own will; jobs in containers run what is in it."""

REVIEWED = (ReleaseStatus.IN_REVIEW, ReleaseStatus.APPROVED, ReleaseStatus.PUBLISHED)
"""The statuses that are void once the manifest is another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseManifest:
    """Row of `release_manifests`: what a release froze beside its runs, which stand in `releases`.

    `suites` are in the order in which they were given: a run in several counts as the last one's.
    `lacking` are runs of these suites without a summary, which the release does not hold. `made_by`
    and `ran_by` are users of the operating system, who made the release and who ran what is in it;
    `num_unnamed` counts the records behind it that name nobody. `schema_hash` is the content id of
    HELM's schema file, empty without one; `taxonomy` gives category and subcategory by scenario,
    `judges` the rubric and judges by run, `delta_versions` the version of each table that was read.
    `stage_versions` are those of the stages that made its numbers from the answers; None in
    releases of earlier versions.
    """

    release: str
    created_at: datetime
    suites: tuple[str, ...]
    lacking: tuple[str, ...]
    made_by: str
    ran_by: tuple[str, ...]
    num_unnamed: int
    schema_hash: str
    taxonomy: Mapping[str, str]
    judges: Mapping[str, str]
    policy_version: str
    policy: str
    delta_versions: Mapping[str, int]
    code_version: str
    lake_schema_version: int
    stage_versions: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseChange:
    """Row of `release_changes`: a status that a manifest of a release was given, by whom and when.

    `changed_by` is the operating system's user; while `is_verified` is false nobody has checked
    who that is. `note` is what the person wrote with it, of a withdrawal the reason. What follows
    is of approvals, and None in older rows.
    """

    release: str
    manifest_hash: str
    from_status: ReleaseStatus
    to_status: ReleaseStatus
    changed_by: str
    changed_at: datetime
    note: str = ""
    is_verified: bool = False
    identified_by: str | None = None
    """What names the person: a key, an issuer of OpenID Connect, the platform; None: nothing."""
    conditions: tuple[str, ...] | None = None
    """What the approval depends on, in the approver's words."""
    expires_at: datetime | None = None
    """When the approval ends; None: it does not."""
    owner: str | None = None
    """Who answers for the model in use."""
    monitoring: Mapping[str, str] | None = None
    """What `release watch` looks at, by the names in `MONITORED`."""
    key: str | None = None
    """The person's public key, where a key names them."""
    signature: str | None = None
    """The person's signature of this row without the signature."""

    @property
    def who(self) -> str:
        """The name, marked where nobody has checked it.

        >>> at = datetime(2026, 1, 1)
        >>> ReleaseChange(release="r", manifest_hash="", from_status=ReleaseStatus.DRAFT,
        ...               to_status=ReleaseStatus.IN_REVIEW, changed_by="ada", changed_at=at).who
        'ada (unverified)'
        """
        by = f" ({self.identified_by})" if self.identified_by else ""
        return f"{self.changed_by}{by}" if self.is_verified else f"{self.changed_by} (unverified)"

    @property
    def end(self) -> str:
        """When the approval ends, as text; empty where it does not."""
        return f"{self.expires_at:%Y-%m-%d %H:%M} UTC" if self.expires_at else ""

    def is_expired(self, at: datetime) -> bool:
        """Whether the approval has ended by then."""
        return self.expires_at is not None and self.expires_at <= at

    @property
    def step(self) -> str:
        """The status, who gave it and when, without the note."""
        return f"{self.to_status} by {self.who} at {self.changed_at:%Y-%m-%d %H:%M} UTC"

    def __str__(self) -> str:
        return f"{self.step}: {self.note}" if self.note else self.step


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseState:
    """Where a release stands now, and the changes that led there, oldest first.

    `void` says which status no longer holds and why, empty where none was lost.
    """

    status: ReleaseStatus
    changes: tuple[ReleaseChange, ...] = ()
    void: str = ""

    @property
    def approval(self) -> ReleaseChange | None:
        """The approval that the status rests on; None where there is none."""
        if self.status not in (ReleaseStatus.APPROVED, ReleaseStatus.PUBLISHED):
            return None
        given = [each for each in self.changes if each.to_status is ReleaseStatus.APPROVED]
        return given[-1] if given else None

    @property
    def reason(self) -> str:
        """Why it was withdrawn; empty where it was not."""
        last = self.changes[-1] if self.changes else None
        return last.note if last and self.status is ReleaseStatus.WITHDRAWN else ""


def state_of(
    start: ReleaseStatus, manifest_hash: str, changes: Iterable[ReleaseChange]
) -> ReleaseState:
    """The state of a release whose newest manifest has this hash and began as `start`.

    `changes` are all on record, in any order. A change that the table of transitions does not know
    has no effect. A withdrawal holds for every later manifest too.
    """
    status, followed, earlier = start, [], None
    for change in sorted(changes, key=lambda change: change.changed_at):
        if change.manifest_hash != manifest_hash:
            if change.to_status is ReleaseStatus.WITHDRAWN:
                status = ReleaseStatus.WITHDRAWN
            earlier = change if change.to_status in REVIEWED else None
        elif change.to_status not in TRANSITIONS[status]:
            continue
        else:
            status = change.to_status
        followed.append(change)
    return ReleaseState(
        status=status,
        changes=tuple(followed),
        void=_void(earlier, manifest_hash) if earlier else "",
    )


def _void(earlier: ReleaseChange, manifest_hash: str) -> str:
    return (
        f"{earlier.to_status} by {earlier.who} at {earlier.changed_at:%Y-%m-%d %H:%M} UTC is void: "
        f"that was manifest {earlier.manifest_hash[:12]}, and the release was pinned anew as "
        f"{manifest_hash[:12]}"
    )


def check_transition(release: str, status: ReleaseStatus, to: ReleaseStatus) -> None:
    """Refuse a status that does not follow from the present one.

    Raises:
        ReleaseError: names what is allowed.
    """
    if to in TRANSITIONS[status]:
        return
    allowed = [COMMANDS[each] for each in TRANSITIONS[status]]
    raise ReleaseError(
        f"release {release!r} is {status}, so `{COMMANDS[to]}` does not apply to it; allowed: "
        f"{', '.join(allowed) or 'nothing: make a release of another name'}."
    )


def refuse_involved(release: str, approver: str, involved: Mapping[str, Iterable[str]]) -> None:
    """Refuse an approver who had a hand in the release.

    Args:
        release: its name.
        approver: who is about to approve it.
        involved: what a person did with the release ("made"), with the names of who did it.

    Raises:
        ReleaseError: the names are compared as recorded, whatever their case. A name of a user
            namespace may be anybody's: who has one does not approve, and nobody approves what one
            made or submitted.
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
            "approve it; somebody else has to. Two people with one system user are told apart by "
            "keys or tokens (release.people of the policy)."
        )


def _plain(name: str) -> str:
    return name.removesuffix(MARK).strip().casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRequirements:
    """What a policy requires of a release before it is approved or published.

    What is False or None is not required. `every_run`: all runs of its suites are summarised, none
    was left out. `every_answer`: no request is without an answer. `coverage_floor`: the policy's
    `comparison.coverage_floor` of each run's answers has a score. `judge_coverage` is the least
    share of verdicts that can be used, `min_instances` the least number of scored instances of a
    run, `max_interval_width` the widest 95 % interval, in units of the metric.
    """

    every_run: bool = False
    every_answer: bool = False
    coverage_floor: bool = False
    judge_coverage: float | None = None
    validated_judges: bool = False
    provenance: bool = False
    comparable: bool = False
    min_instances: int | None = None
    max_interval_width: float | None = None
    reviewed_levels: bool = False
    redaction_scan: bool = False
    no_demo_juries: bool = field(default=False, metadata=LATER)
    """No run is judged by a deployment for demos alone."""
    complete_models: bool = field(default=False, metadata=LATER)
    """Every model has a mean on every benchmark that models are ranked on."""
    verified_people: bool = field(default=False, metadata=LATER)
    """Who submits and who approves is named by the platform, an issuer or a key."""
    approval_note: bool = field(default=False, metadata=LATER)
    approval_owner: bool = field(default=False, metadata=LATER)
    approval_monitoring: bool = field(default=False, metadata=LATER)
    approval_days: int | None = field(default=None, metadata=LATER)
    """An approval ends after so many days at the latest."""

    @property
    def required(self) -> Mapping[str, bool | int | float]:
        """What is required, by name, in the order in which it is checked."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value
            for name, value in values.items()
            if value is not None and value is not False
        }


STEPS: Mapping[str, ReleaseStatus] = {
    "submit": ReleaseStatus.IN_REVIEW,
    "approve": ReleaseStatus.APPROVED,
    "publish": ReleaseStatus.PUBLISHED,
    "withdraw": ReleaseStatus.WITHDRAWN,
}
"""The steps that a policy lets people take."""

MONITORED = ("margin", "answers_margin", "sample", "days")
"""What a monitoring plan says: options of `release watch`, and in how many days it is due again."""


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

    def may(self, name: str, to: ReleaseStatus) -> bool:
        """Whether a person may take the step: the listed ones where somebody is listed for it."""
        allowed = self.names(to)
        return not allowed or name in allowed

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

    @property
    def is_verified(self) -> bool:
        """Whether somebody else than the process says who it is."""
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
        """What a policy asks of an approval and this one does not say."""
        wanted = {
            "a note (--note)": required.approval_note and not self.note.strip(),
            "who answers for the model (--owner)": required.approval_owner
            and not self.owner.strip(),
            "a monitoring plan (--margin and --every)": required.approval_monitoring
            and not {"margin", "days"} <= self.monitoring.keys(),
        }
        if days := required.approval_days:
            latest = at + timedelta(days=days)
            is_late = self.expires_at is None or self.expires_at > latest
            wanted[f"an end (--until), {latest:%Y-%m-%d} at the latest"] = is_late
        return [what for what, is_lacking in wanted.items() if is_lacking]


def stated_in(change: ReleaseChange) -> SignOff:
    """What a person stated with a status."""
    return SignOff(
        note=change.note,
        conditions=change.conditions or (),
        expires_at=change.expires_at,
        owner=change.owner or "",
        monitoring=change.monitoring or {},
    )


class GateOutcome(StrEnum):
    """What a check of a release came to. UNCHECKED: the lake does not say enough to tell."""

    PASSED = "passed"
    FAILED = "failed"
    UNCHECKED = "cannot be checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one requirement came to, for one run or (no name) for the release."""

    requirement: str
    outcome: GateOutcome
    run: str = ""
    reason: str = ""

    def __str__(self) -> str:
        of = f" of {self.run}" if self.run else ""
        why = f": {self.reason}" if self.reason else ""
        return f"{self.requirement}{of} {self.outcome}{why}"


def blocking(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """What keeps a release from being approved: what failed and what nobody can tell."""
    return tuple(each for each in findings if each.outcome is not GateOutcome.PASSED)


def refuse_blocked(release: str, what: str, findings: Sequence[Finding]) -> None:
    """Refuse a step of a release that lacks something required.

    Raises:
        GateError: names what is lacking.
    """
    if lacking := blocking(findings):
        raise GateError(
            f"release {release!r} is not {what}: {first_of([str(each) for each in lacking], 4)}. "
            f"`medhelm-spark release gate {release}` lists all."
        )
