"""A release's status, changed on record: who, when, and for which manifest."""

from medhelm_spark.domain.release import (
    ReleaseChange,
    ReleaseStatus,
    check_transition,
    refuse_involved,
)
from medhelm_spark.domain.stages import CHANGE_STATUS
from medhelm_spark.errors import ReleaseError
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.releases.pinned import StoredRelease, stored_releases
from medhelm_spark.stages.context import Context, now


def check_change(held: StoredRelease, to: ReleaseStatus, user: str) -> None:
    """Refuse a status that does not follow, or that this person may not give.

    Raises:
        ReleaseError: It says what is allowed, what the person did with the release, or that nobody
            knows who made it.
    """
    check_transition(held.name, held.state.status, to)
    if to is not ReleaseStatus.WITHDRAWN and held.manifest is None:
        raise ReleaseError(
            f"release {held.name!r} was made by an earlier version, which did not record who made "
            "it nor keep rows of its own; pin it anew by `publish --suites`."
        )
    if to is ReleaseStatus.APPROVED:
        refuse_involved(held.name, user, involved_in(held))


def involved_in(held: StoredRelease) -> dict[str, frozenset[str]]:
    """Who made a release, who ran what is in it, and who submitted it, as recorded."""
    own = [each for each in held.state.changes if each.manifest_hash == held.manifest_hash]
    submitted = {each.changed_by for each in own if each.to_status is ReleaseStatus.IN_REVIEW}
    made = {each.changed_by for each in own if each.to_status is ReleaseStatus.DRAFT}
    if held.manifest:
        made.add(held.manifest.made_by)
    return {
        "made": frozenset(made),
        "ran": frozenset(held.manifest.ran_by if held.manifest else ()),
        "submitted": frozenset(submitted),
    }


def change_status(ctx: Context, release: str, to: ReleaseStatus, note: str = "") -> StoredRelease:
    """Append the change by the context's user; returns the release as it stands then.

    The lake has to hold the release.

    Raises:
        ReleaseError: as of `check_change`.
    """
    ctx = ctx.within(CHANGE_STATUS)
    held = _held(ctx, release)
    check_change(held, to, ctx.user)
    change = ReleaseChange(
        release=release,
        manifest_hash=held.manifest_hash,
        from_status=held.state.status,
        to_status=to,
        changed_by=ctx.user,
        changed_at=now(each.changed_at for each in held.state.changes),
        note=note.strip(),
    )
    ctx.lake.append_rows("release_changes", [change], new_write_id())
    ctx.say(f"release: {release!r} is {change}")
    return _held(ctx, release)


def _held(ctx: Context, release: str) -> StoredRelease:
    return next(each for each in stored_releases(ctx.lake) if each.name == release)
