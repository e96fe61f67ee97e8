"""The runs of a suite or a release, each with its cell of the board."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain

from medhelm_spark import features
from medhelm_spark.board.cells import StatsWrite, cell_of, originals_of, scale_of
from medhelm_spark.board.sources import BoardSource, Kind, PinnedRuns, reader_of, releases
from medhelm_spark.board.view import ViewOf, as_declared
from medhelm_spark.domain.comparability import UNKNOWN
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.natural_order import in_natural_order
from medhelm_spark.domain.run import RunRecord, RunSpec, SuiteRun
from medhelm_spark.domain.scenario import ScenarioVersion
from medhelm_spark.domain.stages import INGEST, SCORE, SUMMARIZE, Stage
from medhelm_spark.domain.stats import MetricInfo, Stat, WrittenStat
from medhelm_spark.lake.literals import among, literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import current_run_specs, current_runs, output_of
from medhelm_spark.statistics.cell import BoardCell

_STATS = "SELECT * FROM {{stats}} WHERE run_spec_id IN ({units})"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRun:
    """One run of a board; `planned` is its row in its suite.

    `cell` is None where it has no stats: `is_summarized` is then false of a run that is not
    summarised yet, true of one whose main metric gave nothing on the main split. `is_current` is
    false where the run was scored again after these stats were made, `is_superseded` true where its
    suite has planned another in its place (a release keeps what it pinned). `is_lost`: summarize is
    on record, and the lake has none of its stats. `info` is None for a metric that is not
    installed here. `stats` are all of the run's, of every metric, split and perturbation.
    `scored_at` is None where the run has no score, `missing_provenance` is what the filter
    `provenance` misses. `release_status` is that of the release that it was read from, or says that
    a suite's numbers are working results.
    """

    planned: SuiteRun
    cell: BoardCell | None
    info: MetricInfo | None
    is_summarized: bool
    is_current: bool
    stats: tuple[Stat, ...] = ()
    is_superseded: bool = False
    is_lost: bool = False
    scored_at: datetime | None = None
    missing_provenance: tuple[str, ...] = ()
    release_status: str = ""

    @property
    def run_spec(self) -> RunSpec:
        """What was run."""
        return self.planned.run_spec

    @property
    def originals(self) -> dict[str, Stat]:
        """The stats of its main split by name, of the instances as they are."""
        return originals_of(self.run_spec, self.stats)

    @property
    def changes(self) -> tuple[Stat, ...]:
        """The main metric's stats over perturbed copies, prompt variants and repeats."""
        main = (self.run_spec.main_metric, self.run_spec.main_split)
        return tuple(
            stat for stat in self.stats if stat.perturbation and (stat.name, stat.split) == main
        )


class _Records:
    """The newest finished records of runs and of the versions of their data."""

    def __init__(self, reader: Reader, units: Iterable[str]) -> None:
        self._records: defaultdict[str, list[RunRecord]] = defaultdict(list)
        for record in reader.rows(current_runs(among("unit_id", units)), RunRecord):
            self._records[record.unit_id].append(record)
        self._score = self._of(SCORE)
        self._summary = self._of(SUMMARIZE)

    def _of(self, stage: Stage) -> dict[str, RunRecord]:
        flat = chain.from_iterable(self._records.values())
        return {record.unit_id: record for record in flat if record.stage == stage.name}

    def scored_at(self, unit: str) -> datetime | None:
        """When the answers of a run were scored last."""
        return self._score[unit].finished_at if unit in self._score else None

    def of_run(self, spec: RunSpec) -> list[RunRecord]:
        """The records of a run's own work and of its data."""
        return [*self._records[spec.run_spec_id], *self._records[spec.data_version]]

    @cached_property
    def newest(self) -> dict[str, str]:
        """The write of the newest finished stats by run_spec_id."""
        return {unit: record.write_id for unit, record in self._summary.items()}

    def is_current(self, unit: str, write_id: str | None) -> bool:
        """Whether the stored scores of a run are still those its stats were made from."""
        if unit not in self._score or unit not in self._summary or not write_id:
            return False
        scored, summary = self._score[unit], self._summary[unit]
        return summary.write_id == write_id and scored.finished_at <= summary.finished_at

    def written(self, row: SuiteRun, write_id: str | None, kind: Kind) -> StatsWrite:
        """When these stats were made; those of a release stay current whatever is scored later."""
        scored = self._score.get(row.run_spec_id)
        summary = self._summary.get(row.run_spec_id)
        is_newest = summary is not None and summary.write_id == write_id
        is_outdated = scored and summary and scored.finished_at > summary.finished_at
        return StatsWrite(
            made_at=summary.finished_at if summary and is_newest else row.planned_at,
            is_current=kind is Kind.RELEASE or not is_outdated,
        )


def load_runs(
    reader: Reader, source: BoardSource, view_of: ViewOf = as_declared
) -> tuple[BoardRun, ...]:
    """The runs of a suite (superseded ones left out) or of a release, by run name.

    `view_of` gives the names and the metric that a run is shown by, in place of its card's.

    Raises:
        IntegrityError: A value behind a release's board was changed after it was published.
    """
    frozen = reader_of(reader, source)
    frozen_by = releases() if source.kind is Kind.RELEASE else None
    pinned = frozen_by.runs(reader, source.name) if frozen_by else None
    suites = {row.suite for row in pinned.planned} if pinned else {source.name}
    current = reader.rows(current_run_specs(suites), SuiteRun)
    newest = {(row.suite, row.name): row.run_spec_id for row in current}
    planned = pinned.planned if pinned else [row for row in current if row.suite == source.name]
    versions = {row.run_spec.data_version for row in planned}
    records = _Records(frozen, {row.run_spec_id for row in planned} | versions)
    if pinned is None:
        stats = _stats(reader, records.newest, [row.run_spec_id for row in planned])
        pinned = PinnedRuns(planned=planned, pins=records.newest, stats=stats)
    scenarios = _scenarios(frozen, versions)
    runs = []
    for planned_row in sorted(pinned.planned, key=_sort_key):
        view = view_of(planned_row.run_spec)
        row = view.row(planned_row)
        spec, pin = row.run_spec, pinned.pins.get(row.run_spec_id)
        own = pinned.stats.get(row.run_spec_id, ())
        scenario = scenarios.get(spec.data_version)
        cell = cell_of(row, own, scenario, records.written(row, pin, source.kind))
        runs.append(
            BoardRun(
                planned=row,
                cell=view.cell(cell),
                info=view.info(scale_of(spec), spec.main_metric),
                is_summarized=row.run_spec_id in pinned.pins,
                is_current=records.is_current(row.run_spec_id, pin),
                stats=tuple(sorted(own, key=_order)),
                is_superseded=newest.get((row.suite, row.name), row.run_spec_id) != row.run_spec_id,
                is_lost=pin is not None and not own,
                scored_at=records.scored_at(row.run_spec_id),
                missing_provenance=missing_provenance(row, cell, scenario, records.of_run(spec)),
                release_status=source.release_status,
            )
        )
    for feature in features.parts("cells"):
        runs = feature.with_cells(frozen, runs)
    return tuple(runs)


def _order(stat: Stat) -> tuple[object, ...]:
    """Tables list stats in this order: rows of a lake have none."""
    return (in_natural_order(stat.name), stat.split, stat.perturbation, stat.computed_on or "")


def _sort_key(row: SuiteRun) -> tuple[tuple[str | int, ...], str]:
    return in_natural_order(row.name), row.suite


def _stats(
    reader: Reader, pins: Mapping[str, str], units: Iterable[str]
) -> Mapping[str, Sequence[Stat]]:
    """Stats by run_spec_id, each from the write that `pins` names for its run."""
    pinned = [unit for unit in units if unit in pins]
    by_run: dict[str, list[Stat]] = {}
    for stat in reader.rows(_STATS.format(units=literals(pinned)), WrittenStat):
        if pins.get(stat.run_spec_id) == stat.write_id:
            by_run.setdefault(stat.run_spec_id, []).append(stat)
    return by_run


def _scenarios(reader: Reader, versions: Iterable[str]) -> dict[str, ScenarioVersion]:
    sql = output_of("scenarios", INGEST, "data_version", versions)
    rows = reader.rows(sql, ScenarioVersion)
    return {row.data_version: row for row in rows}


def missing_provenance(
    planned: SuiteRun,
    cell: BoardCell | None,
    scenario: ScenarioVersion | None,
    records: Iterable[RunRecord],
) -> tuple[str, ...]:
    """What the lake does not record of a run; empty where its provenance is complete.

    `records` are of the finished work on the run and on its scenario's data.
    """
    finished = tuple(records)
    recorded = (cell.comparability if cell else None) or {}
    known = {
        "when it was scored": any(record.stage == SCORE.name for record in finished),
        "who ran it": bool(finished) and all(record.run_by for record in finished),
        "which code ran it": all(record.code_version for record in finished),
        "where the model ran": planned.locality in list(Locality),
        "which data it was": bool(scenario and scenario.source),
        "what its scores rest on": bool(recorded) and UNKNOWN not in recorded.values(),
    }
    return tuple(what for what, is_there in known.items() if not is_there)
