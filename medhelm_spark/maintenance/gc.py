"""gc: remove what no reader shows and no release pins, once the policy's days for it are over.

What was sent and answered is never removed: `requests`, `request_results`, prompts and data say
what left the hospital, an answer is paid for, and the failures of a request decide whether it is
asked again.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from medhelm_spark import features
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.retention import Retention
from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.stages import (
    ANNOTATE,
    GC,
    IMPORT_HELM,
    SCORE,
    SUMMARIZE,
    SUMMARIZE_GROUPS,
)
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.literals import any_of, literal
from medhelm_spark.lake.maintenance import maintenance_of
from medhelm_spark.lake.table_maintenance import Maintenance
from medhelm_spark.lake.tables import TABLES, WRITE_ID, Lease, refuse_newer
from medhelm_spark.stages.context import Context, now

OUTPUTS: Mapping[str, tuple[str, ...]] = {
    ANNOTATE.name: ("annotations",),
    SCORE.name: ("per_instance_stats",),
    SUMMARIZE.name: ("stats",),
    SUMMARIZE_GROUPS.name: ("stats_by_group",),
    IMPORT_HELM.name: ("annotations", "per_instance_stats", "stats"),
    GC.name: (),
}
"""The stages whose superseded records are removed, with the tables whose rows go before them."""

HOLDER = re.compile(r"[\w.:-]+", re.ASCII)
"""Host, process and nonce, as `lease.this_holder` joins them: nothing that SQL has to escape."""

WRITES_AT_ONCE = 100
"""The rows of so many writes are removed by one statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What was removed of a table, or would be: `rows` that nothing needs, `files` of old versions.

    Of `files` Spark counts a thousand at most.
    """

    table: str
    rows: int = 0
    files: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Count:
    rows: int


def gc(ctx: Context, retention: Retention, *, dry_run: bool = False) -> list[Removed]:
    """Remove what the retention no longer keeps; returns what, by table. `dry_run` removes nothing.

    Other jobs may go on meanwhile: nothing that is current, or was within the retained days, is
    touched. What was removed is recorded in `runs`, with who did it.

    Raises:
        LakeError: Others kept writing one of the tables; what was removed before stays removed.
    """
    started_at, scoped = now(), ctx.within(GC)
    tables = maintenance_of(ctx.lake)
    removed = dict.fromkeys(TABLES, 0)
    for table, condition in _conditions(scoped, retention, started_at):
        rows = _count(scoped, table, condition)
        removed[table] += rows
        if rows and not dry_run:
            tables.remove(table, condition)
    files = _vacuumed(tables, retention.file_days, dry_run=dry_run)
    done = [
        Removed(table=table, rows=rows, files=files.get(table, 0))
        for table, rows in removed.items()
        if rows or files.get(table)
    ]
    if done and not dry_run:
        counts = {each.table: each.rows for each in done if each.rows}
        counts["files"] = sum(files.values())
        unit = {"lake": content_id(retention)}
        scoped.record(GC, unit, new_write_id(), started_at, {"lake": counts})
    return done


def _vacuumed(tables: Maintenance, days: int, *, dry_run: bool) -> dict[str, int]:
    return {
        table: tables.vacuum(table, days, dry_run=dry_run)
        for table in TABLES
        if tables.exists(table)
    }


def _count(ctx: Context, table: str, condition: str) -> int:
    sql = f"SELECT CAST(count(*) AS BIGINT) AS rows FROM {{{table}}} WHERE {condition}"
    return ctx.lake.rows(sql, _Count)[0].rows


def _conditions(ctx: Context, retention: Retention, at: datetime) -> Iterator[tuple[str, str]]:
    """Each table with a condition on the rows to remove; a record goes after its rows."""
    records = ctx.lake.rows("SELECT * FROM {runs}", RunRecord)
    refuse_newer(max((record.schema_version for record in records), default=None))
    pinned = {write for room in features.parts("kept") for write in room.released_writes(ctx.lake)}
    old = superseded(records, at - timedelta(days=retention.superseded_days), pinned)
    live = {(row.unit_id, row.write_id) for row in newest(records)}
    outputs: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    written: dict[str, set[str]] = defaultdict(set)
    for row in old:
        of_write = f"{WRITE_ID} = {literal(row.write_id)}"
        written[f"{of_write} AND stage = {literal(row.stage)}"].add(literal(row.unit_id))
        if (row.unit_id, row.write_id) not in live:
            for table in set(OUTPUTS[row.stage]) & set(TABLES):
                outputs[table][of_write].add(literal(row.unit_id))
    for table, units in sorted(outputs.items()):
        yield from ((table, condition) for condition in _any_of(units, "run_spec_id"))
    yield from (("runs", condition) for condition in _any_of(written, "unit_id"))
    leases = ctx.lake.rows("SELECT * FROM {leases}", Lease)
    claimed: dict[str, set[str]] = defaultdict(set)
    for lease in ended_leases(leases, at - timedelta(days=retention.lease_days)):
        # By the holder, which claims for one suite: a suite may have any name.
        claimed[f"holder = '{lease.holder}'"].add(str(lease.version))
    yield from (("leases", condition) for condition in _any_of(claimed, "version"))


def _any_of(rows: Mapping[str, Collection[str]], column: str) -> Iterator[str]:
    """Conditions for rows that meet one of these and have one of its values in a column.

    Without functions and casts: delta-rs cannot read those again where another writer was faster.
    """
    groups = [
        f"({each} AND {column} IN ({', '.join(sorted(rows[each]))}))" for each in sorted(rows)
    ]
    for first in range(0, len(groups), WRITES_AT_ONCE):
        yield any_of(groups[first : first + WRITES_AT_ONCE])


def newest(records: Iterable[RunRecord]) -> list[RunRecord]:
    """The current record of each unit of each stage."""
    return [rows[-1] for rows in _in_order(records)]


def superseded(
    records: Iterable[RunRecord], before: datetime, pinned: Collection[str]
) -> list[RunRecord]:
    """The records of OUTPUTS' stages that a newer one of the same unit replaced before a moment."""
    known = [record for record in records if record.stage in OUTPUTS]
    return [
        old
        for rows in _in_order(known)
        for old, newer in pairwise(rows)
        if newer.finished_at < before and old.write_id not in pinned
    ]


def _in_order(records: Iterable[RunRecord]) -> Sequence[Sequence[RunRecord]]:
    by_unit: dict[tuple[str, str], list[RunRecord]] = defaultdict(list)
    for row in sorted(records, key=lambda row: (row.finished_at, row.write_id)):
        by_unit[row.stage, row.unit_id].append(row)
    return list(by_unit.values())


def ended_leases(leases: Iterable[Lease], before: datetime) -> list[Lease]:
    """The leases that ended before a moment, without those that the next claim counts from.

    These are each suite's newest version and each of its deployments' newest row.
    """
    rows = sorted(leases, key=lambda row: row.version)
    newest = {(row.suite, row.model_deployment): row for row in rows}.values()
    newest_keys = {(row.holder, row.version) for row in newest}
    return [
        row
        for row in rows
        if row.expires_at < before
        and (row.holder, row.version) not in newest_keys
        and HOLDER.fullmatch(row.holder)
    ]
