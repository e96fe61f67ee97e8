"""What the stages left in the lake, told to MLflow."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from medhelm_spark.api.workspace import Workspace
from medhelm_spark.domain.run import RunSpec, SuiteRun
from medhelm_spark.domain.stages import SCORE, SUMMARIZE
from medhelm_spark.domain.stats import Stat
from medhelm_spark.lake.release import held_releases, read_release
from medhelm_spark.lake.views import output_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.waves import Throughput, by_executor, throughput
from medhelm_spark.stages.plan.run_specs import current_runs
from medhelm_spark.statistics.board import Leaderboard
from medhelm_spark.tracking import TrackedRun, TrackedSuite, default_uri, track_release, track_suite

DATA = ("instances", "request_results", "per_instance_stats", "stats")


def uri_of(workspace: Workspace, given: str | None) -> str | None:
    """MLflow's address: the flag's, the settings', or the lake's own default."""
    return given or workspace.settings.tracking_uri or default_uri(workspace.location)


def track(workspace: Workspace, ctx: Context, board: Leaderboard, tracking_uri: str | None) -> None:
    """Log the current numbers of the context's suite; logging the same twice changes nothing.

    `board` is the suite's.
    """
    uri = uri_of(workspace, tracking_uri)
    specs = [row.run_spec for row in current_runs(ctx)]
    for tracked in _tracked(ctx, ctx.suite, specs, board):
        track_suite(tracked, uri)
    workspace.say(f"mlflow: suite {ctx.suite!r} is tracked")


def track_released(
    workspace: Workspace, ctx: Context, release: str, board: Leaderboard, tracking_uri: str | None
) -> None:
    """Log a release's own numbers and its status; `board` is the release's."""
    held = next(each for each in held_releases(ctx.lake) if each.name == release)
    rows = read_release(ctx.lake, held.members)
    specs = {row.run_spec_id: row.run_spec for row in rows.planned.values()}
    suites = ", ".join(sorted({row.suite for row in held.members}))
    tracked = _tracked(ctx, suites, list(specs.values()), board, rows.stats)
    uri = uri_of(workspace, tracking_uri)
    status = held.state.status.value
    track_release(release, status, held.manifest_hash, tracked, tracking_uri=uri)
    workspace.say(f"mlflow: release {release!r} is tracked")


def _all_runs(ctx: Context) -> list[SuiteRun]:
    return ctx.lake.rows("SELECT * FROM {run_specs}", SuiteRun)


def _tracked(
    ctx: Context,
    suite: str,
    specs: Sequence[RunSpec],
    board: Leaderboard,
    frozen: Mapping[str, Sequence[Stat]] | None = None,
) -> list[TrackedSuite]:
    """What MLflow is told by deployment; `frozen` are a release's stats by run."""
    units = [spec.run_spec_id for spec in specs]
    scored = ctx.finished(SCORE, units)
    summed = ctx.finished(SUMMARIZE, units)
    stats = _stats(ctx, units) if frozen is None else frozen
    superseded = _superseded(ctx, suite, set(units))
    versions = _versions(ctx)
    rows = {row.model_deployment: row for row in board.rows if not row.variant}
    variants = _variants(board)
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
                )
            )
    asked = throughput(ctx.ledger.values(), suite)
    return [
        TrackedSuite(
            suite=suite,
            work=_work(asked.get(name), by_executor(ctx.ledger.values(), name, suite)),
            model_deployment=name,
            runs=tuple(runs),
            mean_win_rate=rows[name].mean_win_rate if name in rows else None,
            medhelm_mean_win_rate=rows[name].medhelm_mean_win_rate if name in rows else None,
            superseded=tuple(superseded[name]),
            delta_versions=versions,
        )
        for name, runs in by_deployment.items()
    ]


def _variants(board: Leaderboard) -> dict[str, str]:
    """What the board calls each run that is not its model's first on a scenario."""
    cells = (cell for row in board.rows for cell in row.cells if cell and cell.variant)
    return {unit: cell.variant for cell in cells for unit in cell.run_spec_ids}


def _work(asked: Throughput | None, executors: Sequence[Throughput]) -> dict[str, float]:
    """What asking came to in all, and for each executor; executors are numbered, not named."""
    if asked is None:
        return {}
    parts = {"": asked}
    parts |= {f"executor_{number}/": part for number, part in enumerate(executors)}
    return {
        prefix + name: value
        for prefix, part in parts.items()
        for name, value in _rates(part).items()
    }


def _rates(asked: Throughput) -> dict[str, float]:
    rates: dict[str, float | None] = {
        "requests": asked.requests,
        "prompt_tokens": asked.prompt_tokens,
        "completion_tokens": asked.completion_tokens,
        "seconds": asked.seconds,
        **{f"failed_{kind}": count for kind, count in asked.failures.items()},
        "tokens_per_second": asked.tokens_per_second,
        "busy_share": asked.busy_share,
        "prefix_hit_rate": asked.prefix_hit_rate,
        "engine_start_seconds": asked.mean_start,
    }
    return {name: value for name, value in rates.items() if value is not None}


def _stats(ctx: Context, units: Iterable[str]) -> dict[str, list[Stat]]:
    wanted, stats = set(units), defaultdict(list)
    for row in ctx.lake.rows(output_of("stats", SUMMARIZE), Stat):
        if row.run_spec_id in wanted:
            stats[row.run_spec_id].append(row)
    return stats


def _superseded(ctx: Context, suite: str, current: set[str]) -> dict[str, list[str]]:
    superseded: dict[str, list[str]] = defaultdict(list)
    for row in _all_runs(ctx):
        if row.suite == suite and row.run_spec_id not in current:
            superseded[row.run_spec.model_deployment].append(row.run_spec_id)
    return superseded


def _versions(ctx: Context) -> dict[str, tuple[str, int]]:
    versions = {table: ctx.lake.version(table) for table in DATA}
    return {
        table: (ctx.lake.location.table(table), version)
        for table, version in versions.items()
        if version is not None
    }
