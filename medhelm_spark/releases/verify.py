"""verify: whether every value that a release pinned still is what was published."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark import features
from medhelm_spark.domain.pluralize import counted, first_of
from medhelm_spark.domain.purge import Purge
from medhelm_spark.domain.release import ReleaseManifest
from medhelm_spark.domain.stages import SCORE
from medhelm_spark.errors import IntegrityError
from medhelm_spark.lake.literals import literal, literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.lake.views import output_of
from medhelm_spark.releases.anchors import NONE, guarantee
from medhelm_spark.releases.identity import wrong_signatures
from medhelm_spark.releases.pinned import (
    Change,
    ReleaseRows,
    Rows,
    changes_of,
    copy_of,
    members_of,
    pinned_stats,
    purges_by_id,
    read_release,
    refuse_changed,
)
from medhelm_spark.releases.reader import ORIGINALS, release_reader
from medhelm_spark.releases.source import expired_at, release_of
from medhelm_spark.releases.value_hash import values_hash
from medhelm_spark.releases.values import copied_changes, row_changes
from medhelm_spark.stages.context import Context
from medhelm_spark.workspace.workspace import Workspace

_SCORES = ("per_instance_stats", SCORE)
_ON_BOARD = """
SELECT run_spec_id, perturbation, CAST(count(*) AS BIGINT) AS number FROM ({scores}) s
WHERE perturbation = '' AND run_spec_id IN ({units}) GROUP BY run_spec_id, perturbation
"""
_COPIED = """
SELECT run_spec_id, perturbation, CAST(count(*) AS BIGINT) AS number FROM {{release_scores}}
WHERE write_id = {copy} GROUP BY run_spec_id, perturbation
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scores:
    run_spec_id: str
    perturbation: str
    number: int


def verify(workspace: Workspace, ctx: Context, release: str, anchors: Path | None = None) -> str:
    """Hash all rows of a release again; returns its manifest hash. Writes nothing.

    `anchors` is the file outside the lake that has the hashes of manifests, if there is one. The
    features of provenance and sharing check their own records of the release. A share's folder
    that was changed is reported, and the release still is as published.

    Both are hashed: the release's own stats and scores, and those of the lake that they were copied
    from. Of a run whose stats or scores are gone from the lake, the release's own rows alone count,
    and a message says so. The hashes are in the lake too: this finds a changed value, but not if
    somebody changed its hash as well.

    The scores that a board reads are counted: a board reads those that the ledger names, and skips
    files by the statistics in Delta's log and in the files, and neither is hashed.

    Delta's history is read too: a table that was restored to an earlier version has lost what
    came after, such as a withdrawal or a decision, and no hash shows that.

    Raises:
        IntegrityError: Something was changed; it names tables and runs. Or a table was restored,
            the anchors have another manifest, or the site has a key and none signed it.
    """
    rows = read_release(ctx.lake, members_of(ctx.lake, release))
    refuse_restored(release, list(_restored(ctx, rows.manifest)))
    with ctx.metered("verify: rows hashed") as watch:
        copied = list(copied_changes(ctx.lake, rows, watch))
        changes = [*row_changes(ctx.lake, rows, watch), *_stats_changes(ctx, rows)]
    gone = [change for change in changes if change.is_gone and change.table in ORIGINALS]
    gone = gone if all(map(copy_of, rows.members)) else []
    further = [change for change in changes if change not in gone]
    stored = release_of(workspace.reader, release)
    policy = workspace.registry.policy
    statuses = changes_of(ctx.lake, release)
    signatures = wrong_signatures(statuses, policy.people, stored.manifest_hash)
    provenance = features.part("provenance", "verified")
    named = provenance.changed(workspace, stored) if provenance else []
    unread = _unread(workspace.reader, rows)
    refuse_changed(release, rows, [*further, *copied, *unread, *named, *signatures])
    manifest = rows.members[0].manifest_hash
    if provenance:
        _refuse_beside(release, provenance.changed_beside(workspace, stored))
        _refuse_unsigned(release, manifest, is_signed=provenance.is_signed(workspace, stored))
    if sharing := features.part("sharing", "verified"):
        for line in sharing.changed(workspace, stored):
            ctx.say(f"verify: {line}")
    if gone:
        ctx.say(f"verify: only in the release's own rows: {first_of(list(map(str, gone)), 8)}")
    for row in purges_in(ctx.lake, rows):
        ctx.say(
            f"verify: scenario {row.scenario_name!r}: its text was {row.note[1:-1]} by "
            f"{row.purged_by}; tombstones replace {counted(_tombstones(ctx, row), 'row')}"
        )
    unrecorded = [
        row
        for row in purges_by_id(ctx.lake).values()
        if row.tombstones is None and _tombstones(ctx, row)
    ]
    for row in unrecorded:
        ctx.say(
            f"verify: purge {row.purge_id} of {row.scenario_name!r}: no record has the hash of its "
            "tombstones, so that no signature and no anchor covers the rows that they replace"
        )
    size = counted(len(rows.members), "run")
    if ended := expired_at(stored):
        ctx.say(f"verify: release {release!r}: its approval expired at {ended}")
    signed = provenance.signed_by(workspace, stored) if provenance else ""
    records = provenance.hashes_of(workspace, release) if provenance else ()
    guarantees = [signed, guarantee(anchors, ctx.lake.location.name, release, manifest, records)]
    summary = ", ".join(filter(None, guarantees if not unrecorded else ())) or NONE
    ctx.say(f"verify: release {release!r}, {size}: every value is as published ({summary})")
    return manifest


def _unread(reader: Reader, rows: ReleaseRows) -> Iterator[str]:
    """The runs of which a board reads other scores than the release has."""
    copies = set(map(copy_of, rows.members))
    if len(copies) != 1 or "" in copies:
        return
    (copy,) = copies
    units = literals(member.run_spec_id for member in rows.members)
    copied = reader.rows(_COPIED.format(copy=literal(copy)), _Scores)
    source = output_of(*_SCORES)
    on_board = release_reader(reader, rows.members).rows(
        _ON_BOARD.format(scores=source, units=units), _Scores
    )
    read = {row.run_spec_id: row.number for row in on_board}
    stored = {row.run_spec_id: row.number for row in copied if not row.perturbation}
    for member in rows.members:
        found, whole = (each.get(member.run_spec_id, 0) for each in (read, stored))
        if found != whole:
            yield (
                f"scores of {member.name}: boards read {found:,} of {whole:,}, by the table runs "
                "or the statistics of files"
            )


def _refuse_beside(release: str, wrong: Sequence[str]) -> None:
    if wrong:
        raise IntegrityError(
            f"release {release!r}: its own values are as published, and what is recorded beside "
            f"it is not: {first_of(wrong, 3)}; restore these tables."
        )


def _refuse_unsigned(release: str, manifest: str, *, is_signed: bool) -> None:
    if not is_signed:
        raise IntegrityError(
            f"release {release!r}: its values fit its manifest {manifest[:12]}, which no key "
            "of this site signed: the release was made before the site had a key or without it, or "
            "manifest and chain were rewritten. Compare the manifest with what is kept outside "
            f"the lake; then `release seal {release}` signs the release as it is."
        )


def purges_in(source: Rows, rows: ReleaseRows) -> list[Purge]:
    """The purges of scenarios whose runs a release contains, oldest first."""
    scenarios = {row.run_spec.scenario_name for row in rows.planned.values()}
    purges = [row for row in purges_by_id(source).values() if row.scenario_name in scenarios]
    return sorted(purges, key=lambda row: row.begun_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Number:
    number: int


def _tombstones(ctx: Context, purge: Purge) -> int:
    sql = "SELECT CAST(count(*) AS BIGINT) AS number FROM {tombstones} WHERE purge_id = "
    return ctx.lake.rows(sql + literal(purge.purge_id), _Number)[0].number


def _restored(ctx: Context, manifest: ReleaseManifest | None) -> Iterator[str]:
    """The tables that were restored since the release read them, or ever if it has no version."""
    read = manifest.delta_versions if manifest else {}
    for table in TABLES:
        versions = ctx.lake.restored(table)
        if late := [version for version in versions if version > read.get(table, -1)]:
            yield f"{table} (RESTORE at version {', '.join(map(str, sorted(late)))})"


def refuse_restored(release: str, tables: Sequence[str]) -> None:
    """Refuse a release whose tables lost rows by a RESTORE.

    Raises:
        IntegrityError: names the tables, and the versions of Delta's history.
    """
    if tables:
        raise IntegrityError(
            f"release {release!r}: tables of the lake were taken back to an earlier version, and "
            f"what was recorded after it is gone: {first_of(tables, 8)}; `RESTORE TABLE` to the "
            "version before each brings it again."
        )


def _stats_changes(ctx: Context, rows: ReleaseRows) -> Iterator[Change]:
    """What is no longer as it was published in the stats that were copied."""
    if not all(map(copy_of, rows.members)):
        return  # then the release's rows are the lake's, and were compared with it
    pinned = pinned_stats(ctx.lake, rows.members)
    for member in rows.members:
        stats = pinned.get(member.run_spec_id, [])
        if values_hash(stats) != (member.value_hashes or {}).get("stats"):
            yield Change(table="stats", name=member.name, is_gone=not stats)
