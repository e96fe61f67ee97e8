"""purge: remove the text of a scenario from a lake and this machine when an agreement ends.

Each text is replaced by a note in one commit, so that a row is never without both; the files of
earlier versions go after it. Every step can be made again: a purge that was killed is finished by
the same command.
"""

import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from medhelm_spark import features
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.moments import now
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.purge import Purge, PurgeScope, Swept
from medhelm_spark.domain.stages import PURGE
from medhelm_spark.errors import ConfigError, LakeError
from medhelm_spark.governance.disclosures import DisclosureScope, disclosures_of
from medhelm_spark.governance.purges import purges_of
from medhelm_spark.lake.condition import one_of
from medhelm_spark.lake.file_permissions import work_folder
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.lease import LeaseHandle, lease
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.maintenance import maintenance_of
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.lake.table_maintenance import Maintenance
from medhelm_spark.lake.tables import TABLES, Purging
from medhelm_spark.lake.user import this_user
from medhelm_spark.maintenance.purge_scope import cached_data, named, scope_of
from medhelm_spark.pipeline.in_process import is_own_machine, is_small_lake
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.recovery import commit_interrupted
from medhelm_spark.workspace.names import check_name
from medhelm_spark.workspace.workspace import Workspace

VALUES_AT_ONCE = 10_000
"""The rows of so many ids are replaced by one commit."""

THIS_JOB = "this job"
_OF_SCENARIO = """
scenario_name IN (SELECT scenario_name FROM {{scenarios}} WHERE data_version IN ({versions}))
"""

KEPT: Mapping[str, tuple[str, str]] = {
    "instances": (
        "data_version IN ({versions}) AND cluster_id IS NOT NULL",
        "hashes of the cluster column, as patients' numbers: who tries all values finds them",
    ),
    "per_instance_stats": (
        "run_spec_id IN ({runs}) AND cluster_id IS NOT NULL",
        "the same hashes",
    ),
    "release_scores": (
        "run_spec_id IN ({runs}) AND cluster_id IS NOT NULL",
        "the same hashes",
    ),
    "ratings": (
        "run_spec_id IN ({runs})",
        "the names of criteria, which a rubric of the site states",
    ),
    "rating_invitations": (
        _OF_SCENARIO,
        "questions, anchors and classes of criteria, which a rubric of the site states",
    ),
    "judge_cards": (
        _OF_SCENARIO,
        "the names of criteria, which a rubric of the site states",
    ),
    "stats": (
        "run_spec_id IN ({runs})",
        "the names of metrics, criteria and classes, which the benchmark's files state",
    ),
    "level_changes": (
        _OF_SCENARIO,
        "the reasons for a lower level, as people typed them",
    ),
    "release_changes": (
        "release IN (SELECT release FROM {{releases}} WHERE run_spec_id IN ({runs}))",
        "notes, conditions and owners, as people typed them: the chain rests on them",
    ),
}
"""By table which rows keep words that people typed, or hashes, and what these are."""

ELSEWHERE = (
    "text of the scenario that prompts, answers and notes of other scenarios repeat",
    "the source of the data itself",
    "files that report, export-helm, release evidence, --output-file or a person wrote outside the "
    "lake",
    "backups and snapshots of the lake, and caches of other machines",
)
"""Copies whose locations no lake records."""


@dataclass(frozen=True, slots=True)
class _Purged:
    """Replaces the text of rows; the executors call it."""

    purged: Callable[[Any, str], Any]
    note: str

    def __call__(self, rows: Iterable[Any]) -> Iterator[Any]:
        for row in rows:
            if (after := self.purged(row, self.note)) is not None:
                yield after


def purge(workspace: Workspace, scenario: str, agreement: str, *, dry_run: bool) -> Purge:
    """Remove the text of a scenario; returns the record of it, with a dry run as it would be.

    Args:
        workspace: the lake.
        scenario: its name, as the board shows it, or with other capitals where that is one alone.
        agreement: the agreement that ended, by a name that readers of the record recognize.
        dry_run: whether only to print what would be removed.

    Raises:
        UnknownNameError: the lake has no data of the scenario.
        ConfigError: it was purged under another agreement.
        LakeError: a run of one of the scenario's suites asks now, or others kept writing a table.
    """
    if not Location.of(workspace.location).may_exist:
        raise LakeError(f"there is no lake at {workspace.location!r}.")
    agreement = check_name("agreement", agreement.strip())
    scenario = named(workspace.reader, scenario)
    existing = {row.scenario_name: row for row in purges_of(workspace)}.get(scenario)
    if existing and existing.agreement != agreement:
        raise ConfigError(
            f"--agreement {agreement!r}: scenario {scenario!r} was purged under agreement "
            f"{existing.agreement!r}; give that one."
        )
    if existing and existing.finished_at:
        workspace.say(
            f"purge: {scenario!r} was purged on {existing.begun_at:%Y-%m-%d}; nothing to do"
        )
        _enter_chain(workspace, workspace.context("", is_in_process=is_own_machine(workspace)))
        return existing
    scope = scope_of(workspace.reader, scenario)
    ctx = workspace.context("", is_in_process=is_small_lake(workspace))
    begun = existing or Purge(
        purge_id=new_write_id(),
        scenario_name=scenario,
        agreement=agreement,
        begun_at=now(),
        purged_by=this_user(),
    )
    tables = maintenance_of(ctx.lake)
    if dry_run:
        return _described(workspace, ctx, scope, begun, tables)
    _record(ctx, begun)
    with ExitStack() as leases:
        handles = {
            suite: leases.enter_context(
                lease(ctx.lake, suite, sorted(names), ctx.holder, say=workspace.say)
            )
            for suite, names in sorted(scope.deployments.items())
        }
        _refuse_others(workspace, handles)
        _commit_staged(workspace, ctx, handles)
        scope = scope_of(workspace.reader, scenario)
        disclosed = tuple(_disclosed(workspace, scope))
        removed = dict(_counts(workspace, scope, tables))
        _replace_texts(ctx, scope, begun, tables)
        files = sum(_forgotten(tables, scope, dry_run=False))
    swept = [Swept(removed={"files of earlier versions": files}), *_swept(workspace, scope)]
    return _finished(workspace, ctx, begun, removed, swept, disclosed, scope)


def _described(
    workspace: Workspace, ctx: Context, scope: PurgeScope, begun: Purge, tables: Maintenance
) -> Purge:
    """What a purge would remove, printed and returned."""
    removed = dict(_counts(workspace, scope, tables))
    files = sum(_forgotten(tables, scope, dry_run=True))
    swept = [
        Swept(removed={"files of earlier versions": files}),
        *_swept(workspace, scope, dry_run=True),
    ]
    unreached = _unreached(workspace, swept, tuple(_disclosed(workspace, scope)), scope)
    done = replace(begun, removed=_summed(removed, swept), unreached=unreached)
    print_purge(workspace.say, done, "would remove")
    return done


def _finished(
    workspace: Workspace,
    ctx: Context,
    begun: Purge,
    removed: dict[str, int],
    swept: list[Swept],
    disclosed: tuple[str, ...],
    scope: PurgeScope,
) -> Purge:
    done = replace(
        begun,
        finished_at=now([begun.begun_at]),
        tombstones=_tombstones(ctx, begun),
        removed=_summed(removed, swept),
        unreached=_unreached(workspace, swept, disclosed, scope),
    )
    _record(ctx, done)
    print_purge(ctx.say, done, "removed")
    _enter_chain(workspace, ctx)
    return done


def _tombstones(ctx: Context, begun: Purge) -> dict[str, str]:
    return {
        table: digest
        for feature in features.parts("tombstones")
        for table, digest in feature.hashes_of(ctx, begun).items()
    }


def _enter_chain(workspace: Workspace, ctx: Context) -> None:
    if chained := features.part("provenance", "chained"):
        chained.record(workspace, ctx)


def _record(ctx: Context, row: Purge) -> None:
    step = 2 if row.finished_at else 1
    ctx.within(PURGE).lake.append_rows("purges", [row], row.purge_id, txn=(row.purge_id, step))


def print_purge(say: Callable[[str], None], row: Purge, did: str) -> None:
    """Print what was removed, or would be, and what was not reached."""
    for kind, number in (row.removed or {}).items():
        what = f"the text of {counted(number, 'row')}" if kind in TABLES else f"{number:,}"
        say(f"purge: {kind}: {did} {what}")
    for each in row.unreached or ():
        say(f"purge: not reached: {each}")


def _summed(removed: dict[str, int], swept: Iterable[Swept]) -> dict[str, int]:
    more = {kind: number for each in swept for kind, number in each.removed.items() if number}
    return {table: rows for table, rows in removed.items() if rows} | more


def _refuse_others(workspace: Workspace, handles: Mapping[str, LeaseHandle]) -> None:
    """Refuse a suite in which another driver asks anything: judges may read the scenario's text."""
    for suite, handle in handles.items():
        if others := handle.others(workspace.say):
            raise LakeError(
                f"another driver ({', '.join(sorted(others))}) asks for suite {suite!r}, which has "
                "runs of the scenario; wait for it, and start the purge again."
            )


def _commit_staged(workspace: Workspace, ctx: Context, handles: Mapping[str, LeaseHandle]) -> None:
    """Commit what killed runs left, as the next run would: no staged file stays behind."""
    policy = workspace.registry.policy
    for suite, handle in handles.items():
        commit_interrupted(replace(ctx, suite=suite), handle, {}, policy)


def _purgings(tables: Maintenance) -> Iterator[tuple[str, Purging]]:
    """The tables that are there and have text."""
    for name, table in TABLES.items():
        if table.purging and tables.exists(name):
            yield name, table.purging


def _batches(values: Collection[str]) -> Iterator[Sequence[str]]:
    in_order = sorted(values)
    for first in range(0, len(in_order), VALUES_AT_ONCE):
        yield in_order[first : first + VALUES_AT_ONCE]


def _counts(
    workspace: Workspace, scope: PurgeScope, tables: Maintenance
) -> Iterator[tuple[str, int]]:
    for table, purging in _purgings(tables):
        total = 0
        for values in _batches(scope.values(purging.by)):
            where = one_of(purging.by, values).sql
            sql = f"SELECT count(*) AS number FROM {{{table}}} WHERE {where}"
            total += workspace.reader.query(sql)["number"][0].as_py()
        yield table, total


def _replace_texts(ctx: Context, scope: PurgeScope, begun: Purge, tables: Maintenance) -> None:
    """Replace the text of every row of the scenario by the note."""
    within = ctx.within(PURGE)
    for table, purging in _purgings(tables):
        for values in _batches(scope.values(purging.by)):
            where = one_of(purging.by, values)
            rows = within.lake.read(table, where)
            write_id = content_id(begun.purge_id, table, values)
            for feature in features.parts("tombstones"):
                feature.write_tombstones(within, begun, table, rows, write_id)
            after = map_rows(rows, _Purged(purging.purged, begun.note), purging.row, purging.row)
            tables.replace(table, where.sql, after)


def _forgotten(tables: Maintenance, scope: PurgeScope, *, dry_run: bool) -> Iterator[int]:
    """By table the number of files of earlier versions that contain text of the scenario."""
    for table, purging in _purgings(tables):
        if values := scope.values(purging.by):
            yield tables.forget(table, purging.by, values, dry_run=dry_run)


def _swept(workspace: Workspace, scope: PurgeScope, *, dry_run: bool = False) -> Iterator[Swept]:
    """What is removed beside the lake's tables."""
    for feature in features.parts("purge"):
        yield feature.purge(workspace, scope, dry_run=dry_run)
    copies = list(cached_data(workspace, scope.scenario_name))
    for path in copies if not dry_run else ():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    if not dry_run:
        work_folder()  # removes those of killed processes
    yield Swept(removed={"files and folders in caches": len(copies)})


def _disclosed(workspace: Workspace, scope: PurgeScope) -> Iterator[str]:
    """Where text of the scenario was sent, beyond the job's own processes."""
    runs = DisclosureScope(run_spec_ids=set(scope.run_spec_ids), since=None, until=None)
    texts_by_recipient: dict[tuple[str, str, str], int] = {}
    for row in disclosures_of(workspace.reader, runs):
        if row.destination != THIS_JOB and not row.is_bound:
            recipient = (row.destination, row.locality, row.model_deployment)
            texts_by_recipient[recipient] = texts_by_recipient.get(recipient, 0) + row.texts
    for (destination, locality, deployment), texts in sorted(texts_by_recipient.items()):
        yield f"{counted(texts, 'text')} sent to {destination} ({locality}) for {deployment}"


def _typed(workspace: Workspace, scope: PurgeScope) -> Iterator[str]:
    """The words that people typed and the hashes that stay, by table."""
    names = {"runs": literals(scope.run_spec_ids), "versions": literals(scope.data_versions)}
    for table, (where, words) in KEPT.items():
        if table not in TABLES:  # that feature is not there
            continue
        sql = f"SELECT count(*) AS number FROM {{{table}}} WHERE {where.format(**names)}"
        if number := workspace.reader.query(sql)["number"][0].as_py():
            yield f"{counted(number, 'row')} of {table}: {words}"


def _unreached(
    workspace: Workspace, swept: Iterable[Swept], disclosed: tuple[str, ...], scope: PurgeScope
) -> tuple[str, ...]:
    shared: tuple[str, ...] = ()
    if scope.num_shared:
        shared = (
            f"{counted(scope.num_shared, 'request')} whose prompt runs on other data ask too, with "
            "the same words",
        )
    of_swept = (each for one in swept for each in one.unreached)
    return (*disclosed, *of_swept, *shared, *_typed(workspace, scope), *ELSEWHERE)
