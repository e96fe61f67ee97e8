"""`release ACTION`, and `publish`: what was typed becomes a call of the API."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from medhelm_spark.cli import options, watch
from medhelm_spark.cli.commands import evaluation, schema_of, suites_of
from medhelm_spark.cli.exit_codes import GATED
from medhelm_spark.cli.printing import write_out, write_result
from medhelm_spark.errors import ConfigError

if TYPE_CHECKING:
    from medhelm_spark.releases.results import ReleaseRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseStep:
    """What is done, in words; the function that does it; and how many releases it is done to."""

    about: str
    function: Callable[[Namespace], int]
    takes: int = 1


def release(args: Namespace) -> int:
    """`release ACTION [NAME ...]`: one of ACTIONS."""
    action = ACTIONS[args.action]
    names = [*args.names, *([args.release] if args.release else [])]
    if len(names) != action.takes:
        expected = ("no release", "one release", "two releases")[action.takes]
        raise ConfigError(f"release {args.action}: give {expected}; received {len(names)}.")
    if args.action == "withdraw" and not (args.reason or "").strip():
        raise ConfigError("release withdraw: --reason missing or empty.")
    if args.action != "publish" and suites_of(args):
        raise ConfigError(f"release {args.action}: --suites is of `release publish` alone.")
    args.names, args.release = names, names[0] if action.takes == 1 else None
    return action.function(args)


def publish(args: Namespace) -> int:
    """With `--suites` pin a draft, without publish the approved release; prints its board."""
    if not args.release:
        raise ConfigError("publish makes a release: name it by --release R.")
    here, schema, suites = evaluation(args), schema_of(args), suites_of(args)
    done = here.releases.publish(
        args.release, suites or None, schema=schema, note=args.note or "", key=args.key
    )
    if suites:  # a draft: its numbers are what its maker wants to see
        board = here.board(release=args.release, schema=schema) if schema else done.board
        write_out(board.render())
    else:
        write_out(str(done))
    return 0


def _list(args: Namespace) -> int:
    write_result(evaluation(args).releases.list(), args)
    return 0


def _show(args: Namespace) -> int:
    record = evaluation(args).releases.show(args.release)
    write_result(record, args)
    return 0


def _compare(args: Namespace) -> int:
    first, second = args.names
    compared = evaluation(args).releases.compare(first, second)
    write_result(compared, args)
    return 0


def _gate(args: Namespace) -> int:
    gate = evaluation(args).releases.gate(args.release)
    write_result(gate, args)
    return 0 if gate.is_passed else GATED


def _submit(args: Namespace) -> int:
    done = evaluation(args).releases.submit(args.release, note=args.note or "", key=args.key)
    return _print_status(done)


def _approve(args: Namespace) -> int:
    plan = {
        "margin": args.margin,
        "answers_margin": args.answers_margin,
        "sample": args.sample,
        "days": args.every,
    }
    done = evaluation(args).releases.approve(
        args.release,
        note=args.note or "",
        conditions=args.conditions,
        until=args.until,
        owner=args.owner or "",
        monitoring=plan,
        key=args.key,
    )
    return _print_status(done)


def _withdraw(args: Namespace) -> int:
    done = evaluation(args).releases.withdraw(args.release, reason=args.reason, key=args.key)
    return _print_status(done)


def _print_status(record: "ReleaseRecord") -> int:
    """Print the status of a release; the people of its steps are on standard error."""
    write_out(f"release {record.release.name}: {record.status}, manifest {record.manifest_hash}")
    return 0


def _share(args: Namespace) -> int:
    if not args.audience or not args.out:
        raise ConfigError("release share: name --audience NAME and --out FOLDER.")
    done = evaluation(args).sharing.share(
        args.release, args.audience, args.out, waivers=args.waivers, helm=args.helm
    )
    write_out(str(done))
    return 0


def _shares(args: Namespace) -> int:
    here = evaluation(args).sharing
    if args.out:
        shared = here.verify(args.out)
        write_out(f"{args.out}: {shared.share} of release {shared.release}, as it was made")
    else:
        write_result(here.list(), args)
    return 0


def _evidence(args: Namespace) -> int:
    if not args.scheme or not args.out:
        raise ConfigError("release evidence: name --for SCHEME and --out FOLDER.")
    write_out(str(evaluation(args).evidence.make(args.release, args.scheme, args.out)))
    return 0


def _provenance(args: Namespace) -> int:
    write_result(evaluation(args).provenance.records(args.release), args)
    return 0


def _seal(args: Namespace) -> int:
    record = evaluation(args).provenance.seal(args.release)
    write_out(f"release {args.release}: signed up to record {record}")
    return 0


def _verify(args: Namespace) -> int:
    manifest = evaluation(args).releases.verify(args.release)
    write_out(f"release {args.release}: as published, manifest {manifest}")
    return 0


ACTIONS: Mapping[str, ReleaseStep] = {
    "list": ReleaseStep(about="all releases with their statuses", function=_list, takes=0),
    "show": ReleaseStep(about="status, who and when, manifest, runs, requirements", function=_show),
    "compare": ReleaseStep(about="two releases: what changed and why", function=_compare, takes=2),
    "submit": ReleaseStep(about="put a draft in review", function=_submit),
    "gate": ReleaseStep(about="check what the policy requires", function=_gate),
    "approve": ReleaseStep(about="approve, as somebody who did not make it", function=_approve),
    "publish": ReleaseStep(
        about="publish what is approved; with --suites pin a draft", function=publish
    ),
    "withdraw": ReleaseStep(about="withdraw, with a --reason", function=_withdraw),
    "share": ReleaseStep(
        about="make a scanned folder that may leave, for an --audience of the policy",
        function=_share,
    ),
    "shares": ReleaseStep(
        about="what was shared; with --out FOLDER whether a share is as it was made",
        function=_shares,
        takes=0,
    ),
    "evidence": ReleaseStep(
        about="make a folder for a committee, by the scheme that --for names", function=_evidence
    ),
    "watch": ReleaseStep(
        about="ask its prompts again, and say what moved beyond a --margin", function=watch.watch
    ),
    "looks": ReleaseStep(about="what the looks of watch found", function=watch.looks),
    "provenance": ReleaseStep(
        about="what each run came from: code, weights, data, prompts, policy, cost",
        function=_provenance,
    ),
    "seal": ReleaseStep(
        about="sign it as it is, where it was made without the site's key", function=_seal
    ),
    "verify": ReleaseStep(about="hash every row behind it again, and compare", function=_verify),
}


def stepping(parser: ArgumentParser) -> None:
    """Which step, of which release."""
    add = parser.add_argument
    add(
        "action",
        choices=tuple(ACTIONS),
        metavar="ACTION",
        help="; ".join(f"{name}: {action.about}" for name, action in ACTIONS.items()),
    )
    add(
        "names",
        nargs="*",
        type=options.release_name,
        default=[],
        metavar="NAME",
        help="the release; two for compare",
    )
    add("--reason", metavar="TEXT", help="withdraw: why, in a sentence without patient data")
    add("--audience", metavar="NAME", help="share: to whom, by a name of the policy's audiences")
    add(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="share, evidence: the folder to make; shares: to verify",
    )
    add(
        "--helm",
        action="store_true",
        help="share: as HELM's output folder, which MedHELM's helm-summarize reads",
    )
    add(
        "--for",
        dest="scheme",
        metavar="SCHEME",
        help="evidence: chai, tripod-llm, or a YAML file of your own",
    )
    add(
        "--waivers",
        type=Path,
        metavar="FILE",
        help="share: matches of patterns that somebody answers for, as YAML",
    )


def noting(parser: ArgumentParser) -> None:
    """What to keep beside a status."""
    parser.add_argument(
        "--note", metavar="TEXT", help="kept beside the new status, without patient data"
    )
    parser.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="your private key, by which the policy names you (default: the settings' key or token,"
        " the platform's user, else the operating system's, unverified)",
    )


def approving(parser: ArgumentParser) -> None:
    """What an approval states beside its note."""
    add = parser.add_argument_group(
        "approve", "--margin, --answers-margin and --sample are then the monitoring plan"
    ).add_argument
    add(
        "--condition",
        dest="conditions",
        action="append",
        default=[],
        metavar="TEXT",
        help="what the approval depends on; may be repeated",
    )
    add("--until", metavar="DAY", help="the last day on which the approval counts, as 2027-06-30")
    add("--owner", metavar="NAME", help="who answers for the model in use")
    add("--every", type=options.at_least_one, metavar="DAYS", help="how often to look at it again")
