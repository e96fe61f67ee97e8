"""What every stage needs: the lake, the suite and the settings of the job."""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from medhelm_spark.domain.cluster import Cluster
from medhelm_spark.domain.moments import now as now  # stages have it from here
from medhelm_spark.domain.request import Prompt
from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.stages import Stage
from medhelm_spark.installation import installed
from medhelm_spark.lake.condition import RowCondition, of_writes, one_of
from medhelm_spark.lake.in_process import LocalFrame
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.lease import this_holder
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.progress import Display, Watch
from medhelm_spark.lake.rows import Frame
from medhelm_spark.lake.tables import SCHEMA_VERSION
from medhelm_spark.lake.user import this_user
from medhelm_spark.lake.views import CURRENT_RESULTS
from medhelm_spark.stages.ledger import Ledger
from medhelm_spark.version import VERSION

ASKED = """
SELECT r.* FROM {results} r LEFT SEMI JOIN {asked} a ON a.request_id = r.request_id
"""

TEXTS = ("text", "messages", "output_mapping")
"""The columns of prompts with text."""

MOST_IDS = 20_000
"""Up to so many ids of this process's rows are listed in a condition: 10,000 take 0.2 s."""

READ_WHOLE = 32 << 20
"""How many bytes the files of a table have that this process reads whole."""

Say = Callable[[str], None]


def _silent(_: str) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Context:
    """The lake, the suite, and where progress is printed.

    `say` prints finished lines; `display` shows progress meanwhile, None for no display.
    `chunk_requests` is how many requests a slot takes together, `commit_seconds` how long answers
    wait for their commit. `slots` is the number of engines that a person set; None computes it from
    `cluster`. `cores` is how many tasks of one core run at once. If `is_one_machine`, tasks can
    read the driver's files.
    """

    lake: Lake
    suite: str
    say: Say = _silent
    display: Display | None = None
    chunk_requests: int = 64
    commit_seconds: float = 10.0
    slots: int | None = None
    cluster: Callable[[], Cluster] = Cluster
    cores: int = 2
    is_one_machine: bool = True
    holder: str = field(default_factory=this_holder)
    user: str = field(default_factory=this_user)

    _shared: dict[str, Any] = field(default_factory=dict, repr=False)
    """What the contexts of all stages share: the ledger, and the requests read so far."""

    @property
    def ledger(self) -> Ledger:
        """The current record of every (stage, unit), updated by `record`."""
        ledger: Ledger = self._shared.setdefault("ledger", Ledger(self.lake))
        return ledger

    @property
    def few_requests(self) -> dict[str, Any]:
        """The results of `few_asked` by SQL: the requests of a write never change."""
        few_requests: dict[str, Any] = self._shared.setdefault("few_requests", {})
        return few_requests

    def within(self, stage: Stage) -> "Context":
        """This context for one stage, whose lake refuses tables that the stage does not declare."""
        _ = self.ledger  # it reads by the whole lake: few stages declare `runs`
        return replace(self, lake=self.lake.within(stage))

    def current(
        self, table: str, stage: Stage, units: Iterable[str], unit: str = "run_spec_id"
    ) -> Frame:
        """The rows of `table` that `stage` last finished for these units.

        The same rows as `views.output_of`, as a filter that Delta answers from its file statistics:
        the ledger is in memory, so nothing is joined.
        """
        return self.lake.read(table, self.is_current(stage, units, unit))

    def is_current(
        self, stage: Stage, units: Iterable[str], unit: str = "run_spec_id"
    ) -> RowCondition:
        """The condition of `current`."""
        finished = self.finished(stage, units)
        return of_writes(unit, ((record.write_id, name) for name, record in finished.items()))

    def prompts(self, renders: Iterable[str]) -> Frame:
        """All prompts of these renderings, without text."""
        columns = [each.name for each in fields(Prompt) if each.name not in TEXTS]
        return self.lake.read("prompts", one_of("render_id", list(renders)), only=columns)

    def results(
        self,
        deployments: Iterable[str],
        requests: Frame | None = None,
        ids: Collection[str] | None = None,
    ) -> Frame:
        """The current result of every request sent to these deployments; arguments as `tried`."""
        return self.lake.query(
            CURRENT_RESULTS, request_results=self.tried(deployments, requests, ids)
        )

    def tried(
        self,
        deployments: Iterable[str],
        requests: Frame | None = None,
        ids: Collection[str] | None = None,
    ) -> Frame:
        """All results of the requests that were sent to these deployments.

        `requests` limits them to the ids in its column `request_id`: a model answers for every
        suite of the lake, and the shuffle would grow with all suites. `ids` are the same ids if
        they are few: files that contain none of them are not read.
        """
        if ids is None and requests is not None:
            ids = self.ids_here("request_results", requests, "request_id")
        where = results_where(deployments, ids)
        rows = self.lake.read("request_results", where)
        # An IN list is part of `where`; it is exact and makes the join unnecessary.
        if requests is None or ids is not None:
            return rows
        return self.lake.query(ASKED, results=rows, asked=requests)

    def ids_here(self, table: str, frame: Frame, column: str) -> Collection[str] | None:
        """The ids in a column of this process's rows, by which it reads a large table.

        This process has in memory whatever rows it reads. None where it reads the whole table,
        which takes less time, or many of its rows; and None of Spark's frames.
        """
        if not isinstance(frame, LocalFrame) or frame.rows.num_rows > MOST_IDS:
            return None
        if all(each.size <= READ_WHOLE for each in self.lake.sizes([table])):
            return None
        return set(frame.rows[column].drop_null().to_pylist())

    def metered(self, label: str, total: int | None = None) -> AbstractContextManager[Watch]:
        """Shows the rows that a job makes while it runs (see `lake.progress`)."""
        return self.lake.metered(self.display, label, total)

    def finished(self, stage: Stage, units: Iterable[str]) -> dict[str, RunRecord]:
        """The newest finished record of each of these units, where there is one."""
        return self.ledger.of(stage, units)

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
        """Mark units finished: after this commit the rows of `write_id` are current for them."""
        # A unit whose name contains its write, such as a job's, is new.
        earlier = self.finished(stage, [unit for unit in fingerprints if write_id not in unit])
        finished_at = now(record.finished_at for record in earlier.values())
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
                installed=installed(),
            )
            for unit, fingerprint in fingerprints.items()
        ]
        self.lake.append_rows("runs", rows, write_id)
        self.ledger.note(rows)


def results_where(deployments: Iterable[str], ids: Collection[str] | None = None) -> RowCondition:
    """The condition that results are of these deployments, and of these requests if they are few.

    A deployment's name that needs escaping does not narrow the rows.
    """
    names = sorted(set(deployments))
    sql, values = among("model_deployment", names), {"model_deployment": names}
    if ids is None:
        return RowCondition(sql=sql, values=values)
    few = one_of("request_id", ids)
    return RowCondition(
        sql=f"{sql} AND {few.sql}", values={**values, **few.values}, at_most=len(ids)
    )
