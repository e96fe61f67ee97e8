"""`doctor`: what is wrong with machines, Spark and the lake's location, and what to do."""

import json
from argparse import ArgumentParser, Namespace
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from medhelm_spark.cli.commands import evaluation
from medhelm_spark.cli.exit_codes import FAILED
from medhelm_spark.cli.printing import write_out
from medhelm_spark.doctor import CheckFinding, CheckState, findings, gather
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.engines import ENGINES
from medhelm_spark.errors import ConfigError
from medhelm_spark.workspace.workspace import say

BUNDLE = "bundle"


def doctor(args: Namespace) -> int:
    """`doctor`: a line for each finding; FAILED where something is wrong. `bundle` makes one."""
    if args.action == BUNDLE:
        return _bundle(args)
    air_gap = (
        evaluation(args).air_gap if args.offline is not None or args.egress is not None else None
    )
    found = findings(
        gather(
            args.output_path,
            site=args.local_path,
            paths=tuple(args.paths),
            engines=frozenset(args.engine),
            on_executors=args.executors,
            tracking_uri=args.tracking_uri,
            is_tracked=not args.no_tracking,
        )
    )
    if air_gap and args.offline is not None:
        found += air_gap.offline_findings(args.offline)
    if air_gap and args.egress is not None:
        found += air_gap.egress_findings(args.egress, on_executors=args.executors)
    write_out(as_json(found) if args.format == "json" else as_text(found))
    states = Counter(each.state for each in found)
    wrong, warnings = states[CheckState.WRONG], states[CheckState.WARNING]
    summary = f"{counted(wrong, 'thing')} wrong" if wrong else "nothing is wrong"
    say(f"doctor: {summary}" + (f", {counted(warnings, 'warning')}" if warnings else ""))
    return FAILED if wrong else 0


def _bundle(args: Namespace) -> int:
    if not args.out:
        raise ConfigError("doctor bundle: name --out FOLDER.")
    done = evaluation(args).air_gap.bundle(
        args.out,
        wheels=args.wheel,
        requirements=args.requirements,
        weights=args.weights,
        scenarios=args.scenarios,
        image=args.image,
    )
    write_out(str(done))
    return 0


def as_text(found: tuple[CheckFinding, ...]) -> str:
    """A line each, what is wrong marked at its beginning."""
    return "\n".join(map(_line, found))


def _line(each: CheckFinding) -> str:
    remedy = f"; {each.remedy}" if each.remedy else ""
    return f"{each.state:<8} {each.check:<11} {each.where}: {each.found}{remedy}"


def as_json(found: tuple[CheckFinding, ...]) -> str:
    """The same for a program."""
    is_well = all(each.state is not CheckState.WRONG for each in found)
    return json.dumps({"ok": is_well, "findings": [asdict(each) for each in found]}, indent=2)


def examining(parser: ArgumentParser) -> None:
    """What to look at beside the driver and the lake."""
    add = parser.add_argument
    add(
        "action",
        nargs="?",
        choices=("look", BUNDLE),
        default="look",
        help="look, or make a folder for machines without a network (default: %(default)s)",
    )
    add(
        "--offline",
        nargs="?",
        const="",
        metavar="BUNDLE",
        help="also look whether this machine has what an offline run needs, and whether a bundle "
        "is as it was made",
    )
    add(
        "--egress",
        nargs="*",
        metavar="HOST:PORT",
        help="also open and close a connection to each of these, which have to be refused "
        "(default: four known servers), and to the servers that the site's files name",
    )
    add("--out", type=Path, metavar="FOLDER", help="bundle: the folder to make")
    add(
        "--wheel",
        action="extend",
        nargs="+",
        type=Path,
        default=[],
        metavar="FILE",
        help="bundle: wheels to add, as the one of `make wheel`",
    )
    add(
        "--requirements",
        type=Path,
        metavar="FILE",
        help="bundle: what to download (default: what this environment has installed)",
    )
    add(
        "--weights",
        action="extend",
        nargs="+",
        type=Path,
        default=[],
        metavar="PATH",
        help="bundle: folders or files of models, with their tokenizers",
    )
    add(
        "--scenarios",
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME",
        help="bundle: scenarios whose data to add",
    )
    add(
        "--image",
        metavar="NAME@sha256:...",
        help="bundle: the base image of your containers, by its digest",
    )
    add(
        "--executors",
        action="store_true",
        help="also look at Spark's executors, by a job of one row for each task",
    )
    add(
        "--engine",
        action="extend",
        nargs="+",
        choices=tuple(ENGINES),
        default=[],
        metavar="NAME",
        help="engines that have to work where models run: vllm also needs GPUs or its CPU build",
    )
    add(
        "--paths",
        action="extend",
        nargs="+",
        default=[],
        metavar="PATH",
        help="folders and files that have to be there on every machine, such as weights",
    )
    add(
        "--format",
        choices=("text", "json"),
        default="text",
        help="the form of what is found (default: %(default)s)",
    )
