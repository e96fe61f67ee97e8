"""gc and optimize: what keeps a lake small and fast to read."""

from collections.abc import Sequence
from dataclasses import dataclass

from medhelm_spark.domain.pluralize import counted
from medhelm_spark.errors import LakeError
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.maintenance import maintenance_of
from medhelm_spark.lake.table_maintenance import Files
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.maintenance.gc import Removed, gc
from medhelm_spark.stages.infer.recovery import staged_answers
from medhelm_spark.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A table that was rewritten into fewer files; with a dry run `after` is None."""

    table: str
    before: Files
    after: Files | None = None


def collect_garbage(workspace: Workspace, *, dry_run: bool) -> Sequence[Removed]:
    """Remove what the policy's `retention` no longer keeps; prints what."""
    _refuse_absent(workspace)
    retention = workspace.registry.policy.retention
    removed = gc(workspace.context(""), retention, dry_run=dry_run)
    would = "would remove" if dry_run else "removed"
    for each in removed:
        parts = [counted(each.rows, "row")] if each.rows else []
        parts += [counted(each.files, "file")] if each.files else []
        workspace.say(f"gc: {each.table}: {would} {' and '.join(parts)}")
    for suite, count in staged_answers(workspace.context("")).items():
        workspace.say(
            f"gc: suite {suite!r}: answers of {counted(count, 'staged write')} are in no table "
            "yet; the suite's current run commits them, or the next one"
        )
    if not removed:
        workspace.say("gc: nothing to remove")
    return removed


def optimize(workspace: Workspace, *, dry_run: bool) -> Sequence[Rewritten]:
    """Rewrite the tables of many small files into few; prints which."""
    _refuse_absent(workspace)
    tables = maintenance_of(workspace.lake)
    done = []
    for table in filter(tables.exists, TABLES):
        before = tables.files(table)
        if not before.are_small:
            continue
        files = f"{before.count:,} files of {before.size / 1e6:,.1f} MB"
        if dry_run:
            done.append(Rewritten(table=table, before=before))
            workspace.say(f"optimize: {table}: would rewrite {files}")
            continue
        tables.rewrite(table)
        after = tables.files(table)
        done.append(Rewritten(table=table, before=before, after=after))
        workspace.say(f"optimize: {table}: rewrote {files} into {counted(after.count, 'file')}")
    if not done:
        workspace.say("optimize: no table has many small files")
    return done


def _refuse_absent(workspace: Workspace) -> None:
    if not Location.of(workspace.location).may_exist:
        raise LakeError(f"there is no lake at {workspace.location!r}.")
