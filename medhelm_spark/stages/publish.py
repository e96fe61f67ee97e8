"""publish: freeze the current stats of some suites as a draft release."""

from collections.abc import Sequence
from enum import StrEnum

from medhelm_spark.domain.counting import counted
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.run import SuiteRun
from medhelm_spark.domain.stages import PUBLISH, SUMMARIZE
from medhelm_spark.errors import LakeError
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.tables import ReleaseMember
from medhelm_spark.lake.views import CURRENT_RELEASES, CURRENT_RUN_SPECS
from medhelm_spark.stages.context import Context, now


class ReleaseStatus(StrEnum):
    """Where a release stands; more statuses follow with sign-off."""

    DRAFT = "draft"


def suite_runs(ctx: Context, suites: Sequence[str]) -> list[SuiteRun]:
    """The current RunSpecs of some suites; LakeError for a suite that was never planned."""
    current = ctx.lake.rows(CURRENT_RUN_SPECS, SuiteRun)
    known = {row.suite for row in current}
    for suite in suites:
        if suite not in known:
            raise LakeError(
                f"{ctx.lake.location} has no suite {suite!r}; it has {sorted(known) or None}."
            )
    return sorted((row for row in current if row.suite in suites), key=lambda row: row.name)


def publish(ctx: Context, release: str, suites: Sequence[str]) -> str:
    """Make or replace a draft release; returns its manifest hash.

    A run present in two suites counts once: the suite named last stands, as in MedHELM.
    """
    ctx = ctx.within(PUBLISH)
    runs = {row.name: row for suite in suites for row in suite_runs(ctx, [suite])}
    done = ctx.finished(SUMMARIZE, [row.run_spec_id for row in runs.values()])
    members = [
        (row.suite, name, row.run_spec_id, done[row.run_spec_id].write_id)
        for name, row in sorted(runs.items())
        if row.run_spec_id in done
    ]
    if not members:
        raise LakeError(f"release {release!r}: suites {list(suites)} have no summarised run yet.")
    manifest = content_id(release, members)
    held = {
        row.manifest_hash
        for row in ctx.lake.rows(CURRENT_RELEASES, ReleaseMember)
        if row.release == release
    }
    if held != {manifest}:
        at = now()
        rows = [
            ReleaseMember(
                release=release,
                status=ReleaseStatus.DRAFT.value,
                suite=suite,
                name=name,
                run_spec_id=run_spec_id,
                stats_write_id=write_id,
                created_at=at,
                manifest_hash=manifest,
            )
            for suite, name, run_spec_id, write_id in members
        ]
        ctx.lake.append_rows("releases", rows, new_write_id())
    size = counted(len(members), "run")
    ctx.say(f"publish: release {release!r} holds {size}, manifest {manifest[:12]}")
    return manifest
