"""`evaluation.provenance`: what the runs of releases came from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.pipeline.in_process import is_own_machine
from medhelm_spark.provenance.chained import records_of, seal
from medhelm_spark.provenance.tables import ProvenanceRecord
from medhelm_spark.releases.commands import anchor
from medhelm_spark.releases.source import release_of
from medhelm_spark.render.result import Result

NOT_SIGNED = "not signed"


@dataclass(frozen=True, slots=True)
class Provenance(Result):
    """The records of a release in the chain, oldest first: a line for each fact."""

    records: tuple[ProvenanceRecord, ...]

    HEADER = ("record", "kind", "name", "fact", "value")

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per fact of each record, its hash and signature first."""
        for record in self.records:
            signed = f"signed by key {record.signed_by}" if record.signature else NOT_SIGNED
            written = f"{record.made_at:%Y-%m-%d %H:%M} UTC by {record.made_by}, {signed}"
            own = {"record": record.position, "kind": record.kind.value, "name": record.name}
            yield {**own, "fact": "written", "value": written}
            yield {**own, "fact": "hash", "value": record.record_hash}
            for name, value in record.facts.items():
                yield {**own, "fact": name, "value": value}

    @property
    def notes(self) -> Sequence[str]:
        """Who checked the names of the users."""
        return ("Users are the operating system's, which nobody has checked.",)


class ProvenanceMethods(Methods):
    """The chain of provenance."""

    @at_work
    def records(self, release: str) -> Provenance:
        """What the runs of a release came from, and its statuses, as recorded.

        Raises:
            LakeError: the lake does not have it.
        """
        reader = self._workspace.reader
        release_of(reader, release)
        own = [record for record in records_of(reader) if record.release == release]
        return Provenance(tuple(own))

    @at_work
    def seal(self, release: str) -> str:
        """Record a release as it is, and sign the chain; returns the last record's hash.

        For a release that was made without the site's key. What is signed is what the lake has
        now: verify it first.

        Raises:
            ReleaseError: the settings name no key to sign by.
            IntegrityError: the chain was changed.
            LakeError: the lake does not have the release, or somebody else adds to the chain now.
        """
        workspace = self._workspace
        stored = release_of(workspace.reader, release)
        ctx = workspace.context("", is_in_process=is_own_machine(workspace))
        record = seal(workspace, ctx, release)
        anchor(workspace, ctx, stored, record)
        return record
