"""Which answers and scores an evaluation lacks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.api.evaluate import judging_of, models_of
from medhelm_spark.api.workspace import Workspace
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.leaderboard import BoardRun, choose, load_runs
from medhelm_spark.stages.annotate import judges_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.pending import Tally, tallies_of

JUDGE = "judge "


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A run that has fewer of what it should have than the policy's floor."""

    name: str
    count: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What is below the policy's `coverage_floor`, a share from 0 to 1.

    `runs` lack scores. `requests` lack answers, by deployment; of a judge the name begins with
    `judge `. `tallies` say what all requests came to, and `is_asked` is false where only imported
    answers are short, for nobody can be asked for those.
    """

    coverage_floor: float
    runs: tuple[Shortfall, ...] = ()
    requests: tuple[Shortfall, ...] = ()
    tallies: Mapping[str, Tally]
    is_asked: bool = True


def missing_scores(
    workspace: Workspace, ctx: Context, runs: Sequence[ResolvedRun], specs: Sequence[RunSpec]
) -> Missing | None:
    """The summarised runs with a score for too few of their answers; None where there is none."""
    floor = workspace.coverage_floor
    units = {spec.run_spec_id for spec in specs}
    board = load_runs(workspace.reader, choose(workspace.reader, ctx.suite))
    short = tuple(short_of((run for run in board if run.run_spec.run_spec_id in units), floor))
    if not short:
        return None
    tallies = _tallies(workspace, ctx, runs, specs)
    return Missing(
        coverage_floor=floor,
        runs=short,
        tallies=tallies,
        is_asked=any(run.deployment.name in tallies for run in runs)
        or any(tally.answered < tally.requests for tally in tallies.values()),
    )


def missing_answers(
    workspace: Workspace, ctx: Context, runs: Sequence[ResolvedRun], specs: Sequence[RunSpec]
) -> Missing | None:
    """The models and judges that answered too few of their requests; None where there is none."""
    floor = workspace.coverage_floor
    tallies = _tallies(workspace, ctx, runs, specs)
    short = {name: tally for name, tally in sorted(tallies.items()) if tally.coverage < floor}
    requests = (
        Shortfall(name=name, count=tally.answered, total=tally.requests)
        for name, tally in short.items()
    )
    if not short:
        return None
    return Missing(coverage_floor=floor, requests=tuple(requests), tallies=short)


def short_of(runs: Iterable[BoardRun], floor: float) -> Iterator[Shortfall]:
    """The runs with a score for fewer of their answers than `floor`, a share from 0 to 1."""
    for run in runs:
        if run.cell is None:
            continue
        total = run.cell.count + run.cell.num_unscored
        if run.cell.count < floor * total:
            yield Shortfall(name=run.run_spec.name, count=run.cell.count, total=total)


def _tallies(
    workspace: Workspace,
    ctx: Context,
    runs: Sequence[ResolvedRun],
    specs: Sequence[RunSpec],
) -> dict[str, Tally]:
    """What models and judges are asked for these runs, by deployment and role."""
    units = [spec.run_spec_id for spec in specs]
    models = tallies_of(ctx, units, models_of(workspace, runs))
    judges = tallies_of(ctx, units, judges_of(judging_of(workspace, runs, specs)))
    return models | {JUDGE + name: tally for name, tally in judges.items()}
