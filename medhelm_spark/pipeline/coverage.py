"""Which answers and scores are missing from an evaluation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.board import BoardRun
from medhelm_spark.pipeline.prepare import Prepared
from medhelm_spark.stages.annotate.stage import judges_of
from medhelm_spark.stages.infer.pending import RequestCounts, tallies_of

JUDGE = "judge "


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall:
    """A run or deployment with fewer scores or answers than the policy's floor requires."""

    name: str
    count: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Runs or deployments below the policy's `coverage_floor`, a share from 0 to 1.

    `runs` lack scores. `requests` lack answers, by deployment; of a judge the name begins with
    `judge `. `tallies` count the outcomes of all requests. `is_asked` is false where only imported
    answers are missing: no model can be asked for them.
    """

    coverage_floor: float
    runs: tuple[Shortfall, ...] = ()
    requests: tuple[Shortfall, ...] = ()
    tallies: Mapping[str, RequestCounts]
    is_asked: bool = True


def missing_scores(prepared: Prepared, runs: Sequence[BoardRun]) -> Missing | None:
    """The summarised runs with a score for too few of their answers; None where there is none.

    `runs` are the runs on the suite's board.
    """
    floor = prepared.workspace.coverage_floor
    units = {spec.run_spec_id for spec in prepared.specs}
    short = tuple(short_of((run for run in runs if run.run_spec.run_spec_id in units), floor))
    if not short:
        return None
    tallies = _tallies(prepared)
    return Missing(
        coverage_floor=floor,
        runs=short,
        tallies=tallies,
        is_asked=any(run.deployment.name in tallies for run in prepared.runs)
        or any(tally.answered < tally.requests for tally in tallies.values()),
    )


def missing_answers(prepared: Prepared) -> Missing | None:
    """The models and judges that answered too few of their requests; None where there is none."""
    floor = prepared.workspace.coverage_floor
    tallies = _tallies(prepared)
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


def _tallies(prepared: Prepared) -> dict[str, RequestCounts]:
    """The outcomes of the requests to models and judges for these runs, by deployment and role."""
    units = [spec.run_spec_id for spec in prepared.specs]
    models = tallies_of(prepared.ctx, units, prepared.models)
    judges = tallies_of(prepared.ctx, units, judges_of(prepared.judging))
    return models | {JUDGE + name: tally for name, tally in judges.items()}
