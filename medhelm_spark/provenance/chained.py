"""Writes the chain of a lake: of releases, their statuses and shares, and of purges.

There is one writer, with a lease on the chain. What is recorded already is not recorded again, so
that the same command finishes one that was killed.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.moments import now
from medhelm_spark.domain.pluralize import first_of
from medhelm_spark.domain.purge import Purge
from medhelm_spark.domain.release import ReleaseChange, ReleaseStatus
from medhelm_spark.domain.stages import RECORD_PROVENANCE
from medhelm_spark.errors import IntegrityError, ReleaseError
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.lease import lease
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.provenance.chain import ChainEntry, broken, follow, in_order, last_signed
from medhelm_spark.provenance.facts import facts_of
from medhelm_spark.provenance.tables import ProvenanceRecord, RecordKind
from medhelm_spark.releases.identity import Signer
from medhelm_spark.releases.keys import SigningKey, site_keys
from medhelm_spark.releases.pinned import Rows, StoredRelease, changes_of
from medhelm_spark.releases.source import release_of
from medhelm_spark.releases.value_hash import row_digest
from medhelm_spark.stages.context import Context
from medhelm_spark.workspace.workspace import Workspace

LEASED = "provenance"
"""In place of a suite: the right to add to the chain."""
CHANGE = "change"
"""The fact of a status: the digest of its row."""
ROW = "row"
"""The fact of a share or a purge: the digest of its row."""
OF_LAKE = (RecordKind.SHARE, RecordKind.PURGE)
"""The records beside those of releases' numbers."""


def records_of(source: Rows) -> list[ProvenanceRecord]:
    """The records of a lake's chain in order."""
    return in_order(source.rows("SELECT * FROM {provenance}", ProvenanceRecord))


def enter(workspace: Workspace, ctx: Context, release: str) -> str:
    """Record the runs of a release as it is, and its last status; returns the last record's hash.

    Raises:
        IntegrityError: the chain is broken.
        LakeError: somebody else adds to the chain now.
        ReleaseError: an earlier status is not in the chain.
    """
    return _added(workspace, ctx, release, seal=False)


def seal(workspace: Workspace, ctx: Context, release: str) -> str:
    """The same, and a signed record where the last one of the release is not signed yet.

    Raises:
        as of `enter`; ReleaseError also where the settings name no key.
    """
    return _added(workspace, ctx, release, seal=True)


def _added(workspace: Workspace, ctx: Context, release: str, *, seal: bool) -> str:
    keys = site_keys(workspace.settings, workspace.location)
    if seal and keys.signing is None:
        raise ReleaseError(
            f"release {release!r}: setting signing_key names no key to sign by; allowed: a file "
            "with a private Ed25519 key."
        )
    with lease(ctx.lake, LEASED, [LEASED], ctx.holder, say=ctx.say):
        stored, records = release_of(workspace.reader, release), records_of(workspace.reader)
        _refuse_broken(records)
        at = now(record.made_at for record in records)
        entries = list(_lacking(workspace, stored, records, at, is_sealed=seal))
        entries += beside(workspace.reader, records)
        covered = last_signed(records)
        if seal and not entries and (not covered or covered.position < records[-1].position):
            entries = [_entry(stored, RecordKind.SEAL, "sealed", {})]
        made = _appended(ctx, records, entries, at, keys.signing)
    return of_release([*records, *made], release)[-1].record_hash


def record(workspace: Workspace, ctx: Context) -> None:
    """Record the shares and purges of a lake that have no record yet.

    Raises:
        as of `enter`.
    """
    keys = site_keys(workspace.settings, workspace.location)
    with lease(ctx.lake, LEASED, [LEASED], ctx.holder, say=ctx.say):
        records = records_of(workspace.reader)
        _refuse_broken(records)
        at = now(record.made_at for record in records)
        _appended(ctx, records, list(beside(workspace.reader, records)), at, keys.signing)


def _appended(
    ctx: Context,
    records: Sequence[ProvenanceRecord],
    entries: Sequence[ChainEntry],
    at: datetime,
    key: SigningKey | None,
) -> list[ProvenanceRecord]:
    made = follow(records, entries, at, ctx.user, key)
    if made:
        txn = (content_id(LEASED, made[0].before, made[0].position), 1)
        lake = ctx.within(RECORD_PROVENANCE).lake
        if not lake.append_rows("provenance", made, new_write_id(), txn=txn):
            raise IntegrityError(
                f"record {made[0].position} of provenance was written before and is gone; "
                "restore the table."
            )
    return made


def of_release(records: Iterable[ProvenanceRecord], release: str) -> list[ProvenanceRecord]:
    """The records of a release's runs and statuses; those of its shares are not among them."""
    return [each for each in records if each.release == release and each.kind not in OF_LAKE]


def rows_beside(source: Rows) -> dict[str, ChainEntry]:
    """By the digest of its row each share and each step of a purge, oldest first."""
    entries: list[tuple[datetime, ChainEntry]] = []
    if "shares" in TABLES:
        shares: list[Any] = source.rows("SELECT * FROM {shares}", TABLES["shares"].row)
        for share in shares:
            entry = ChainEntry(
                kind=RecordKind.SHARE,
                release=share.release,
                manifest_hash=share.release_manifest,
                name=share.share,
                facts={ROW: row_digest(share)},
            )
            entries.append((share.made_at, entry))
    for purge in source.rows("SELECT * FROM {purges}", Purge):
        entry = ChainEntry(
            kind=RecordKind.PURGE,
            release="",
            manifest_hash="",
            name=purge.purge_id,
            facts={ROW: row_digest(purge)},
        )
        entries.append((purge.finished_at or purge.begun_at, entry))
    return {entry.facts[ROW]: entry for _, entry in sorted(entries, key=lambda each: each[0])}


def beside(source: Rows, records: Iterable[ProvenanceRecord]) -> Iterator[ChainEntry]:
    """The shares and purges without a record."""
    known = {record.facts.get(ROW) for record in records}
    for digest, entry in rows_beside(source).items():
        if digest not in known:
            yield entry


def _lacking(
    workspace: Workspace,
    release: StoredRelease,
    records: Sequence[ProvenanceRecord],
    at: datetime,
    *,
    is_sealed: bool,
) -> Iterator[ChainEntry]:
    """What of a release is not in the chain: its runs, then its statuses."""
    known = {(each.kind, each.manifest_hash, each.name) for each in records}
    members = [
        member
        for member in release.members
        if (RecordKind.RUN, release.manifest_hash, member.name) not in known
    ]
    if members:
        facts = facts_of(workspace, release, at)
        for member in members:
            yield _entry(release, RecordKind.RUN, member.name, facts[member.name])
    changes = unrecorded(workspace.reader, release, records)
    if len(changes) > 1 and not members and not is_sealed:
        raise ReleaseError(_of_earlier(release, changes[0]))
    for change in changes:
        yield _entry(
            release, RecordKind.STATUS, change.to_status.value, {CHANGE: row_digest(change)}
        )


def unrecorded(
    source: Rows, release: StoredRelease, records: Sequence[ProvenanceRecord]
) -> list[ReleaseChange]:
    """The statuses of this manifest without a record, oldest first."""
    digests = {record.facts.get(CHANGE) for record in records}
    own = [
        row
        for row in changes_of(source, release.name)
        if row.manifest_hash == release.manifest_hash
    ]
    return [change for change in own if row_digest(change) not in digests]


def _of_earlier(release: StoredRelease, change: ReleaseChange) -> str:
    return (
        f"release {release.name!r}: the chain has no record of an earlier status: {change.step}. "
        "Whoever gave it repeats the command, or "
        f"`release seal {release.name}` signs what is there."
    )


def _refuse_broken(records: Sequence[ProvenanceRecord]) -> None:
    if wrong := list(broken(records)):
        raise IntegrityError(
            f"provenance was changed: {first_of(wrong, 3)}. Nothing is added to it; restore the "
            "table."
        )


def _entry(
    release: StoredRelease, kind: RecordKind, name: str, facts: dict[str, str]
) -> ChainEntry:
    return ChainEntry(
        kind=kind,
        release=release.name,
        manifest_hash=release.manifest_hash,
        name=name,
        facts=facts,
    )


def check(workspace: Workspace) -> None:
    """Refuse to begin what could not be recorded.

    Raises:
        ConfigError: a key that the settings name cannot be used.
        IntegrityError: the chain is broken.
    """
    site_keys(workspace.settings, workspace.location)
    _refuse_broken(records_of(workspace.reader))


def pending(
    workspace: Workspace, release: StoredRelease, to: ReleaseStatus, signer: Signer
) -> ReleaseChange | None:
    """The status that this person gave the release by a command that was killed before its record.

    Raises:
        IntegrityError: the chain is broken.
        ReleaseError: another status has no record.
    """
    check(workspace)
    records = records_of(workspace.reader)
    if not any(record.manifest_hash == release.manifest_hash for record in records):
        return None
    lacking = unrecorded(workspace.reader, release, records)
    if len(lacking) == 1 and lacking[0].to_status is to and signer.gave(lacking[0]):
        return lacking[0]
    if lacking:
        raise ReleaseError(_of_earlier(release, lacking[0]))
    return None
