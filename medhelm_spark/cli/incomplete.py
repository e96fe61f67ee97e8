"""The lines about what is missing and about models left behind, and the exit code for it."""

from argparse import Namespace
from collections.abc import Iterable, Sequence

from medhelm_spark.cli.exit_codes import INCOMPLETE, LEFT_OUT, RETRY, again, for_models
from medhelm_spark.domain.pluralize import counted, first_of
from medhelm_spark.domain.request import FailureKind
from medhelm_spark.domain.skipped import LeftOut
from medhelm_spark.pipeline.coverage import Missing
from medhelm_spark.pipeline.render_skipped import render_skipped
from medhelm_spark.pipeline.results import RunResult
from medhelm_spark.pipeline.suite_models import StaleModel
from medhelm_spark.stages.infer.outage import by_kind, without_answer
from medhelm_spark.stages.infer.pending import RequestCounts
from medhelm_spark.workspace.workspace import say

FETCH = (
    "left out: `medhelm-spark scenarios` lists whose data is at hand, `medhelm-spark scenarios "
    "fetch` gets what has an address; --strict ends at once instead"
)


def exit_code(done: RunResult, args: Namespace) -> int:
    """0, INCOMPLETE where too many scores are missing, LEFT_OUT where whole scenarios are.

    Prints which, and what to type.
    """
    for other in done.others:
        _print_stale(other, args)
    code = skipped_code(done.left_out)
    if done.missing is None:
        return code
    say(sentence(done.missing, args.typed))
    return INCOMPLETE if done.missing.is_asked else code


def skipped_code(left_out: Sequence[LeftOut]) -> int:
    """LEFT_OUT where something was, 0 otherwise; prints what, and what gets it."""
    if not left_out:
        return 0
    say(render_skipped(left_out))
    say(FETCH)
    return LEFT_OUT


def sentence(missing: Missing, typed: Sequence[str]) -> str:
    """What is missing, why, and the command that mends it, in one line."""
    short = [
        f"{run.name} has {run.count:,} of {run.total:,} answers scored" for run in missing.runs
    ] or [
        f"{model.name} answered {model.count:,} of {model.total:,} requests"
        for model in missing.requests
    ]
    floor = f"the policy's coverage_floor is {missing.coverage_floor:.0%}"
    return f"incomplete: {first_of(short, 3)} ({floor}); {_repair(missing.tallies.items(), typed)}"


def _repair(tallies: Iterable[tuple[str, RequestCounts]], typed: Sequence[str]) -> str:
    """What is without an answer, by deployment and kind, and what asks it again."""
    missing = {name: tally for name, tally in tallies if tally.answered < tally.requests}
    if not missing:
        return "nothing is left to ask, so asking again changes nothing"
    causes = "; ".join(f"{name} {by_kind(without_answer([missing[name]]))}" for name in missing)
    settled = {kind for tally in missing.values() for kind in tally.settled}
    words = [f"without an answer: {causes}"]
    if FailureKind.TOO_LONG in settled:
        words.append("too_long needs a longer window or `on_failure: {too_long: truncate}`")
    words.append(f"to ask again: {again(typed, RETRY) if settled else again(typed)}")
    return "; ".join(words)


def _print_stale(other: StaleModel, args: Namespace) -> None:
    """Print how many models have another definition of a scenario, and what mends it."""
    if models := (*other.asked, *other.imported):
        say(
            f"score: {other.scenario_name}: an earlier definition still counts for "
            f"{counted(len(models), 'other model')} of suite {args.suite!r}"
        )
    if other.asked:
        command = for_models(args.typed, other.asked)
        say(f"score: {other.scenario_name}: to compare, run: {command}")
    if other.imported:
        names = ", ".join(other.imported)
        say(f"score: {other.scenario_name}: to compare, import the answers of {names} again")
    if other.further:
        say(
            f"score: {other.scenario_name}: its data has changed since these runs; to compare, "
            f"run their entries again: {first_of(other.further, 3)}"
        )
