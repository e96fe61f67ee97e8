"""Releases from draft to withdrawal: what is shown, what is required, who takes which step."""

from pathlib import Path

from medhelm_spark import features
from medhelm_spark.board import BoardSource, Kind, load_runs
from medhelm_spark.domain.moments import now
from medhelm_spark.domain.release import ReleaseStatus, check_transition
from medhelm_spark.domain.release_requirements import ReleaseRequirements, refuse_blocked
from medhelm_spark.domain.sign_off import Person, SignOff, stated_in
from medhelm_spark.errors import ConfigError, GateError, ReleaseError
from medhelm_spark.pipeline.in_process import is_own_machine
from medhelm_spark.releases.anchors import add_anchor, anchor_file
from medhelm_spark.releases.differences import behind, release_differences
from medhelm_spark.releases.gate import gate_of
from medhelm_spark.releases.identity import signer_of, wrong_signatures
from medhelm_spark.releases.pinned import (
    StoredRelease,
    changes_of,
    read_release,
    refuse_changed,
    stored_releases,
)
from medhelm_spark.releases.results import Gate, ReleaseComparison, ReleaseRecord, Releases
from medhelm_spark.releases.source import release_of
from medhelm_spark.releases.status import change_status, check_change
from medhelm_spark.stages.context import Context
from medhelm_spark.workspace.workspace import Workspace

GATED = (ReleaseStatus.APPROVED, ReleaseStatus.PUBLISHED)
"""The statuses that a release gets only if it meets the policy's requirements."""


def releases_of(workspace: Workspace) -> Releases:
    """The releases of the lake, the newest first."""
    return Releases(tuple(stored_releases(workspace.reader)))


def release_record(workspace: Workspace, release: str) -> ReleaseRecord:
    """One release with all its records, and which of its values were changed since."""
    stored = release_of(workspace.reader, release)
    return _record(workspace, stored)


def _record(workspace: Workspace, release: StoredRelease) -> ReleaseRecord:
    rows = read_release(workspace.reader, release.members)
    return ReleaseRecord(
        release=release,
        frozen=rows,
        requirements=workspace.registry.policy.release.required,
        changed=tuple(map(str, rows.changes())),
    )


def gate(workspace: Workspace, release: str) -> Gate:
    """What each requirement of the policy comes to.

    Raises:
        ReleaseError: The release was made elsewhere.
        IntegrityError: A value behind its board was changed, or a status is not by whom it names.
    """
    return _gate(workspace, release_of(workspace.reader, release))


def _gate(workspace: Workspace, release: StoredRelease) -> Gate:
    if release.state.status is ReleaseStatus.EXTERNAL:
        raise ReleaseError(
            f"release {release.name!r} is external: its numbers were made elsewhere, and the gate "
            "checks what this lake has on record of its own runs."
        )
    policy, statuses = workspace.registry.policy, changes_of(workspace.reader, release.name)
    wrong = wrong_signatures(statuses, policy.people, release.manifest_hash)
    refuse_changed(release.name, read_release(workspace.reader, release.members), wrong)
    findings = gate_of(workspace.reader, release, policy)
    return Gate(release=release.name, findings=findings)


def take_step(
    workspace: Workspace,
    release: str,
    to: ReleaseStatus,
    stated: SignOff,
    key: str | Path | None = None,
) -> ReleaseRecord:
    """Give a release another status by who takes the step (`identity`), where that is allowed.

    Raises:
        ReleaseError: The status does not follow, or this person may not give it.
        GateError: The release lacks what the policy requires.
        IntegrityError: A value behind its board was changed, or a status is not by whom it names.
    """
    if to is ReleaseStatus.WITHDRAWN and not stated.note.strip():
        raise ConfigError(f"release {release!r}: withdrawing it needs a reason (--reason TEXT).")
    stored = release_of(workspace.reader, release)
    ctx = workspace.context("", is_in_process=is_own_machine(workspace))
    signer, policy = signer_of(workspace, key), workspace.registry.policy
    chained = features.part("provenance", "chained")
    pending = chained.pending(workspace, stored, to, signer) if chained else None
    # Who wrote the row of a status into the table may take the step no more than who did not.
    before, stated = (stored.without(pending), stated_in(pending)) if pending else (stored, stated)
    check_change(before, to, signer.person, policy.people)
    _refuse_unstated(release, to, stated, signer.person, policy.release)
    if to in GATED:
        refuse_blocked(release, str(to), _gate(workspace, before).findings)
    if pending:
        ctx.say(f"release: {release!r} is {to} already; its record is written now")
    else:
        stored = change_status(ctx, release, to, stated, signer=signer, people=policy.people)
    keep(workspace, ctx, stored)
    return _record(workspace, stored)


def _refuse_unstated(
    release: str, to: ReleaseStatus, stated: SignOff, person: Person, required: ReleaseRequirements
) -> None:
    """Refuse a step that lacks what the policy requires, or whose person nobody has verified."""
    is_reviewed = to in (ReleaseStatus.IN_REVIEW, ReleaseStatus.APPROVED)
    if required.verified_people and is_reviewed and not person.is_verified:
        raise GateError(
            f"release {release!r}: {person.name!r} is the operating system's user, whom nobody has "
            "checked, and the policy requires verified_people; allowed: a key (--key), a token "
            "(setting identity_token), or the platform's user."
        )
    if to is ReleaseStatus.APPROVED and (lacking := stated.lacks(required, now())):
        raise GateError(
            f"release {release!r} is not approved: the policy asks of an approval: "
            f"{'; '.join(lacking)}."
        )


def check_recordable(workspace: Workspace) -> None:
    """Refuse to make a release that could not be recorded or anchored.

    Raises:
        ConfigError: a key or file that the settings name cannot be used.
        IntegrityError: the chain of provenance is broken.
    """
    anchors_of(workspace)
    if chained := features.part("provenance", "chained"):
        chained.check(workspace)


def keep(workspace: Workspace, ctx: Context, release: StoredRelease) -> None:
    """Record what a release is in its provenance, and anchor both outside the lake."""
    chained = features.part("provenance", "chained")
    anchor(workspace, ctx, release, chained.enter(workspace, ctx, release.name) if chained else "")


def anchor(workspace: Workspace, ctx: Context, release: StoredRelease, record: str) -> None:
    """Add the hashes of a release's manifest and last record to the file of anchors, if any."""
    path = anchors_of(workspace)
    name = ctx.lake.location.name
    if path and add_anchor(path, name, release.name, release.manifest_hash, record):
        ctx.say(f"release: {release.name!r} is anchored in {path}")


def anchors_of(workspace: Workspace) -> Path | None:
    """The file outside the lake that has the hashes of manifests, if the settings name one."""
    return anchor_file(workspace.settings.anchor_file, workspace.location)


def check_may_change(workspace: Workspace, release: str) -> None:
    """Refuse to pin a release anew that may not change any more.

    Raises:
        ReleaseError: It is published, withdrawn or external.
    """
    for stored in stored_releases(workspace.reader):
        if stored.name == release:
            check_transition(release, stored.state.status, ReleaseStatus.DRAFT)


def compared_releases(workspace: Workspace, first: str, second: str) -> ReleaseComparison:
    """The runs of two releases beside each other.

    Raises:
        ConfigError: Both are the same release.
        IntegrityError: A value behind the board of one was changed.
    """
    if first == second:
        raise ConfigError(f"{first!r} and {second!r} are one release; give two to compare.")
    reader = workspace.reader
    releases = [release_of(reader, name) for name in (first, second)]
    runs = [load_runs(reader, BoardSource(kind=Kind.RELEASE, name=each.name)) for each in releases]
    rows = release_differences(runs[0], runs[1], behind(releases[0]), behind(releases[1]))
    return ReleaseComparison(first=first, second=second, runs=rows)
