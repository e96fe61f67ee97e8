"""What every stage needs beside its subject, and the ledger of finished work."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from medhelm_spark import __version__
from medhelm_spark.domain.run import RunRecord
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.rows import rows_of
from medhelm_spark.lake.tables import SCHEMA_VERSION
from medhelm_spark.lake.views import CURRENT_RUNS

Say = Callable[[str], None]


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The lake, the suite worked for, and where progress is told."""

    lake: Lake
    suite: str
    say: Say = _silent
    wave_seconds: float = 600.0
    slots: int = 1
    cores: int = 2
    holder: str = field(default_factory=lambda: f"{platform.node()}:{datetime.now(UTC)}")

    def finished(self, stage: str, units: Sequence[str]) -> dict[str, RunRecord]:
        """The newest finished record of each of these units, where there is one."""
        if not units:
            return {}
        records = self.lake.query(CURRENT_RUNS).where(f"stage = '{stage}'")
        return {
            record.unit_id: record
            for record in rows_of(records, RunRecord)
            if record.unit_id in set(units)
        }

    def record(
        self,
        stage: str,
        fingerprints: Mapping[str, str],
        write_id: str,
        started_at: datetime,
        counts: Mapping[str, Mapping[str, int]] | None = None,
    ) -> None:
        """Mark units finished: from this commit on the rows of `write_id` are current for them."""
        now = datetime.now(UTC)
        rows = [
            RunRecord(
                stage=stage,
                unit_id=unit,
                write_id=write_id,
                fingerprint=fingerprint,
                suite=self.suite,
                started_at=started_at,
                finished_at=now,
                counts=(counts or {}).get(unit, {}),
                code_version=__version__,
                spark_version=self.lake.spark.version,
                schema_version=SCHEMA_VERSION,
            )
            for unit, fingerprint in fingerprints.items()
        ]
        self.lake.append_rows("runs", rows, write_id)


def now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)
