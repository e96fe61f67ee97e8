"""publish: freeze the current stats of some suites as a draft release."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum

from medhelm_spark.domain.counting import counted
from medhelm_spark.domain.run import RunRecord, SuiteRun
from medhelm_spark.domain.stages import (
    ANNOTATE,
    INGEST,
    PLAN,
    PLAN_JUDGES,
    PUBLISH,
    SCORE,
    SUMMARIZE,
    Stage,
)
from medhelm_spark.errors import LakeError
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.release import read_release
from medhelm_spark.lake.tables import ReleaseMember
from medhelm_spark.lake.value_hash import manifest_hash
from medhelm_spark.lake.views import CURRENT_RELEASES, CURRENT_RUN_SPECS
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.recomputed import refuse_unfounded
from medhelm_spark.stages.release_values import (
    Pin,
    data_versions,
    member_hashes,
    writes_of_requests,
)


class ReleaseStatus(StrEnum):
    """Where a release stands; more statuses follow with sign-off.

    EXTERNAL: somebody else published it, and its results were imported.
    """

    DRAFT = "draft"
    EXTERNAL = "external"


def suite_runs(ctx: Context, suites: Sequence[str]) -> list[SuiteRun]:
    """The current RunSpecs of some suites; LakeError for a suite that was never planned."""
    current = ctx.lake.rows(CURRENT_RUN_SPECS, SuiteRun)
    known = {row.suite for row in current}
    for suite in suites:
        if suite not in known:
            held = f"it has {', '.join(map(repr, sorted(known)))}" if known else "nor any other"
            raise LakeError(f"{ctx.lake.location} has no suite {suite!r}; {held}.")
    return sorted((row for row in current if row.suite in suites), key=lambda row: row.name)


def publish(
    ctx: Context,
    release: str,
    suites: Sequence[str],
    *,
    status: ReleaseStatus = ReleaseStatus.DRAFT,
    names: Collection[str] | None = None,
) -> str:
    """Make or replace a draft release; returns its manifest hash.

    The manifest covers the values of every row behind the numbers, from instances to stats.
    A run present in two suites counts once: the suite named last stands, as in MedHELM. The rows of
    a draft that is replaced stay in `releases`. With `names` only the runs of these names count.

    Raises:
        IntegrityError: Stats are not what the scores behind them give; it names the runs.
    """
    ctx = ctx.within(PUBLISH)
    held_runs = (row for suite in suites for row in suite_runs(ctx, [suite]))
    runs = {row.name: row for row in held_runs if names is None or row.name in names}
    done = ctx.finished(SUMMARIZE, [row.run_spec_id for row in runs.values()])
    pinned = [(name, row) for name, row in sorted(runs.items()) if row.run_spec_id in done]
    if not pinned:
        raise LakeError(f"release {release!r}: suites {list(suites)} have no summarised run yet.")
    at = now()
    members = _with_values(
        ctx, release, [_member(release, status, row, done, at) for _, row in pinned]
    )
    held = [r for r in ctx.lake.rows(CURRENT_RELEASES, ReleaseMember) if r.release == release]
    if held and _manifest(members, held[0].created_at) == {row.manifest_hash for row in held}:
        manifest = held[0].manifest_hash
    else:
        manifest = manifest_hash(members)
        rows = [replace(member, manifest_hash=manifest) for member in members]
        ctx.lake.append_rows("releases", rows, new_write_id())
        if held:
            ctx.say(
                f"publish: it replaces the manifest {held[0].manifest_hash} of "
                f"{held[0].created_at:%Y-%m-%d %H:%M} UTC, whose rows stay in releases"
            )
    size = counted(len(members), "run")
    ctx.say(f"publish: release {release!r} holds {size}, manifest {manifest[:12]}")
    return manifest


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


def _manifest(members: Sequence[ReleaseMember], at: datetime) -> set[str]:
    """The manifest hash that the same values had at another time."""
    return {manifest_hash([replace(member, created_at=at) for member in members])}


def _with_values(
    ctx: Context, release: str, members: Sequence[ReleaseMember]
) -> list[ReleaseMember]:
    """The members with the writes that hold their rows, and the hashes of these rows' values."""
    versions = data_versions(read_release(ctx.lake, members))
    pins = _pins(ctx, members, versions)
    pinned = [replace(member, writes=_writes(member, versions, pins)) for member in members]
    rows = read_release(ctx.lake, pinned)
    refuse_unfounded(ctx, release, rows)
    hashes = member_hashes(ctx.lake, rows)
    return [
        replace(member, value_hashes={**rows.hashes(member), **hashes[member.run_spec_id]})
        for member in pinned
    ]


def _pins(
    ctx: Context, members: Sequence[ReleaseMember], versions: Mapping[str, str]
) -> dict[str, list[Pin]]:
    """The writes that hold the members' rows now, by table."""
    units = [member.run_spec_id for member in members]

    def of(names: Iterable[str], *stages: Stage) -> list[Pin]:
        finished = [ctx.finished(stage, names) for stage in stages]
        return [
            Pin(unit=unit, write_id=record.write_id)
            for records in finished
            for unit, record in records.items()
        ]

    data = of(sorted(set(versions.values())), INGEST)
    pins = {
        "requests": of(units, PLAN, PLAN_JUDGES),
        "annotations": of(units, ANNOTATE),
        "per_instance_stats": of(units, SCORE),
        "instances": data,
        "scenarios": data,
    }
    return {**pins, **writes_of_requests(ctx.lake, pins["requests"])}


def _writes(
    member: ReleaseMember, versions: Mapping[str, str], pins: Mapping[str, Sequence[Pin]]
) -> dict[str, str]:
    own = {member.run_spec_id, versions.get(member.run_spec_id)}
    return {
        table: " ".join(sorted({pin.write_id for pin in of_table if pin.unit in own}))
        for table, of_table in pins.items()
    }
