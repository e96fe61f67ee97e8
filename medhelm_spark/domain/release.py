"""A release's life: its statuses, what may follow what, and who changed it.

A release is what its manifest lists. A manifest has a status, a name never: for another manifest
of the name, the status of the one before is void.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from medhelm_spark.errors import ReleaseError


class ReleaseStatus(StrEnum):
    """The status of a release. EXTERNAL: its numbers were made elsewhere and imported."""

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
review may be submitted by another person too, who may then not be the approver."""

COMMANDS: Mapping[ReleaseStatus, str] = {
    ReleaseStatus.DRAFT: "publish --suites",
    ReleaseStatus.IN_REVIEW: "submit",
    ReleaseStatus.APPROVED: "approve",
    ReleaseStatus.PUBLISHED: "publish",
    ReleaseStatus.WITHDRAWN: "withdraw",
    ReleaseStatus.EXTERNAL: "import-helm",
}
"""What a person types to give a release a status."""

REVIEWED = (ReleaseStatus.IN_REVIEW, ReleaseStatus.APPROVED, ReleaseStatus.PUBLISHED)
"""The statuses that are void once the manifest is another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseManifest:
    """Row of `release_manifests`: what a release froze beside its runs, which are in `releases`.

    `suites` are in the order of the command: a run in several counts as the last one's.
    `lacking` are runs of these suites without a summary; the release leaves them out. `made_by`
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
    """Row of `release_changes`: a status that a manifest of a release got, from whom and when.

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
    """The status of a release now, and the changes that led to it, oldest first.

    `void` says which status no longer counts and why, empty where none was lost.
    """

    status: ReleaseStatus
    changes: tuple[ReleaseChange, ...] = ()
    void: str = ""

    @property
    def approval(self) -> ReleaseChange | None:
        """The approval that the status rests on; None where there is none."""
        if self.status not in (ReleaseStatus.APPROVED, ReleaseStatus.PUBLISHED):
            return None
        approvals = [each for each in self.changes if each.to_status is ReleaseStatus.APPROVED]
        return approvals[-1] if approvals else None

    @property
    def reason(self) -> str:
        """Why it was withdrawn; empty where it was not."""
        last = self.changes[-1] if self.changes else None
        return last.note if last and self.status is ReleaseStatus.WITHDRAWN else ""


def state_of(
    start: ReleaseStatus, manifest_hash: str, changes: Iterable[ReleaseChange]
) -> ReleaseState:
    """The state of a release whose newest manifest has this hash and began as `start`.

    `changes` are all on record, in any order. A change that is not in the table of transitions
    has no effect. A withdrawal applies to every later manifest too.
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
