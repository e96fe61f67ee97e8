"""What of a release and of the chain is not as it was recorded: `release verify` asks."""

from collections.abc import Iterator, Sequence

from medhelm_spark.provenance.chain import broken, last_signed, unsigned
from medhelm_spark.provenance.chained import CHANGE, records_of, unrecorded
from medhelm_spark.provenance.facts import ROWS, decisions_of, rows_of
from medhelm_spark.provenance.tables import ProvenanceRecord, RecordKind
from medhelm_spark.releases.keys import SiteKeys, site_keys
from medhelm_spark.releases.pinned import Rows, StoredRelease, changes_of
from medhelm_spark.releases.value_hash import row_digest
from medhelm_spark.workspace.workspace import Workspace


def hashes_of(workspace: Workspace, release: str) -> list[str]:
    """The hashes of a release's records, oldest first."""
    records = records_of(workspace.reader)
    return [record.record_hash for record in records if record.release == release]


def changed(workspace: Workspace, held: StoredRelease) -> list[str]:
    """What of a release does not fit the chain, and what of the chain is not as it was written.

    A release without any record was made by an earlier version: where the site has a key, that is
    named too, since nobody can tell it from a chain that was removed.
    """
    keys = site_keys(workspace.settings, workspace.location)
    records = records_of(workspace.reader)
    wrong = list(broken(records))
    own = [record for record in records if record.release == held.name]
    if own:
        wrong += _misfits(workspace, held, own)
    return [*wrong, *_not_signed(held, records, own, keys)]


def _not_signed(
    held: StoredRelease,
    records: Sequence[ProvenanceRecord],
    own: Sequence[ProvenanceRecord],
    keys: SiteKeys,
) -> Iterator[str]:
    if not keys.known:
        return
    yield from unsigned(records, keys.known)
    last = last_signed(records)
    if not own or last is None or last.position < own[-1].position:
        yield (
            f"provenance of {held.name}, which no key of this site signed (rewritten, or made "
            "without the key: `release seal` signs it as it is)"
        )


def signed_by(workspace: Workspace, held: StoredRelease) -> str:
    """By which key of the site a release is signed; empty where it is by none."""
    keys = site_keys(workspace.settings, workspace.location)
    records = records_of(workspace.reader)
    own = [record for record in records if record.release == held.name]
    last = last_signed(records)
    if not own or not keys.known or last is None or last.position < own[-1].position:
        return ""
    return f"signed by key {last.signed_by}"


def _misfits(
    workspace: Workspace, held: StoredRelease, own: Sequence[ProvenanceRecord]
) -> Iterator[str]:
    """What of the release as it is differs from what its records say."""
    of_runs = {
        record.name: record
        for record in own
        if record.kind is RecordKind.RUN and record.manifest_hash == held.manifest_hash
    }
    for member in held.members:
        if member.name not in of_runs:
            yield f"provenance of {member.name} (gone)"
    for name in sorted(of_runs.keys() - {member.name for member in held.members}):
        yield f"releases of {name} (gone)"
    moments = {record.made_at for record in of_runs.values()}
    decided = {at: decisions_of(workspace.reader, held, at) for at in moments}
    for member in held.members:
        if (record := of_runs.get(member.name)) is None:
            continue
        said = {key: value for key, value in record.facts.items() if key.startswith(ROWS)}
        if said != rows_of(member):
            yield f"provenance of {member.name}: hashes of rows"
        if record.facts.get("decisions") != decided[record.made_at][member.name]:
            yield f"policy_decisions of {member.name}"
    yield from _changed_statuses(workspace.reader, held, own)


def _changed_statuses(
    source: Rows, held: StoredRelease, own: Sequence[ProvenanceRecord]
) -> Iterator[str]:
    digests = {row_digest(change) for change in changes_of(source, held.name)}
    for record in own:
        if CHANGE in record.facts and record.facts[CHANGE] not in digests:
            yield f"release_changes: {record.name} at {record.made_at:%Y-%m-%d %H:%M} UTC"
    for change in unrecorded(source, held, own):
        yield f"release_changes: {change.step} (not in the chain)"
