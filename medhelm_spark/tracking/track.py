"""Logs the numbers of a suite or release in the lake to MLflow."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from medhelm_spark.board import Kind
from medhelm_spark.domain.run import RunSpec, SuiteRun
from medhelm_spark.domain.stages import SCORE, SUMMARIZE, TRACK
from medhelm_spark.domain.stats import Stat, WrittenStat
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.literals import among
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.throughput import Throughput, by_executor, throughput
from medhelm_spark.stages.plan.run_specs import current_runs
from medhelm_spark.statistics.board import Leaderboard
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.tracking.experiment import (
    Dashboard,
    Logged,
    TrackedRun,
    TrackedSuite,
    default_uri,
    shown_name,
    track_release,
    track_suite,
)
from medhelm_spark.tracking.tables import MlflowRun
from medhelm_spark.tracking.tracked import current_mlflow_runs
from medhelm_spark.workspace.workspace import Workspace

DATA = ("instances", "request_results", "per_instance_stats", "stats")


def uri_of(workspace: Workspace, tracking_uri: str | None) -> str | None:
    """MLflow's address: the flag's, the settings', or the lake's own default."""
    return tracking_uri or workspace.settings.tracking_uri or default_uri(workspace.location)


def track(workspace: Workspace, ctx: Context, board: Leaderboard, tracking_uri: str | None) -> None:
    """Log the current numbers of the context's suite; logging the same twice changes nothing.

    `board` is the suite's.
    """
    uri = uri_of(workspace, tracking_uri)
    specs = [row.run_spec for row in current_runs(ctx)]
    logged: list[Logged] = []
    where = _Where(workspace, Kind.SUITE, ctx.suite)
    for tracked in _tracked(ctx, ctx.suite, specs, board, where):
        logged += track_suite(tracked, uri)
    _remember(ctx, where, logged)
    workspace.say(f"mlflow: suite {ctx.suite!r} is tracked")


def track_released(
    workspace: Workspace, ctx: Context, release: str, board: Leaderboard, tracking_uri: str | None
) -> None:
    """Log a release's own numbers and its status; `board` is the release's."""
    from medhelm_spark.releases.pinned import read_release, stored_releases  # a feature of its own

    pinned = next(each for each in stored_releases(ctx.lake) if each.name == release)
    rows = read_release(ctx.lake, pinned.members)
    specs = {row.run_spec_id: row.run_spec for row in rows.planned.values()}
    suites = ", ".join(sorted({row.suite for row in pinned.members}))
    where = _Where(workspace, Kind.RELEASE, release)
    tracked = _tracked(ctx, suites, list(specs.values()), board, where, rows.stats)
    uri = uri_of(workspace, tracking_uri)
    status = pinned.state.status.value
    logged = track_release(release, status, pinned.manifest_hash, tracked, tracking_uri=uri)
    _remember(ctx, where, logged)
    workspace.say(f"mlflow: release {release!r} is tracked")


class _Where:
    """The tracked suite or release, and its pages of the dashboard."""

    def __init__(self, workspace: Workspace, kind: Kind, name: str) -> None:
        address = workspace.settings.dashboard_address
        self._dashboard = Dashboard(address=address, location=workspace.location)
        self.kind, self.name = kind, name

    def page(self, run_spec_id: str = "") -> str:
        return self._dashboard.page(self.kind, self.name, run_spec_id)


def _remember(ctx: Context, where: _Where, logged: Iterable[Logged]) -> None:
    """Record in the lake which MLflow runs have the numbers; adds only new rows."""
    lake = ctx.lake.within(TRACK)
    now = datetime.now(UTC)
    sql = current_mlflow_runs(where.kind, where.name)
    known = {_identity(row) for row in lake.rows(sql, MlflowRun)}
    rows = [
        MlflowRun(
            kind=where.kind.value,
            name=where.name,
            model_deployment=each.model_deployment,
            run_spec_id=each.run_spec_id,
            mlflow_run_id=each.run_id,
            address=each.page.address,
            served_by=each.page.served_by,
            tracked_at=now,
        )
        for each in logged
    ]
    new = [row for row in rows if _identity(row) not in known]
    lake.append_rows("mlflow_runs", new, new_write_id())


def _identity(row: MlflowRun) -> tuple[str, ...]:
    """The fields of a row without the time of writing."""
    key = (row.kind, row.name, row.model_deployment, row.run_spec_id)
    return (*key, row.mlflow_run_id, row.address, row.served_by)


def _planned(ctx: Context, suite: str) -> list[SuiteRun]:
    """All runs that were ever planned for a suite."""
    sql = f"SELECT * FROM {{run_specs}} WHERE {among('suite', [suite])}"
    return [row for row in ctx.lake.rows(sql, SuiteRun) if row.suite == suite]


def _tracked(
    ctx: Context,
    suite: str,
    specs: Sequence[RunSpec],
    board: Leaderboard,
    where: _Where,
    frozen: Mapping[str, Sequence[Stat]] | None = None,
) -> list[TrackedSuite]:
    """What is logged to MLflow by deployment; `frozen` are a release's stats by run."""
    units = [spec.run_spec_id for spec in specs]
    scored = ctx.finished(SCORE, units)
    summed = ctx.finished(SUMMARIZE, units)
    stats = _stats(ctx, units) if frozen is None else frozen
    superseded = _superseded(ctx, suite, set(units))
    versions = _versions(ctx)
    rows = {row.model_deployment: row for row in board.rows if not row.variant}
    variants, cells = _variants(board), _cells(board)
    by_deployment: dict[str, list[TrackedRun]] = defaultdict(list)
    for spec in specs:
        unit = spec.run_spec_id
        if unit in summed:
            by_deployment[spec.model_deployment].append(
                TrackedRun(
                    run_spec=spec,
                    stats=tuple(stats[unit]),
                    fingerprints={SCORE.name: scored[unit].fingerprint},
                    counts=scored[unit].counts,
                    variant=variants.get(unit, ""),
                    page=where.page(unit),
                )
            )
    records = ctx.ledger.inference_records(suite)
    work = throughput(records, suite)
    return [
        TrackedSuite(
            suite=suite,
            work=_work(work.get(name), by_executor(records, name, suite)),
            model_deployment=name,
            runs=tuple(runs),
            mean_win_rate=rows[name].mean_win_rate if name in rows else None,
            medhelm_mean_win_rate=rows[name].medhelm_mean_win_rate if name in rows else None,
            superseded=tuple(superseded[name]),
            delta_versions=versions,
            cells=cells.get(name, {}),
            page=where.page(),
        )
        for name, runs in by_deployment.items()
    ]


def _variants(board: Leaderboard) -> dict[str, str]:
    """The board's name for each run that is not its model's first on a scenario."""
    cells = (cell for row in board.rows for cell in row.cells if cell and cell.variant)
    return {unit: cell.variant for cell in cells for unit in cell.run_spec_ids}


def _cells(board: Leaderboard) -> dict[str, dict[str, BoardCell]]:
    """By deployment the cells of the board, by their names in MLflow.

    The names of a scenario with two columns (another metric or split) contain metric and split.
    """
    columns = Counter(column.scenario_name for column in board.columns)
    cells: dict[str, dict[str, BoardCell]] = defaultdict(dict)
    for row in board.rows:
        for column, cell in zip(board.columns, row.cells, strict=True):
            if cell:
                is_alone = columns[column.scenario_name] == 1
                more = "" if is_alone else f".{column.main_metric}.{column.split}"
                name = shown_name(column.scenario_name + more, cell.variant)
                cells[row.model_deployment][name] = cell
    return cells


def _work(total: Throughput | None, executors: Sequence[Throughput]) -> dict[str, float]:
    """The throughput in total and of each executor; executors are numbered, not named."""
    if total is None:
        return {}
    parts = {"": total}
    parts |= {f"executor_{number}/": part for number, part in enumerate(executors)}
    return {
        prefix + name: value
        for prefix, part in parts.items()
        for name, value in _rates(part).items()
    }


def _rates(work: Throughput) -> dict[str, float]:
    rates: dict[str, float | None] = {
        "requests": work.requests,
        "prompt_tokens": work.prompt_tokens,
        "completion_tokens": work.completion_tokens,
        "seconds": work.seconds,
        **{f"failed_{kind}": count for kind, count in work.failures.items()},
        "tokens_per_second": work.tokens_per_second,
        "busy_share": work.busy_share,
        "prefix_hit_rate": work.prefix_hit_rate,
        "engine_start_seconds": work.mean_start,
    }
    return {name: value for name, value in rates.items() if value is not None}


def _stats(ctx: Context, units: Iterable[str]) -> dict[str, list[Stat]]:
    stats: dict[str, list[Stat]] = defaultdict(list)
    pins = {unit: record.write_id for unit, record in ctx.finished(SUMMARIZE, units).items()}
    sql = f"SELECT * FROM {{stats}} WHERE {among('run_spec_id', pins)}"
    for row in ctx.lake.rows(sql, WrittenStat):
        if pins.get(row.run_spec_id) == row.write_id:
            stats[row.run_spec_id].append(row)
    return stats


def _superseded(ctx: Context, suite: str, current: set[str]) -> dict[str, list[str]]:
    superseded: dict[str, list[str]] = defaultdict(list)
    for row in _planned(ctx, suite):
        if row.run_spec_id not in current:
            superseded[row.run_spec.model_deployment].append(row.run_spec_id)
    return superseded


def _versions(ctx: Context) -> dict[str, tuple[str, int]]:
    versions = {table: ctx.lake.version(table) for table in DATA}
    return {
        table: (ctx.lake.location.table(table), version)
        for table, version in versions.items()
        if version is not None
    }
