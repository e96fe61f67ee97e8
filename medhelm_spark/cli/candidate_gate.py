"""`compare --gate` and `compare --flips`: what was typed becomes a call of the API."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from medhelm_spark.cli.commands import compare as compare_models, evaluation
from medhelm_spark.cli.exit_codes import INCONCLUSIVE, NO_GO
from medhelm_spark.cli.options import suite_name
from medhelm_spark.cli.printing import write_out, write_result
from medhelm_spark.errors import ConfigError

CODES: Mapping[str, int] = {"GO": 0, "NO-GO": NO_GO, "INCONCLUSIVE": INCONCLUSIVE}
"""By verdict."""
_GATE = ("against", "candidate", "gate")
_OF_GATE = (*_GATE, "baseline", "junit")
_NOT_WITH_GATE = ("models", "release", "scenario", "margin", "prevalence", "by", "flips")
_NOT_WITH_FLIPS = ("margin", "prevalence", "by")


def compare(args: Namespace) -> int:
    """`compare`: with `--gate` a verdict on a candidate, with `--flips` single instances."""
    if any(getattr(args, name) for name in _OF_GATE):
        return _gate(args)
    if args.flips:
        return _flips(args)
    return compare_models(args)


def _gate(args: Namespace) -> int:
    if lacking := [f"--{name}" for name in _GATE if not getattr(args, name)]:
        raise ConfigError(f"compare with a gate: {', '.join(lacking)} missing.")
    _refuse("--gate", args, _NOT_WITH_GATE)
    made = evaluation(args).candidate_gate.check(
        args.gate,
        against=args.against,
        candidate=args.candidate,
        baseline=args.baseline,
        suite=args.suite,
    )
    if args.junit:
        write_out(made.junit(), args.junit, command=args.name)
    write_result(made, args)
    return CODES[made.verdict]


def _flips(args: Namespace) -> int:
    _refuse("--flips", args, _NOT_WITH_FLIPS)
    if len(args.models) != 2:
        raise ConfigError(f"--flips is of two models; --models names {len(args.models)}.")
    flips = evaluation(args).candidate_gate.flips(
        *args.models, suite=args.suite, release=args.release, scenario=args.scenario
    )
    write_result(flips, args)
    return 0


def _refuse(flag: str, args: Namespace, names: tuple[str, ...]) -> None:
    """Refuse flags that mean nothing beside another one."""
    refused = [f"--{name}" for name in names if getattr(args, name) not in (None, [], False)]
    if refused:
        raise ConfigError(f"{flag} is not allowed with {', '.join(refused)}.")


def gating(parser: ArgumentParser) -> None:
    """A candidate against what runs today."""
    add = parser.add_argument
    add(
        "--gate",
        type=Path,
        metavar="FILE",
        help="conditions on a candidate, as YAML: prints GO, NO-GO or INCONCLUSIVE; with --against "
        "and --candidate",
    )
    add(
        "--against",
        type=suite_name,
        metavar="NAME",
        help="--gate: the release or suite that has the baseline's runs",
    )
    add("--candidate", metavar="NAME", help="--gate: the model or deployment that may replace it")
    add(
        "--baseline",
        metavar="NAME",
        help="--gate: the model that runs today (default: the only other one of --against)",
    )
    add("--junit", type=Path, metavar="FILE", help="--gate: write the lines as JUnit XML too")
    add(
        "--flips",
        action="store_true",
        help="list the instances on which one of two models is better: ids and values, no text",
    )
