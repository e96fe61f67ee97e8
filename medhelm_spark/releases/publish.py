"""publish: freeze the current stats of some suites as a draft release, with copies of its own."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.release import (
    ReleaseChange,
    ReleaseManifest,
    ReleaseStatus,
    check_transition,
)
from medhelm_spark.domain.run import RunRecord, SuiteRun
from medhelm_spark.domain.stages import (
    ANNOTATE,
    ASSIGN_GROUPS,
    INGEST,
    PLAN,
    PLAN_JUDGES,
    PUBLISH,
    SCORE,
    SUMMARIZE,
    SUMMARIZE_GROUPS,
    Stage,
)
from medhelm_spark.errors import LakeError
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.releases.copies import with_copies, write_copies
from medhelm_spark.releases.manifest import as_made_before, manifest_of
from medhelm_spark.releases.pinned import ReleaseRows, StoredRelease, read_release, stored_releases
from medhelm_spark.releases.recomputed import refuse_unfounded
from medhelm_spark.releases.tables import ReleaseMember
from medhelm_spark.releases.value_hash import manifest_hash
from medhelm_spark.releases.values import (
    OF_REQUESTS,
    ValuePin,
    by_member,
    data_versions,
    row_hashes,
)
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.plan.run_specs import suite_runs


def publish(
    ctx: Context,
    release: str,
    suites: Sequence[str],
    *,
    policy: Policy,
    schema_hash: str = "",
    status: ReleaseStatus = ReleaseStatus.DRAFT,
    names: Collection[str] | None = None,
) -> str:
    """Make or replace a draft release; returns its manifest hash.

    The manifest covers the values of every row behind the numbers, from instances to stats, and
    stats and scores are copied, so that the release stays as it is whatever becomes of the suite.
    A run present in two suites counts once: of the suite named last, as in MedHELM. The rows of
    a draft that is replaced stay in `releases`.

    Args:
        ctx: the lake.
        release: its name.
        suites: whose current runs it contains.
        policy: the one in force, which the manifest names.
        schema_hash: the content id of HELM's schema file that its board is shown by.
        status: what it begins as: a draft, or external where its results were imported.
        names: of which runs (None: all).

    Raises:
        IntegrityError: Stats are not what the scores behind them give; it names the runs.
        ReleaseError: The release is published, withdrawn or external, and changes no more.
    """
    ctx = ctx.within(PUBLISH)
    existing = {each.name: each for each in stored_releases(ctx.lake)}.get(release)
    if existing:
        check_transition(release, existing.state.status, status)
    suite_rows = (row for suite in suites for row in suite_runs(ctx, [suite]))
    runs = {row.name: row for row in suite_rows if names is None or row.name in names}
    done = ctx.finished(SUMMARIZE, [row.run_spec_id for row in runs.values()])
    pinned = [row for _, row in sorted(runs.items()) if row.run_spec_id in done]
    if not pinned:
        raise LakeError(f"release {release!r}: suites {list(suites)} have no summarised run yet.")
    at = now([existing.members[0].created_at] if existing else [])
    rows, scores = _frozen(ctx, [_member(release, status, row, done, at) for row in pinned])
    manifest = manifest_of(
        ctx,
        rows,
        at,
        suites=suites,
        lacking=sorted(set(runs) - {row.name for row in pinned}),
        policy=policy,
        schema_hash=schema_hash,
    )
    if existing and _is_alike(existing, rows.members, manifest):
        hashed, status = existing.manifest_hash, existing.state.status
    else:
        write_copies(ctx, rows, scores)
        hashed = manifest_hash(rows.members, manifest)
        members = [replace(row, manifest_hash=hashed) for row in rows.members]
        _write(ctx, members, manifest, existing, status)
    size = counted(len(pinned), "run")
    ctx.say(f"publish: release {release!r} is {status}: {size}, manifest {hashed[:12]}")
    if status is ReleaseStatus.DRAFT:
        ctx.say(f"publish: `medhelm-spark release submit {release}` puts it in review")
    return hashed


def _frozen(
    ctx: Context, members: Sequence[ReleaseMember]
) -> tuple[ReleaseRows, Sequence[ValuePin]]:
    """The rows of these members, pinned and hashed, and the writes of their scores."""
    release, rows = members[0].release, read_release(ctx.lake, members)
    refuse_unfounded(ctx, release, rows)
    versions = data_versions(rows)
    pins = _pins(ctx, members, versions)
    with ctx.metered("publish: rows hashed") as watch:
        hashes = row_hashes(ctx.lake, pins, watch)
    for table in OF_REQUESTS:
        pins[table] = [
            ValuePin(unit=unit, write_id=write_id)
            for unit, hashed in hashes[table].items()
            for write_id in hashed.writes
        ]
    pinned = [replace(member, writes=_writes(member, versions, pins)) for member in members]
    rows = read_release(ctx.lake, pinned)
    of_rows = by_member(rows, hashes)
    hashed = [
        replace(member, value_hashes={**rows.hashes(member), **of_rows[member.run_spec_id]})
        for member in rows.members
    ]
    members = with_copies(release, hashed)
    return replace(rows, members=tuple(members)), pins["per_instance_stats"]


def _write(
    ctx: Context,
    members: Sequence[ReleaseMember],
    manifest: ReleaseManifest,
    existing: StoredRelease | None,
    status: ReleaseStatus,
) -> None:
    """Commit the rows of a release; from those of `releases` on it is the current one."""
    write_id = new_write_id()
    ctx.lake.append_rows("release_manifests", [manifest], write_id)
    ctx.lake.append_rows("releases", members, write_id)
    change = ReleaseChange(
        release=manifest.release,
        manifest_hash=members[0].manifest_hash,
        from_status=existing.state.status if existing else status,
        to_status=status,
        changed_by=ctx.user,
        changed_at=now(each.changed_at for each in existing.state.changes) if existing else now(),
        note=f"pinned anew, in place of manifest {existing.manifest_hash[:12]}" if existing else "",
    )
    ctx.lake.append_rows("release_changes", [change], write_id)
    if not existing:
        return
    ctx.say(
        f"publish: it replaces the manifest {existing.manifest_hash} of "
        f"{existing.members[0].created_at:%Y-%m-%d %H:%M} UTC, whose rows stay in releases"
    )
    if existing.state.status is not ReleaseStatus.DRAFT:
        ctx.say(f"publish: it was {existing.state.status}, which is void: it is a draft again")


def _member(
    release: str,
    status: ReleaseStatus,
    row: SuiteRun,
    done: Mapping[str, RunRecord],
    at: datetime,
) -> ReleaseMember:
    return ReleaseMember(
        release=release,
        status=status.value,
        suite=row.suite,
        name=row.name,
        run_spec_id=row.run_spec_id,
        stats_write_id=done[row.run_spec_id].write_id,
        created_at=at,
        manifest_hash="",
    )


def _is_alike(
    existing: StoredRelease, members: Sequence[ReleaseMember], manifest: ReleaseManifest
) -> bool:
    """Whether these rows make the same release again, but for when and how it was made."""
    if existing.manifest is None:
        return False
    again = [replace(member, created_at=existing.manifest.created_at) for member in members]
    return (
        manifest_hash(again, as_made_before(manifest, existing.manifest)) == existing.manifest_hash
    )


def _pins(
    ctx: Context, members: Sequence[ReleaseMember], versions: Mapping[str, str]
) -> dict[str, list[ValuePin]]:
    """The current writes of the members' rows, of each table whose writes are on record."""
    units = [member.run_spec_id for member in members]

    def pins_of(names: Iterable[str], *stages: Stage) -> list[ValuePin]:
        finished = [ctx.finished(stage, names) for stage in stages]
        return [
            ValuePin(unit=unit, write_id=record.write_id)
            for records in finished
            for unit, record in records.items()
        ]

    data = pins_of(sorted(set(versions.values())), INGEST)
    pins = {
        "requests": pins_of(units, PLAN, PLAN_JUDGES),
        "annotations": pins_of(units, ANNOTATE),
        "per_instance_stats": pins_of(units, SCORE),
        "instances": data,
        "scenarios": data,
    }
    by_group = {
        "stats_by_group": pins_of(units, SUMMARIZE_GROUPS),
        "instance_groups": pins_of(sorted(set(versions.values())), ASSIGN_GROUPS),
    }
    return pins | {table: found for table, found in by_group.items() if found}


def _writes(
    member: ReleaseMember, versions: Mapping[str, str], pins: Mapping[str, Sequence[ValuePin]]
) -> dict[str, str]:
    own = {member.run_spec_id, versions.get(member.run_spec_id)}
    return {
        table: " ".join(sorted({pin.write_id for pin in of_table if pin.unit in own}))
        for table, of_table in pins.items()
    }
