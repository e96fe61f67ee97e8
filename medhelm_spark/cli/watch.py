"""`release watch` and `release looks`: what was typed becomes a call of the API."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from medhelm_spark.cli.commands import evaluation
from medhelm_spark.cli.exit_codes import INCONCLUSIVE, NO_GO
from medhelm_spark.cli.options import at_least_one
from medhelm_spark.cli.printing import write_result

CODES: Mapping[str, int] = {"moved": NO_GO, "cannot say yet": INCONCLUSIVE}
"""By verdict; any other one is 0."""


def watch(args: Namespace) -> int:
    """`release watch NAME`: ask its prompts again; prints what moved."""
    done = evaluation(args).watch.look(
        args.release,
        sample=args.sample,
        margin=args.margin,
        answers_margin=args.answers_margin,
        models=args.models,
        scenarios=args.scenarios,
        metric=args.metric,
        entries=args.run_entries,
    )
    write_result(done, args)
    return CODES.get(done.verdict.value, 0)


def looks(args: Namespace) -> int:
    """`release looks NAME`: what all looks found; no model is asked."""
    write_result(evaluation(args).watch.looks(args.release), args)
    return 0


def watching(parser: ArgumentParser) -> None:
    """Which prompts of a release are asked again, and what is too small to matter."""
    add = parser.add_argument_group("watch").add_argument
    add(
        "--sample",
        type=at_least_one,
        metavar="N",
        help="so many instances of each run at most, the same ones in each look (default: all)",
    )
    add(
        "--margin",
        type=float,
        metavar="DIFFERENCE",
        help="a difference too small to matter, in the metric's units (default: the suite file's)",
    )
    add(
        "--answers-margin",
        type=float,
        metavar="SHARE",
        help="the share of other answers that is too small to matter (default: the share is shown "
        "and decides nothing)",
    )
    add(
        "--model",
        dest="models",
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME",
        help="only these models or deployments of the release",
    )
    add(
        "--scenario",
        dest="scenarios",
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME",
        help="only these scenarios of the release",
    )
    add("--metric", metavar="NAME", help="the stat to compare by (default: each main metric)")
    add(
        "-r",
        "--run-entries",
        nargs="+",
        default=[],
        metavar="ENTRY",
        help="the run entries, where a rubric or jury is in a benchmark's own files",
    )
