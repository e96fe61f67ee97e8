"""Whether a release still is what was published: the values behind its board, hashed again.

The rows that are shown are the rows that are hashed, at every read. The tables that a board is not
made of are hashed by `medhelm-spark release verify`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol, TypeVar

from medhelm_spark.domain.pluralize import first_of
from medhelm_spark.domain.purge import Purge
from medhelm_spark.domain.release import (
    ReleaseChange,
    ReleaseManifest,
    ReleaseState,
    ReleaseStatus,
    state_of,
)
from medhelm_spark.domain.run import SuiteRun
from medhelm_spark.domain.scenario import ScenarioVersion
from medhelm_spark.domain.stats import Stat, WrittenStat
from medhelm_spark.errors import IntegrityError
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.tables import WRITE_ID, refuse_newer
from medhelm_spark.releases.tables import ReleaseMember, Tombstone
from medhelm_spark.releases.value_hash import manifest_hash, values_hash

Row = TypeVar("Row")

CURRENT_RELEASES = """
SELECT m.* FROM {releases} m
JOIN (SELECT release, max(created_at) AS created_at FROM {releases} GROUP BY release) n
  ON n.release = m.release AND n.created_at = m.created_at
"""
_PLANNED = "SELECT * FROM {{run_specs}} WHERE run_spec_id IN ({units})"
_STATS = "SELECT * FROM {{stats}} WHERE run_spec_id IN ({units})"
_COPIED = "SELECT * FROM {{release_stats}} WHERE {write_id} IN ({writes})"
_PURGES = "SELECT * FROM {purges}"
_TOMBSTONES = "SELECT * FROM {tombstones} WHERE table_name = 'run_specs'"
_SCENARIOS = "SELECT * FROM {{scenarios}} WHERE data_version IN ({units})"
_MANIFESTS = "SELECT * FROM {release_manifests}"
_CHANGES = "SELECT * FROM {release_changes}"

COPIES = ("release_stats", "release_scores")
"""The tables of a release's own rows; its members name their write."""


class Rows(Protocol):
    """What answers SQL over a lake's small tables: its Reader, or the Lake itself."""

    def rows(self, sql: str, row_type: type[Row]) -> list[Row]:
        """The answer as rows of a dataclass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is no longer as it was published: rows of a table, of one run or (no name) of all.

    `is_gone`: none of the rows is there.
    """

    table: str
    name: str = ""
    is_gone: bool = False

    def __str__(self) -> str:
        text = f"{self.table} of {self.name}" if self.name else self.table
        return f"{text} (gone)" if self.is_gone else text


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenScenario(ScenarioVersion):
    """A ScenarioVersion and the id of its write."""

    write_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRows:
    """The rows that a release's board is made of; `planned` and `stats` by run_spec_id."""

    members: tuple[ReleaseMember, ...]
    planned: Mapping[tuple[str, str, str], SuiteRun]
    stats: Mapping[str, Sequence[Stat]]
    scenarios: Mapping[tuple[str, str], ScenarioVersion]
    manifest: ReleaseManifest | None = None
    before: Mapping[str, str] = field(default_factory=dict)
    """By the digest of a RunSpec's row whose text was purged the digest from before."""

    def changes(self) -> Iterator[Change]:
        """What is no longer as it was published; nothing where all is."""
        for written in sorted({member.manifest_hash for member in self.members}):
            if written != manifest_hash(self.members, self.manifest):
                yield Change(table="releases")
        for member in self.members:
            published = member.value_hashes or {}
            for table, now in self.hashes(member).items():
                if published.get(table) != now:
                    is_copy = table == "stats" and copy_of(member)
                    yield Change(table=COPIES[0] if is_copy else table, name=member.name)

    def hashes(self, member: ReleaseMember) -> dict[str, str]:
        """The hashes of a member's values as they are, by table."""
        return {table: values_hash(rows, self.before) for table, rows in self._rows(member).items()}

    def _rows(self, member: ReleaseMember) -> Mapping[str, Iterable[object]]:
        planned = self.planned.get(key_of(member))
        versions = (planned.run_spec.data_version,) if planned else ()
        writes = (member.writes or {}).get("scenarios", "").split()
        keys = [(version, write) for version in versions for write in writes]
        return {
            "run_specs": [planned] if planned else [],
            "scenarios": [self.scenarios[key] for key in keys if key in self.scenarios],
            "stats": self.stats.get(member.run_spec_id, ()),
        }


def key_of(row: ReleaseMember | SuiteRun) -> tuple[str, str, str]:
    """What a member and its row of `run_specs` have in common."""
    return row.suite, row.name, row.run_spec_id


def copy_of(member: ReleaseMember) -> str:
    """The write of the release's own rows of this run; empty for releases of earlier versions."""
    return (member.writes or {}).get(COPIES[0], "")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRelease:
    """A release in the lake: the newest rows of its name, and its status.

    `manifest` is None for one of an earlier version.
    """

    name: str
    members: tuple[ReleaseMember, ...]
    manifest: ReleaseManifest | None
    state: ReleaseState

    @property
    def manifest_hash(self) -> str:
        """The hash that its rows were written with."""
        return self.members[0].manifest_hash

    @property
    def suites(self) -> tuple[str, ...]:
        """Its suites, in the order in which `publish` named them where that is on record."""
        if self.manifest:
            return self.manifest.suites
        return tuple(sorted({member.suite for member in self.members}))

    def without(self, change: ReleaseChange) -> "StoredRelease":
        """The release as it was before this status was given."""
        changes = [each for each in self.state.changes if each != change]
        state = state_of(_began(self.members[0]), self.manifest_hash, changes)
        return replace(self, state=state)


def stored_releases(source: Rows) -> list[StoredRelease]:
    """The releases of a lake, the newest first; reads neither stats nor scores."""
    members: dict[str, list[ReleaseMember]] = {}
    for member in source.rows(CURRENT_RELEASES, ReleaseMember):
        members.setdefault(member.release, []).append(member)
    changes: dict[str, list[ReleaseChange]] = {}
    for change in source.rows(_CHANGES, ReleaseChange):
        changes.setdefault(change.release, []).append(change)
    manifests = _manifests(source)
    releases = [
        StoredRelease(
            name=name,
            members=tuple(sorted(rows, key=lambda row: (row.name, row.suite))),
            manifest=manifests.get((name, rows[0].created_at)),
            state=state_of(_began(rows[0]), rows[0].manifest_hash, changes.get(name, ())),
        )
        for name, rows in members.items()
    ]
    return sorted(releases, key=lambda each: (each.members[0].created_at, each.name), reverse=True)


def changes_of(source: Rows, release: str) -> list[ReleaseChange]:
    """The statuses of a release as stored, oldest first."""
    rows = [row for row in source.rows(_CHANGES, ReleaseChange) if row.release == release]
    return sorted(rows, key=lambda row: row.changed_at)


def _began(member: ReleaseMember) -> ReleaseStatus:
    """What a release began as: imported, or a draft, whatever else its rows may say."""
    is_external = member.status == ReleaseStatus.EXTERNAL
    return ReleaseStatus.EXTERNAL if is_external else ReleaseStatus.DRAFT


def _manifests(source: Rows) -> dict[tuple[str, datetime], ReleaseManifest]:
    rows = source.rows(_MANIFESTS, ReleaseManifest)
    return {(row.release, row.created_at): row for row in rows}


def members_of(source: Rows, release: str) -> tuple[ReleaseMember, ...]:
    """The newest rows of a release."""
    rows = source.rows(CURRENT_RELEASES, ReleaseMember)
    return tuple(member for member in rows if member.release == release)


def read_release(source: Rows, members: Sequence[ReleaseMember]) -> ReleaseRows:
    """The rows that a release's board is made of.

    Raises:
        LakeError: A newer version made the release: its rows say more than this one can check.
    """
    manifest = _manifest_of(source, members)
    if manifest:
        refuse_newer(manifest.lake_schema_version, f"release {manifest.release!r}")
    units = literals(member.run_spec_id for member in members)
    planned = _newest_planned(source.rows(_PLANNED.format(units=units), SuiteRun), members)
    versions = literals(row.run_spec.data_version for row in planned.values())
    scenarios = source.rows(_SCENARIOS.format(units=versions), _WrittenScenario)
    return ReleaseRows(
        members=tuple(members),
        planned=planned,
        stats=own_stats(source, members),
        scenarios={(row.data_version, row.write_id): row for row in scenarios},
        manifest=manifest,
        before=_before(source, {member.run_spec_id for member in members}),
    )


def _before(source: Rows, units: Collection[str]) -> dict[str, str]:
    """By the digest of a purged row of `run_specs` the digest from before."""
    tombstones: dict[str, list[Tombstone]] = {}
    for row in source.rows(_TOMBSTONES, Tombstone):
        tombstones.setdefault(row.purge_id, []).append(row)
    hashes = {purge_id: values_hash(rows) for purge_id, rows in tombstones.items()}
    return {
        row.replaced_by: row.digest
        for purge_id in recorded_purges(source, "run_specs", hashes)
        for row in tombstones[purge_id]
        if row.unit in units
    }


def purges_by_id(source: Rows) -> dict[str, Purge]:
    """The purges on record by id, of each the newest row."""
    rows = source.rows(_PURGES, Purge)
    in_order = sorted(rows, key=lambda row: row.finished_at is not None)
    return {row.purge_id: row for row in in_order}


def recorded_purges(source: Rows, table: str, hashes: Mapping[str, str]) -> list[str]:
    """The purges whose tombstones of a table are as recorded; others replace no digest.

    A purge of an earlier version recorded no hash: its tombstones count, and `verify` says so.

    Args:
        source: the lake.
        table: whose tombstones they are.
        hashes: by purge_id the hash of its tombstones of the table.
    """
    purges = purges_by_id(source) if hashes else {}
    recorded = {purge_id: purges[purge_id].tombstones for purge_id in hashes if purge_id in purges}
    return [
        purge_id
        for purge_id, of_tables in recorded.items()
        if of_tables is None or of_tables.get(table) == hashes[purge_id]
    ]


def _manifest_of(source: Rows, members: Sequence[ReleaseMember]) -> ReleaseManifest | None:
    if not members:
        return None
    return _manifests(source).get((members[0].release, members[0].created_at))


def pinned_stats(source: Rows, members: Sequence[ReleaseMember]) -> dict[str, list[Stat]]:
    """By run, the stats in the lake's own table that a release was made of."""
    pins = {member.run_spec_id: member.stats_write_id for member in members}
    rows = source.rows(_STATS.format(units=literals(pins)), WrittenStat)
    return _by_run(row for row in rows if pins[row.run_spec_id] == row.write_id)


def own_stats(source: Rows, members: Sequence[ReleaseMember]) -> dict[str, list[Stat]]:
    """By run, the release's own stats; of a release without them the lake's."""
    copies = {member.run_spec_id: copy_of(member) for member in members}
    if not all(copies.values()):
        return pinned_stats(source, members)
    sql = _COPIED.format(write_id=WRITE_ID, writes=literals(copies.values()))
    rows = source.rows(sql, WrittenStat)
    return _by_run(row for row in rows if copies.get(row.run_spec_id) == row.write_id)


def _by_run(rows: Iterable[Stat]) -> dict[str, list[Stat]]:
    stats: dict[str, list[Stat]] = {}
    for row in rows:
        stats.setdefault(row.run_spec_id, []).append(row)
    return stats


def _newest_planned(
    rows: Iterable[SuiteRun], members: Sequence[ReleaseMember]
) -> dict[tuple[str, str, str], SuiteRun]:
    """The plan of each member that was the newest when the release was made."""
    made = {key_of(member): member.created_at for member in members}
    in_order = sorted(rows, key=lambda row: row.planned_at)
    return {
        key_of(row): row
        for row in in_order
        if key_of(row) in made and row.planned_at <= made[key_of(row)]
    }


def refuse_changed(release: str, rows: ReleaseRows, further: Iterable[Change | str] = ()) -> None:
    """Raise IntegrityError where a value behind a release's board was changed, and name where.

    `further` are changes of what a board is not made of.
    """
    changed = [str(change) for change in (*rows.changes(), *further)]
    if not changed:
        return
    if not all(member.value_hashes for member in rows.members):
        raise IntegrityError(
            f"release {release!r} has no hashes of its values, so nobody can check whether they "
            "were changed; publish it again."
        )
    raise IntegrityError(
        f"release {release!r} is not what was published; changed since: {first_of(changed, 8)}. "
        "No number of it is shown; restore the lake. Publishing again would pin the changed values."
    )
