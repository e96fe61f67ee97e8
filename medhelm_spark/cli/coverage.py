"""Whether a run has the scores that it should have, and what to type where it has not."""

from collections.abc import Iterable, Iterator, Sequence

from medhelm_spark.cli.evaluate import asking_of, judging_of
from medhelm_spark.cli.exit_codes import INCOMPLETE, RETRY, again
from medhelm_spark.cli.workspace import Workspace, say
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.leaderboard import BoardRun, choose, load_runs
from medhelm_spark.stages.annotate import asking_judges
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.outage import by_kind, without_answer
from medhelm_spark.stages.infer.pending import Tally, tallies_of

MAX_NAMES = 3


def check_scores(
    workspace: Workspace,
    ctx: Context,
    runs: Sequence[ResolvedRun],
    specs: Sequence[RunSpec],
    typed: Sequence[str],
) -> int:
    """The exit code of a command that printed a board; says what is missing where it is too much.

    Imported answers are never asked for: what their file lacks is said, and is no failure of the
    command. `typed` is the command line.
    """
    floor = workspace.registry.policy.comparison.coverage_floor
    mine = {spec.run_spec_id for spec in specs}
    source = choose(workspace.reader, ctx.suite)
    board = [run for run in load_runs(workspace.reader, source) if run.run_spec.run_spec_id in mine]
    short = list(short_of(board, floor))
    if not short:
        return 0
    tallies = _tallies(workspace, ctx, runs, specs)
    say(f"incomplete: {_some(short)} ({_limit(floor)}); {_repair(tallies, typed)}")
    is_asked = any(run.deployment.name in tallies for run in runs)
    return INCOMPLETE if is_asked or without_answer(tallies.values()) else 0


def check_answers(
    workspace: Workspace,
    ctx: Context,
    runs: Sequence[ResolvedRun],
    specs: Sequence[RunSpec],
    typed: Sequence[str],
) -> int:
    """The exit code of a stage command: whether each model and judge it asked gave its answers."""
    floor = workspace.registry.policy.comparison.coverage_floor
    tallies = _tallies(workspace, ctx, runs, specs)
    short = {name: tally for name, tally in tallies.items() if tally.coverage < floor}
    if not short:
        return 0
    shares = [
        f"{name} answered {tally.answered:,} of {tally.requests:,} requests"
        for name, tally in sorted(short.items())
    ]
    say(f"incomplete: {_some(shares)} ({_limit(floor)}); {_repair(short, typed)}")
    return INCOMPLETE


def short_of(runs: Iterable[BoardRun], floor: float) -> Iterator[str]:
    """The runs with a score for fewer of their answers than `floor`, a share from 0 to 1."""
    for run in runs:
        if run.cell is None:
            continue
        total = run.cell.count + run.cell.num_unscored
        if run.cell.count < floor * total:
            yield f"{run.run_spec.name} has {run.cell.count:,} of {total:,} answers scored"


def _tallies(
    workspace: Workspace,
    ctx: Context,
    runs: Sequence[ResolvedRun],
    specs: Sequence[RunSpec],
) -> dict[str, Tally]:
    """What models and judges are asked for these runs, by deployment and role."""
    units = [spec.run_spec_id for spec in specs]
    found = tallies_of(ctx, units, asking_of(workspace, runs))
    judges = tallies_of(ctx, units, asking_judges(judging_of(workspace, runs, specs)))
    return found | {f"judge {name}": tally for name, tally in judges.items()}


def _limit(floor: float) -> str:
    return f"the policy's coverage_floor is {floor:.0%}"


def _repair(tallies: dict[str, Tally], typed: Sequence[str]) -> str:
    """What is without an answer, by kind, and what asks it again."""
    missing = without_answer(tallies.values())
    if not missing:
        return "nothing is left to ask, so asking again changes nothing"
    is_open = any(tally.failed or tally.not_asked for tally in tallies.values())
    command = again(typed) if is_open else again(typed, RETRY)
    return f"without an answer: {by_kind(missing)}; to ask again: {command}"


def _some(parts: Sequence[str]) -> str:
    more = f", and {len(parts) - MAX_NAMES} more" if len(parts) > MAX_NAMES else ""
    return ", ".join(parts[:MAX_NAMES]) + more
