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
    held: StoredRelease, to: ReleaseStatus, person: Person, people: ReleasePeople | None = None
) -> None:
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
    people = people or ReleasePeople()
    if not people.may(person.name, to) or (people.names(to) and not person.is_verified):
        raise ReleaseError(
            f"release {held.name!r}: the policy lets {', '.join(sorted(people.names(to)))} do "
            f"this (release.people), and {person.name!r} is "
            f"{'not listed for it' if person.is_verified else 'the name of a system user alone'}."
        )
    if to is ReleaseStatus.APPROVED and person.is_verified:
        _refuse_own(held, person)
    elif to is ReleaseStatus.APPROVED:
        refuse_involved(held.name, person.name, involved_in(held))
    approval = held.state.approval
    if to is ReleaseStatus.PUBLISHED and approval and approval.is_expired(now()):
        raise ReleaseError(
            f"release {held.name!r}: its approval ended at {approval.end}; pin it anew for another "
            "review."
        )


def _refuse_own(held: StoredRelease, person: Person) -> None:
    """Refuse an approver who is known and submitted it, or does not know who did."""
    own = [each for each in held.state.changes if each.manifest_hash == held.manifest_hash]
    submitted = [each for each in own if each.to_status is ReleaseStatus.IN_REVIEW][-1]
    if not submitted.is_verified:
        raise ReleaseError(
            f"release {held.name!r} was submitted by {submitted.who}, and approved by a person who "
            "is known nobody is shown to be somebody else; submit it again by a key, a token or "
            "on the platform."
        )
    named = {each.changed_by.casefold() for each in own if each.is_verified}
    if person.name.casefold() in named:
        raise ReleaseError(
            f"release {held.name!r}: {person.name!r} submitted it; who does that does not approve "
            "it; somebody else has to."
        )


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

    The lake has to hold the release.

    Raises:
        ReleaseError: as of `check_change`.
    """
    ctx = ctx.within(CHANGE_STATUS)
    held = _held(ctx, release)
    stated, signer = stated or SignOff(), signer or Signer(person=Person(name=ctx.user))
    check_change(held, to, signer.person, people)
    change = ReleaseChange(
        release=release,
        manifest_hash=held.manifest_hash,
        from_status=held.state.status,
        to_status=to,
        changed_by=signer.person.name,
        changed_at=now(each.changed_at for each in held.state.changes),
        note=stated.note.strip(),
        conditions=stated.conditions or None,
        expires_at=stated.expires_at,
        owner=stated.owner.strip() or None,
        monitoring=stated.monitoring or None,
    )
    change = signer.signed(change)
    ctx.lake.append_rows("release_changes", [change], new_write_id())
    ctx.say(f"release: {release!r} is {change}")
    return _held(ctx, release)


def _held(ctx: Context, release: str) -> StoredRelease:
    return next(each for each in stored_releases(ctx.lake) if each.name == release)
