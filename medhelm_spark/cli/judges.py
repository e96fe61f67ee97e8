"""`judge ACTION`: what was typed becomes a call of the API."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping

from medhelm_spark.cli.commands import evaluation
from medhelm_spark.cli.exit_codes import INCONCLUSIVE, NO_GO
from medhelm_spark.cli.options import suite_name
from medhelm_spark.cli.printing import HTML, write_out, write_result
from medhelm_spark.config.juries import DEFAULT_JURY
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.errors import ConfigError


def judge(args: Namespace) -> int:
    """`judge ACTION`: one of ACTIONS."""
    return ACTIONS[args.action](args)


def _check(args: Namespace) -> int:
    if not args.scenario:
        raise ConfigError("judge check: --scenario missing.")
    if args.against or args.against_suite:
        return _compare(args)
    done = evaluation(args).judges.check(
        scenario=args.scenario,
        suite=args.suite,
        jury=args.jury,
        items=args.items,
        uses=args.uses,
        entries=args.run_entries,
    )
    if args.format == HTML:
        write_out(done.html, args.output_file, command=args.name)
    else:
        write_result(done, args)
    return {"UNTRUSTED": NO_GO, "INCONCLUSIVE": INCONCLUSIVE}.get(done.trust.value, 0)


def _compare(args: Namespace) -> int:
    done = evaluation(args).judges.compare(
        scenario=args.scenario,
        jury=args.jury,
        against=args.against,
        suite=args.suite,
        against_suite=args.against_suite,
        entries=args.run_entries,
    )
    write_result(done, args)
    if done.first_is_better is None:
        return INCONCLUSIVE
    return 0 if done.first_is_better else NO_GO


def _physicians(args: Namespace) -> int:
    if not args.file:
        raise ConfigError("judge physicians: --file missing.")
    done = evaluation(args).judges.physicians(
        args.file,
        jury=args.jury or DEFAULT_JURY,
        rubric=args.rubric,
        access_level=args.access_level,
    )
    write_result(done, args)
    return 0


def _cards(args: Namespace) -> int:
    write_result(evaluation(args).judges.cards(), args)
    return 0


ACTIONS: Mapping[str, Callable[[Namespace], int]] = {
    "check": _check,
    "physicians": _physicians,
    "cards": _cards,
}


def judging(parser: ArgumentParser) -> None:
    """Which action, on which benchmark's jury."""
    add = parser.add_argument
    add(
        "action",
        choices=tuple(ACTIONS),
        metavar="ACTION",
        help="check: whether a jury may be trusted, by stored verdicts and planted answers; "
        "physicians: macro F1 of its verdicts on single criteria with physicians'; cards: list "
        "what earlier checks came to",
    )
    add("--scenario", metavar="NAME", help="check: the benchmark whose answers the jury judged")
    add(
        "--suite",
        type=suite_name,
        metavar="NAME",
        help="check: the suite with the verdicts (default: the one planned last)",
    )
    add(
        "--jury",
        metavar="NAME",
        help="check: the jury, or its rubric (default: the only one); physicians: the jury "
        "(default: default)",
    )
    add(
        "--against",
        metavar="NAME",
        help="check: another jury or rubric, whose stored verdicts on the same answers are put "
        "beside those of --jury: which agrees better with the raters; no model is asked",
    )
    add(
        "--against-suite",
        type=suite_name,
        metavar="NAME",
        help="check: the suite with the verdicts of --against (default: that of --suite)",
    )
    add(
        "--file",
        metavar="FILE",
        help="physicians: records of HealthBench's meta-evaluation, with prompt, completion, "
        "rubric, binary_labels and perhaps category",
    )
    add(
        "--rubric",
        default="health_bench",
        metavar="NAME",
        help="physicians: a rubric of kind rubric, asked once per record (default: %(default)s)",
    )
    add(
        "--access-level",
        default="private",
        choices=tuple(level.value for level in AccessLevel),
        help="physicians: the access level of the records (default: %(default)s)",
    )
    add(
        "--items",
        type=int,
        default=50,
        metavar="N",
        help="check: from how many stored answers others are planted; 0 asks no judge "
        "(default: %(default)s)",
    )
    add(
        "--for",
        dest="uses",
        action="append",
        default=[],
        choices=("rank", "absolute", "screen"),
        help="check: the use that decides the exit code, once for each (default: all)",
    )
    add(
        "-r",
        "--run-entries",
        nargs="+",
        default=[],
        metavar="ENTRY",
        help="check: the run entries, where rubric or jury are in a benchmark's own files",
    )
