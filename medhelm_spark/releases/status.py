"""A release's status, changed on record: who, when, and for which manifest."""

from medhelm_spark.domain.release import ReleaseChange, ReleaseStatus, check_transition
from medhelm_spark.domain.sign_off import Person, ReleasePeople, SignOff, refuse_involved
from medhelm_spark.domain.stages import CHANGE_STATUS
from medhelm_spark.errors import ReleaseError
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.releases.identity import Signer
from medhelm_spark.releases.pinned import StoredRelease, stored_releases
from medhelm_spark.stages.context import Context, now


def check_change(
    release: StoredRelease, to: ReleaseStatus, person: Person, people: ReleasePeople | None = None
) -> None:
    """Refuse a status that does not follow, or that this person may not give.

    Raises:
        ReleaseError: It says what is allowed, what the person did with the release, or that no
            record says who made it.
    """
    check_transition(release.name, release.state.status, to)
    if to is not ReleaseStatus.WITHDRAWN and release.manifest is None:
        raise ReleaseError(
            f"release {release.name!r} was made by an earlier version: no record says who made it, "
            "and it has no rows of its own; pin it anew by `publish --suites`."
        )
    people = people or ReleasePeople()
    if not people.may(person, to):
        by = f" ({person.identified_by})" if person.is_verified else ""
        raise ReleaseError(
            f"release {release.name!r}: the policy lets {', '.join(sorted(people.names(to)))} do "
            f"this (release.people), and {person.name!r}{by} is "
            f"{'not listed for it' if person.is_verified else 'the name of a system user alone'}."
        )
    if to is ReleaseStatus.APPROVED and person.is_verified:
        _refuse_own(release, person)
    elif to is ReleaseStatus.APPROVED:
        refuse_involved(release.name, person.name, involved_in(release))
    approval = release.state.approval
    if to is ReleaseStatus.PUBLISHED and approval and not people.may_have_given(approval):
        raise ReleaseError(
            f"release {release.name!r} was approved by {approval.who}; the policy lets "
            f"{', '.join(sorted(people.names(ReleaseStatus.APPROVED)))} do this (release.people); "
            "pin it anew for another review."
        )
    if to is ReleaseStatus.PUBLISHED and approval and approval.is_expired(now()):
        raise ReleaseError(
            f"release {release.name!r}: its approval ended at {approval.end}; pin it anew for "
            "another review."
        )


def _refuse_own(release: StoredRelease, person: Person) -> None:
    """Refuse a verified approver who submitted it, or whose submitter is not verified."""
    own = [each for each in release.state.changes if each.manifest_hash == release.manifest_hash]
    submitted = [each for each in own if each.to_status is ReleaseStatus.IN_REVIEW][-1]
    if not submitted.is_verified:
        raise ReleaseError(
            f"release {release.name!r} was submitted by {submitted.who}, so nothing shows that its "
            "approver is somebody else; submit it again by a key, a token or on the platform."
        )
    named = {each.changed_by.casefold() for each in own if each.is_verified}
    if person.name.casefold() in named:
        raise ReleaseError(
            f"release {release.name!r}: {person.name!r} submitted it, and nobody approves a "
            "release that they submitted; somebody else has to."
        )


def involved_in(release: StoredRelease) -> dict[str, frozenset[str]]:
    """Who made a release, who ran what is in it, and who submitted it, as recorded."""
    own = [each for each in release.state.changes if each.manifest_hash == release.manifest_hash]
    submitted = {each.changed_by for each in own if each.to_status is ReleaseStatus.IN_REVIEW}
    made = {each.changed_by for each in own if each.to_status is ReleaseStatus.DRAFT}
    if release.manifest:
        made.add(release.manifest.made_by)
    return {
        "made": frozenset(made),
        "ran": frozenset(release.manifest.ran_by if release.manifest else ()),
        "submitted": frozenset(submitted),
    }


def change_status(
    ctx: Context,
    release: str,
    to: ReleaseStatus,
    stated: SignOff | None = None,
    *,
    signer: Signer | None = None,
    people: ReleasePeople | None = None,
) -> StoredRelease:
    """Append the change by the signer, else the context's user; returns the release as it is then.

    The release must be in the lake.

    Raises:
        ReleaseError: as of `check_change`.
    """
    ctx = ctx.within(CHANGE_STATUS)
    stored = _stored(ctx, release)
    stated, signer = stated or SignOff(), signer or Signer(person=Person(name=ctx.user))
    check_change(stored, to, signer.person, people)
    change = ReleaseChange(
        release=release,
        manifest_hash=stored.manifest_hash,
        from_status=stored.state.status,
        to_status=to,
        changed_by=signer.person.name,
        changed_at=now(each.changed_at for each in stored.state.changes),
        note=stated.note.strip(),
        conditions=stated.conditions or None,
        expires_at=stated.expires_at,
        owner=stated.owner.strip() or None,
        monitoring=stated.monitoring or None,
    )
    change = signer.signed(change)
    ctx.lake.append_rows("release_changes", [change], new_write_id())
    ctx.say(f"release: {release!r} is {change}")
    return _stored(ctx, release)


def _stored(ctx: Context, release: str) -> StoredRelease:
    return next(each for each in stored_releases(ctx.lake) if each.name == release)
