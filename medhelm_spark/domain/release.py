"""A release's life: its statuses, what may follow what, who changed it, and what is required of it.

A release is what its manifest says. A status is given to a manifest, never to a name: where the
manifest is another one, what was said of the one before is void.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum

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
"""What a release of each status may become; to become a draft is to be pinned anew."""

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
    who that is. `note` is what the person wrote with it, of a withdrawal the reason.
    """

    release: str
    manifest_hash: str
    from_status: ReleaseStatus
    to_status: ReleaseStatus
    changed_by: str
    changed_at: datetime
    note: str = ""
    is_verified: bool = False

    @property
    def who(self) -> str:
        """The name, marked where nobody has checked it.

        >>> at = datetime(2026, 1, 1)
        >>> ReleaseChange(release="r", manifest_hash="", from_status=ReleaseStatus.DRAFT,
        ...               to_status=ReleaseStatus.IN_REVIEW, changed_by="ada", changed_at=at).who
        'ada (unverified)'
        """
        return self.changed_by if self.is_verified else f"{self.changed_by} (unverified)"

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
            "approve it; somebody else has to."
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
    run, `max_interval_width` the widest 95 % interval, in units of the metric. `redaction_scan` is
    known and cannot be checked by this version: where it is required nothing passes.
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

    @property
    def required(self) -> Mapping[str, bool | int | float]:
        """What is required, by name, in the order in which it is checked."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value
            for name, value in values.items()
            if value is not None and value is not False
        }


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
