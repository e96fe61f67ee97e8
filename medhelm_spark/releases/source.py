"""Releases as boards read them: the rows that a release froze, as they were published."""

from collections.abc import Sequence

from medhelm_spark.board.sources import (
    BoardSource,
    Kind,
    PinnedRuns,
    read_releases_by,
    unknown,
)
from medhelm_spark.domain.moments import now
from medhelm_spark.domain.skipped import LeftOut
from medhelm_spark.lake.reader import Reader
from medhelm_spark.releases.pinned import (
    StoredRelease,
    copy_of,
    key_of,
    members_of,
    read_release,
    refuse_changed,
    stored_releases,
)
from medhelm_spark.releases.reader import release_reader


def release_of(reader: Reader, name: str) -> StoredRelease:
    """The release of this name.

    Raises:
        LakeError: The lake does not have it.
    """
    releases = {each.name: each for each in stored_releases(reader)}
    if name not in releases:
        raise unknown(reader, Kind.RELEASE, name, releases)
    return releases[name]


def expired_at(release: StoredRelease) -> str:
    """When the approval of a release ended; empty where there is none, or it has not."""
    approval = release.state.approval
    return approval.end if approval and approval.is_expired(now()) else ""


class _Releases:
    """See `board.sources.ReleaseSource`."""

    def sources(self, reader: Reader) -> Sequence[BoardSource]:
        return [
            BoardSource(
                kind=Kind.RELEASE,
                name=release.name,
                status=release.state.status.value,
                reason=release.state.reason,
                changes=release.state.changes,
                expired=expired_at(release),
            )
            for release in stored_releases(reader)
        ]

    def frozen(self, reader: Reader, name: str, beside: Sequence[str]) -> Reader:
        return release_reader(reader, members_of(reader, name), beside)

    def runs(self, reader: Reader, name: str) -> PinnedRuns:
        rows = read_release(reader, members_of(reader, name))
        refuse_changed(name, rows)
        return PinnedRuns(
            planned=[rows.planned[key_of(member)] for member in rows.members],
            # Its own rows, or of a release of an earlier version the lake's.
            pins={row.run_spec_id: copy_of(row) or row.stats_write_id for row in rows.members},
            stats=rows.stats,
        )

    def left_out(self, reader: Reader, name: str, rows: Sequence[LeftOut]) -> Sequence[LeftOut]:
        members = members_of(reader, name)
        made_at = max(member.created_at for member in members)
        suites = {member.suite for member in members}
        names = {member.name for member in members}
        return [
            row
            for row in rows
            if row.left_out_at <= made_at and row.suite in suites and row.name not in names
        ]

    def manifest_hash(self, reader: Reader, name: str) -> str:
        members = members_of(reader, name)
        return ", ".join(sorted({member.manifest_hash for member in members}))

    def schema_hash(self, reader: Reader, name: str) -> str:
        manifest = release_of(reader, name).manifest
        return (manifest.schema_hash or "") if manifest else ""


read_releases_by(_Releases())
