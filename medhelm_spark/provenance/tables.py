"""The table of provenance: a chain of records, each with the hash of the one before."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from medhelm_spark.lake.tables import Table


class RecordKind(StrEnum):
    """What a record is of. SEAL: of the records before it, which somebody signed later."""

    RUN = "run"
    STATUS = "status"
    SEAL = "seal"
    SHARE = "share"
    PURGE = "purge"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenanceRecord:
    """Row of `provenance`: what a run of a release came from, a status, a share or a purge."""

    position: int
    """Its number in the lake's chain, from 1 on."""
    before: str
    """The hash of the record before; empty of the first."""
    record_hash: str
    """The hash of the record's values, this one and the signature left out."""
    kind: RecordKind
    release: str
    """Empty of a purge."""
    manifest_hash: str
    """Empty of a purge."""
    name: str
    """The run's name; of a status the status, of a share its name, of a purge its id."""
    made_at: datetime
    made_by: str
    """Who wrote the record: the operating system's user."""
    facts: Mapping[str, str]
    """What it came from (`provenance.facts`); of all but a run the digest of a row."""
    signature: str | None = None
    """The site's signature of `record_hash`, and so of all records before; None without a key."""
    signed_by: str | None = None
    """The name of the key."""


TABLES = (
    Table(
        name="provenance",
        row=ProvenanceRecord,
        key=("position", "record_hash"),
        indexed=("release", "position"),
        description="For each run of a release who, when, code, weights, data, prompts, policy, "
        "counts and cost, its statuses and shares, and the lake's purges: a chain of records, "
        "signed where the site has a key.",
    ),
)
