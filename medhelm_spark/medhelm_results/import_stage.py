"""import-helm: results that MedHELM or HELM wrote become a suite's runs, no model called.

Their rows are those that our own stages would have written, and are recorded as those stages'
output: whatever reads a run, scores it or shows it finds an imported one too. The values that came
with the answers are rows of this stage, which `score` takes over.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.comparability import JURY
from medhelm_spark.domain.deployment import UNKNOWN
from medhelm_spark.domain.helm_results import (
    HELM_RESULTS,
    SUFFIX,
    HelmFiles,
    KnownInstance,
    Surveyed,
)
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.request import (
    Annotation,
    PlannedRequest,
    Prompt,
    RequestResult,
)
from medhelm_spark.domain.run import RunSpec, SuiteRun
from medhelm_spark.domain.scenario import HashedText, Instance, ScenarioVersion
from medhelm_spark.domain.stages import ANNOTATE, IMPORT_HELM, INGEST, PLAN, SUMMARIZE
from medhelm_spark.domain.stats import PerInstanceStats, Stat
from medhelm_spark.engines import IMPORTED
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.rows import Frame, map_rows, parted, rows_of
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.ingest.stored_levels import StoredLevels, say_stricter, stored_stricter
from medhelm_spark.stages.machines import refuse_absent
from medhelm_spark.stages.plan.run_specs import current_runs

Known = Mapping[str, str]
Rows = Callable[[Iterable[Any]], Iterator[Any]]

TABLES: Mapping[str, type] = {
    "instances": Instance,
    "prompts": Prompt,
    "requests": PlannedRequest,
    "request_results": RequestResult,
    "annotations": Annotation,
    "per_instance_stats": PerInstanceStats,
}
"""The tables whose rows are read out of the large files, in the order in which they are written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmReading:
    """How the files are read: functions from files of runs to rows, which run in the tasks.

    `contents` reads the instances of the lake with their content, `texts` the hashes of a run's
    texts, `survey` the contents of a run, and `tables` the rows of each of TABLES; the last two
    get the ids that the lake has for known contents.
    """

    contents: Rows
    texts: Rows
    survey: Callable[[Known], Rows]
    tables: Callable[[Known], Mapping[str, Rows]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmImport:
    """A run on its way into the suite: its files, what they contain, and its RunSpecs.

    `specs` begins with the run as imported. `scenario` is the row of its data version. `stats` are
    HELM's own; `board_stats`, where no instance has a value, are what boards show. `fingerprint`
    changes when a file does, or how it is read. `documents` is SuiteRun.as_imported.
    """

    files: HelmFiles
    surveyed: Surveyed
    specs: tuple[RunSpec, ...]
    scenario: ScenarioVersion
    fingerprint: str
    stats: tuple[Stat, ...] = ()
    board_stats: tuple[Stat, ...] = ()
    part_of: str | None = None
    is_disjoint: bool | None = None
    documents: str | None = None


def known_instances(ctx: Context, scenarios: Iterable[str], contents: Rows) -> dict[str, str]:
    """The lake's own instances of some scenarios: id by content, where the content occurs once."""
    ctx = ctx.within(IMPORT_HELM)
    names = set(scenarios)
    rows = ctx.lake.rows("SELECT * FROM {scenarios}", ScenarioVersion)
    versions = [
        row.data_version
        for row in rows
        if row.source != HELM_RESULTS and row.scenario_name.removesuffix(SUFFIX) in names
    ]
    if not ctx.finished(INGEST, versions):
        return {}
    instances = ctx.current("instances", INGEST, versions, "data_version")
    known: dict[str, str] = {}
    twice: set[str] = set()
    for row in rows_of(map_rows(instances, contents, Instance, KnownInstance), KnownInstance):
        if known.setdefault(row.content, row.instance_id) != row.instance_id:
            twice.add(row.content)
    return {content: instance_id for content, instance_id in known.items() if content not in twice}


def stricter_levels(
    ctx: Context, runs: Sequence[HelmFiles], texts: Rows, lowered: Collection[str]
) -> dict[str, AccessLevel]:
    """By scenario, the level at which the lake has text of these runs, where it is stricter.

    The reason is printed; `lowered` are scenarios of which a lowering is approved.
    """
    ctx, levels = ctx.within(IMPORT_HELM), {}
    for level in AccessLevel:
        alike = [run for run in runs if run.access_level is level]
        for row in _stored_stricter(ctx, level, alike, texts) if alike else ():
            say_stricter(ctx, IMPORT_HELM, row, level, is_lowered=row.scenario_name in lowered)
            levels[row.scenario_name] = row.access_level
    return levels


def _stored_stricter(
    ctx: Context, level: AccessLevel, runs: Sequence[HelmFiles], texts: Rows
) -> Sequence[StoredLevels]:
    def hashed() -> Frame:
        return map_rows(_run_files(ctx, runs), texts, HelmFiles, HashedText)

    return stored_stricter(ctx, level, hashed)


def survey(ctx: Context, runs: Sequence[HelmFiles], reads: Rows) -> dict[str, Surveyed]:
    """The contents of each run's large files, by path: all are read to their end, in the tasks."""
    with ctx.metered(f"{IMPORT_HELM.name}: files", len(runs)) as watch:
        rows = map_rows(_run_files(ctx, runs), watch(reads), HelmFiles, Surveyed)
        return {row.path: row for row in rows_of(rows, Surveyed)}


def _run_files(ctx: Context, runs: Sequence[HelmFiles]) -> Frame:
    """A task for each run, as far as there are cores; on a cluster its machines have the files.

    Raises:
        SetupError: one has not.
    """
    if not ctx.is_one_machine:
        refuse_absent(ctx, [run.path for run in runs], "MedHELM's results")
    frame = ctx.lake.frame(runs, HelmFiles)
    return parted(frame, min(len(runs), 4 * ctx.cores), ("path",)) if len(runs) > 1 else frame


def imported_already(
    ctx: Context, fingerprints: Mapping[str, str]
) -> dict[str, tuple[RunSpec, ...]]:
    """The RunSpecs of those runs that the suite has by these fingerprints, by run name.

    A run that another suite has is entered here as it is there.
    """
    ctx = ctx.within(IMPORT_HELM)
    units: dict[str, list[str]] = {}
    for (stage, unit), record in ctx.ledger.all().items():
        if stage == IMPORT_HELM.name:
            units.setdefault(record.fingerprint, []).append(unit)
    requested = {
        unit for fingerprint in fingerprints.values() for unit in units.get(fingerprint, ())
    }
    if not requested:
        return {}
    sql = f"SELECT * FROM {{run_specs}} WHERE run_spec_id IN ({literals(sorted(requested))})"
    rows = {row.run_spec_id: row for row in ctx.lake.rows(sql, SuiteRun)}
    current = {row.run_spec_id: row.planned_at for row in current_runs(ctx)}
    missing = [row for unit, row in rows.items() if unit not in current]
    at = now(current.values())
    ctx.lake.append_rows(
        "run_specs",
        [replace(row, suite=ctx.suite, planned_at=at) for row in missing],
        new_write_id(),
    )
    return {
        name: tuple(rows[unit].run_spec for unit in units[fingerprint] if unit in rows)
        for name, fingerprint in fingerprints.items()
        if fingerprint in units
    }


def import_helm(
    ctx: Context, runs: Sequence[HelmImport], known: Known, reading: HelmReading
) -> None:
    """Append the rows of some runs and make the runs the suite's current ones.

    What is appended is current from the last record on: after a crash all of it is written again.
    """
    ctx, started_at, write_id = ctx.within(IMPORT_HELM), now(), new_write_id()
    new = _new_data(ctx, runs)
    with_rows = [run for run in runs if run.surveyed.states]
    if with_rows:
        # Answers count from their commit on, whatever is recorded later: they are appended once.
        once = content_id(IMPORT_HELM.name, sorted(run.fingerprint for run in with_rows))
        files = [run.files for run in with_rows]
        _append(ctx, files, new, reading.tables(known), write_id, answers_txn=(once, 1))
    ctx.lake.append_rows("scenarios", [run.scenario for run in new.values()], write_id)
    ctx.lake.append_rows("stats", [stat for run in runs for stat in run.stats], write_id)
    _record_as_ours(ctx, runs, new, write_id, started_at)
    _record_board_stats(ctx, runs, started_at)
    at = now(row.planned_at for row in current_runs(ctx))
    rows = [_row(ctx.suite, run, spec, at) for run in runs for spec in run.specs]
    ctx.lake.append_rows("run_specs", rows, write_id)
    fingerprints = {spec.run_spec_id: run.fingerprint for run in runs for spec in run.specs}
    ctx.record(IMPORT_HELM, fingerprints, write_id, started_at)


def _new_data(ctx: Context, runs: Iterable[HelmImport]) -> dict[str, HelmImport]:
    """By data version that the lake does not have, the run whose instances it is made of."""
    first: dict[str, HelmImport] = {}
    for run in runs:
        if run.surveyed.states:
            first.setdefault(run.scenario.data_version, run)
    stored = ctx.finished(INGEST, first)
    return {version: run for version, run in first.items() if version not in stored}


def _append(
    ctx: Context,
    files: Sequence[HelmFiles],
    new: Mapping[str, HelmImport],
    tables: Mapping[str, Rows],
    write_id: str,
    *,
    answers_txn: tuple[str, int],
) -> None:
    writers = {run.files.path for run in new.values()}
    of_data = [each for each in files if each.path in writers]
    for table, row in TABLES.items():
        of_table = of_data if table == "instances" else [f for f in files if table in f.tables]
        if of_table:
            with ctx.metered(f"{IMPORT_HELM.name}: {table}") as watch:
                rows = map_rows(_run_files(ctx, of_table), watch(tables[table]), HelmFiles, row)
                txn = answers_txn if table == "request_results" else None
                ctx.lake.append(table, rows, write_id, txn=txn)


def _record_as_ours(
    ctx: Context,
    runs: Sequence[HelmImport],
    new: Mapping[str, HelmImport],
    write_id: str,
    started_at: datetime,
) -> None:
    """The rows as what ingest, plan and annotate would have written."""
    splits = {version: run.surveyed.splits for version, run in new.items()}
    if new:
        ctx.record(INGEST, {version: version for version in new}, write_id, started_at, splits)
    with_states = [run for run in runs if run.surveyed.states]
    planned = {spec.run_spec_id: run.fingerprint for run in with_states for spec in run.specs}
    if planned:
        ctx.record(PLAN, planned, write_id, started_at)
    judged = [run for run in with_states if run.surveyed.verdicts]
    if judged:
        units = {spec.run_spec_id: run.fingerprint for run in judged for spec in run.specs}
        juries = {
            spec.run_spec_id: {JURY: f"as imported {run.files.revision[:8]}"}
            for run in judged
            for spec in run.specs
        }
        ctx.record(ANNOTATE, units, write_id, started_at, comparability=juries)


def _record_board_stats(ctx: Context, runs: Sequence[HelmImport], started_at: datetime) -> None:
    """The stats of runs that no instance has values of, as what summarize would have written."""
    displayed = [run for run in runs if run.board_stats]
    if displayed:
        write_id = new_write_id()
        stats = [stat for run in displayed for stat in run.board_stats]
        ctx.lake.append_rows("stats", stats, write_id)
        units = {run.specs[0].run_spec_id: run.fingerprint for run in displayed}
        ctx.record(SUMMARIZE, units, write_id, started_at)


def _row(suite: str, run: HelmImport, spec: RunSpec, at: datetime) -> SuiteRun:
    return SuiteRun(
        suite=suite,
        name=spec.name,
        run_spec_id=spec.run_spec_id,
        planned_at=at,
        locality=UNKNOWN,
        engine=IMPORTED,
        is_jury_validated=None,
        run_spec=spec,
        part_of=run.part_of,
        is_disjoint=run.is_disjoint,
        as_imported=run.documents,
    )
