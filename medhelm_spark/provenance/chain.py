"""The chain: how a record follows the one before, and what is wrong in one that was changed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from medhelm_spark.provenance.tables import ProvenanceRecord, RecordKind
from medhelm_spark.releases.keys import SigningKey, is_signed, key_name
from medhelm_spark.releases.value_hash import row_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEntry:
    """What is to be recorded."""

    kind: RecordKind
    release: str
    manifest_hash: str
    name: str
    facts: Mapping[str, str]


def hash_of(record: ProvenanceRecord) -> str:
    """The hash of what a record says and follows."""
    return row_digest(replace(record, record_hash="", signature=None, signed_by=None))


def follow(
    records: Sequence[ProvenanceRecord],
    entries: Iterable[ChainEntry],
    at: datetime,
    by: str,
    key: SigningKey | None,
) -> list[ProvenanceRecord]:
    """The records of these entries, that follow the last of a chain which is in order."""
    made: list[ProvenanceRecord] = []
    last = records[-1] if records else None
    for entry in entries:
        record = ProvenanceRecord(
            position=last.position + 1 if last else 1,
            before=last.record_hash if last else "",
            record_hash="",
            kind=entry.kind,
            release=entry.release,
            manifest_hash=entry.manifest_hash,
            name=entry.name,
            made_at=at,
            made_by=by,
            facts=entry.facts,
        )
        last = replace(record, record_hash=hash_of(record))
        made.append(_signed(last, key) if key else last)
    return made


def _signed(record: ProvenanceRecord, key: SigningKey) -> ProvenanceRecord:
    signature = key.sign(record.record_hash)
    return replace(record, signature=signature, signed_by=key_name(key.public))


def in_order(records: Iterable[ProvenanceRecord]) -> list[ProvenanceRecord]:
    """The records of a chain by their positions."""
    return sorted(records, key=lambda record: record.position)


def broken(records: Sequence[ProvenanceRecord]) -> Iterator[str]:
    """Name each changed, missing or repeated record of a chain, whose records are in order."""
    position, before = 0, ""
    for record in records:
        of_release = f" of {record.release}" if record.release else ""
        label = f"record {record.position} of provenance ({record.name}{of_release})"
        if record.position <= position:
            yield f"{label} is there twice"
            continue
        if missing := list(range(position + 1, record.position)):
            yield f"{_names(missing)} of provenance (gone)"
        own = hash_of(record)
        if own != record.record_hash:
            yield label
        elif not missing and record.before != before:
            yield f"{label} does not follow record {position}"
        # The next record is compared with the stored hash, so that one change is named once.
        position, before = record.position, record.record_hash


def _names(missing: Sequence[int]) -> str:
    if len(missing) == 1:
        return f"record {missing[0]}"
    return f"records {missing[0]} to {missing[-1]}"


def unsigned(records: Iterable[ProvenanceRecord], known: Sequence[str]) -> Iterator[str]:
    """The records whose signature no known key made."""
    names = {key_name(key): key for key in known}
    for record in records:
        if record.signature is None:
            continue
        key = names.get(record.signed_by or "")
        if key is None:
            yield f"signature of record {record.position} of provenance, by a key that is not known"
        elif not is_signed(record.record_hash, record.signature, key):
            yield f"signature of record {record.position} of provenance"


def last_signed(records: Iterable[ProvenanceRecord]) -> ProvenanceRecord | None:
    """The last record with a signature, which covers all before it."""
    signed = [record for record in records if record.signature is not None]
    return signed[-1] if signed else None
