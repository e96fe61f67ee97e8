"""What of a release and of the chain is not as it was recorded, for `release verify`."""

from collections.abc import Iterator, Sequence

from medhelm_spark.provenance.chain import broken, last_signed, unsigned
from medhelm_spark.provenance.chained import (
    CHANGE,
    OF_LAKE,
    ROW,
    beside,
    of_release,
    records_of,
    rows_beside,
    unrecorded,
)
from medhelm_spark.provenance.facts import ROWS, decisions_of, judged_by, rows_of
from medhelm_spark.provenance.tables import ProvenanceRecord, RecordKind
from medhelm_spark.releases.keys import site_keys
from medhelm_spark.releases.pinned import (
    Rows,
    StoredRelease,
    changes_of,
    purges_by_id,
    read_release,
)
from medhelm_spark.releases.value_hash import row_digest
from medhelm_spark.workspace.workspace import Workspace


def hashes_of(workspace: Workspace, release: str) -> list[str]:
    """The hashes of a release's records, oldest first."""
    return [record.record_hash for record in of_release(records_of(workspace.reader), release)]


def changed(workspace: Workspace, release: StoredRelease) -> list[str]:
    """What of a release does not fit the chain, and which records of the chain were changed."""
    keys = site_keys(workspace.settings, workspace.location)
    records = records_of(workspace.reader)
    wrong = list(broken(records))
    if own := of_release(records, release.name):
        wrong += _misfits(workspace, release, own)
    return [*wrong, *(unsigned(records, keys.known) if keys.known else ())]


def changed_beside(workspace: Workspace, release: StoredRelease) -> list[str]:
    """The shares of a release, and purges of the lake, that are not as the chain has them.

    A lake whose chain has no such record is of an earlier version: nothing is named, but for a
    purge that has the hashes of its tombstones, which no earlier version wrote.
    """
    records = records_of(workspace.reader)
    recorded = [record for record in records if record.kind in OF_LAKE]
    purges = purges_by_id(workspace.reader).values()
    if not recorded and all(row.tombstones is None for row in purges):
        return []
    rows, own = rows_beside(workspace.reader), ("", release.name)
    wrong = [
        f"{record.kind}s: {record.name}, recorded at {record.made_at:%Y-%m-%d %H:%M} UTC, is "
        "changed or gone"
        for record in recorded
        if record.release in own and record.facts.get(ROW) not in rows
    ]
    added = [each for each in beside(workspace.reader, records) if each.release in own]
    return [*wrong, *(f"{each.kind}s: {each.name} is not in the chain" for each in added)]


def is_signed(workspace: Workspace, release: StoredRelease) -> bool:
    """Whether a key signed a release, or the site has none.

    A release that was made before the site had a key looks the same as a rewritten chain.
    """
    keys = site_keys(workspace.settings, workspace.location)
    return not keys.known or bool(signed_by(workspace, release))


def signed_by(workspace: Workspace, release: StoredRelease) -> str:
    """By which key of the site a release is signed; empty where it is by none."""
    keys = site_keys(workspace.settings, workspace.location)
    records = records_of(workspace.reader)
    own, last = of_release(records, release.name), last_signed(records)
    if not own or not keys.known or last is None or last.position < own[-1].position:
        return ""
    if last.position == records[-1].position:
        return f"signed by key {last.signed_by}"
    return f"signed by key {last.signed_by} up to record {last.position} of {len(records)}"


def _misfits(
    workspace: Workspace, release: StoredRelease, own: Sequence[ProvenanceRecord]
) -> Iterator[str]:
    """What of the release now differs from its records."""
    of_runs = {
        record.name: record
        for record in own
        if record.kind is RecordKind.RUN and record.manifest_hash == release.manifest_hash
    }
    for member in release.members:
        if member.name not in of_runs:
            yield f"provenance of {member.name} (gone)"
    for name in sorted(of_runs.keys() - {member.name for member in release.members}):
        yield f"releases of {name} (gone)"
    moments = {record.made_at for record in of_runs.values()}
    decided = {at: decisions_of(workspace.reader, release, at) for at in moments}
    rows = read_release(workspace.reader, release.members)
    judged = {at: judged_by(workspace.reader, rows, at) for at in moments}
    for member in release.members:
        if (record := of_runs.get(member.name)) is None:
            continue
        recorded = {key: value for key, value in record.facts.items() if key.startswith(ROWS)}
        if recorded != rows_of(member):
            yield f"provenance of {member.name}: hashes of rows"
        if record.facts.get("decisions") != decided[record.made_at][member.name]:
            yield f"policy_decisions of {member.name}"
        for table, fact in judged[record.made_at][member.name].items():
            if record.facts.get(table, fact) != fact:
                yield f"{table} of {member.name}"
    yield from _changed_statuses(workspace.reader, release, own)


def _changed_statuses(
    source: Rows, release: StoredRelease, own: Sequence[ProvenanceRecord]
) -> Iterator[str]:
    digests = {row_digest(change) for change in changes_of(source, release.name)}
    for record in own:
        if CHANGE in record.facts and record.facts[CHANGE] not in digests:
            yield f"release_changes: {record.name} at {record.made_at:%Y-%m-%d %H:%M} UTC"
    for change in unrecorded(source, release, own):
        yield f"release_changes: {change.step} (not in the chain)"
