"""What every stage needs beside its subject, and the ledger of finished work."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TextIO

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.domain.cluster import Cluster
from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.stages import Stage
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.lease import this_holder
from medhelm_spark.lake.literals import any_of, literal, literals
from medhelm_spark.lake.progress import Watch, metered
from medhelm_spark.lake.tables import SCHEMA_VERSION, WRITE_ID, refuse_newer
from medhelm_spark.lake.user import this_user
from medhelm_spark.lake.views import CURRENT_RESULTS, CURRENT_RUNS
from medhelm_spark.version import VERSION

TICK = timedelta(microseconds=1)
Say = Callable[[str], None]


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Context:
    """The lake, the suite worked for, and where progress is told.

    `say` takes finished lines; `terminal` is where progress is drawn meanwhile, None for nowhere.
    `slots` is how many engines a person said, None to find it from what `cluster` tells when it is
    asked. `cores` is how many tasks of one core run at once. Where `is_one_machine`, tasks see the
    driver's files.
    """

    lake: Lake
    suite: str
    say: Say = _silent
    terminal: TextIO | None = None
    wave_seconds: float = 600.0
    slots: int | None = None
    cluster: Callable[[], Cluster] = Cluster
    cores: int = 2
    is_one_machine: bool = True
    holder: str = field(default_factory=this_holder)
    user: str = field(default_factory=this_user)

    _ledgers: list[dict[tuple[str, str], RunRecord]] = field(default_factory=list, repr=False)
    """The ledger once it is read, one for the contexts of all stages."""

    @property
    def ledger(self) -> dict[tuple[str, str], RunRecord]:
        """The current record of every (stage, unit), read once and kept up by `record`.

        What another driver finishes meanwhile is not seen: that costs doing it again, no more.
        """
        if not self._ledgers:
            records = self.lake.rows(CURRENT_RUNS, RunRecord)
            refuse_newer(max((record.schema_version for record in records), default=None))
            self._ledgers.append({(record.stage, record.unit_id): record for record in records})
        return self._ledgers[0]

    def within(self, stage: Stage) -> "Context":
        """This context for one stage, whose lake refuses tables that the stage does not declare."""
        _ = self.ledger  # read by the whole lake: few stages declare `runs`
        return replace(self, lake=self.lake.within(stage))

    def current(
        self, table: str, stage: Stage, units: Iterable[str], unit: str = "run_spec_id"
    ) -> DataFrame:
        """The rows of `table` that `stage` last finished for these units.

        The same rows as `views.output_of`, as a filter that Delta answers from its file statistics:
        the ledger is at hand, so nothing is joined.
        """
        return self.lake.read(table).where(self.is_current(stage, units, unit))

    def is_current(self, stage: Stage, units: Iterable[str], unit: str = "run_spec_id") -> str:
        """The condition of `current` as SQL, alike in Spark SQL and DataFusion."""
        written: dict[str, list[str]] = {}
        for name, record in self.finished(stage, units).items():
            written.setdefault(record.write_id, []).append(name)
        return any_of(
            [
                f"({WRITE_ID} = {literal(write_id)} AND {unit} IN ({literals(names)}))"
                for write_id, names in sorted(written.items())
            ]
        )

    def prompts(self, renders: Iterable[str]) -> DataFrame:
        """All prompts of these renderings."""
        return self.lake.read("prompts").where(F.col("render_id").isin(sorted(renders)))

    def results(self, deployments: Iterable[str], asked: DataFrame | None = None) -> DataFrame:
        """The standing result of every request that these deployments were sent.

        Of those in the column `request_id` of `asked` alone, where that is given: a judge answers
        for every suite of the lake, and what is shuffled would grow with all of them.
        """
        rows = self.lake.read("request_results")
        rows = rows.where(F.col("model_deployment").isin(sorted(deployments)))
        if asked is not None:
            rows = rows.join(asked.select("request_id"), "request_id", "left_semi")
        return self.lake.query(CURRENT_RESULTS, request_results=rows)

    def metered(self, label: str, total: int | None = None) -> AbstractContextManager[Watch]:
        """Shows the rows that a job makes while it runs (see `lake.progress`)."""
        return metered(self.lake.spark, self.terminal, label, total)

    def finished(self, stage: Stage, units: Iterable[str]) -> dict[str, RunRecord]:
        """The newest finished record of each of these units, where there is one."""
        records = {unit: self.ledger.get((stage.name, unit)) for unit in units}
        return {unit: record for unit, record in records.items() if record}

    def record(
        self,
        stage: Stage,
        fingerprints: Mapping[str, str],
        write_id: str,
        started_at: datetime,
        counts: Mapping[str, Mapping[str, int]] | None = None,
        *,
        comparability: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        """Mark units finished: from this commit on the rows of `write_id` are current for them."""
        held = [self.ledger.get((stage.name, unit)) for unit in fingerprints]
        finished_at = now([record.finished_at for record in held if record])
        rows = [
            RunRecord(
                stage=stage.name,
                unit_id=unit,
                write_id=write_id,
                fingerprint=fingerprint,
                suite=self.suite,
                started_at=started_at,
                finished_at=finished_at,
                counts=(counts or {}).get(unit, {}),
                code_version=VERSION,
                spark_version=self.lake.session.version,
                schema_version=SCHEMA_VERSION,
                comparability=(comparability or {}).get(unit),
                run_by=self.user,
            )
            for unit, fingerprint in fingerprints.items()
        ]
        self.lake.append_rows("runs", rows, write_id)
        self.ledger.update({(stage.name, row.unit_id): row for row in rows})


def now(after: Iterable[datetime] = ()) -> datetime:
    """The present moment, in UTC; later than all of `after`, whatever this machine's clock says.

    What is recorded last is current. A record of a machine whose clock is behind would else count
    as older than what it follows.
    """
    return max([datetime.now(UTC), *(each + TICK for each in after)])
