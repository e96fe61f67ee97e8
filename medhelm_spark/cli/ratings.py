"""`ratings ACTION`: what was typed becomes a call of the API."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

from medhelm_spark.cli.commands import evaluation
from medhelm_spark.cli.options import DEFAULT_HOST, DEFAULT_PORT, suite_name
from medhelm_spark.cli.printing import write_out, write_result
from medhelm_spark.errors import ConfigError

SCALES = ("nominal", "ordinal", "interval", "ratio")


def ratings(args: Namespace) -> int:
    """`ratings ACTION`: one of ACTIONS."""
    return ACTIONS[args.action](args)


def _import(args: Namespace) -> int:
    from medhelm_spark.ratings.read_ratings import parse_names

    _need(args, "file", "scenario")
    done = evaluation(args).ratings.import_file(
        args.file,
        scenario=args.scenario,
        suite=args.suite,
        fields=parse_names(args.fields),
        criteria=args.criteria,
        scale=scale_of(args.scale),
        key_file=args.key_file,
        sheet=args.sheet,
        separator=args.separator,
        encoding=args.encoding,
    )
    write_out(str(done))
    return 0


def _agreement(args: Namespace) -> int:
    _need(args, "scenario")
    agreement = evaluation(args).ratings.agreement(
        scenario=args.scenario,
        suite=args.suite,
        scale=args.level_of_measurement,
        epsilon=args.epsilon,
        by_model=args.by_model,
    )
    write_result(agreement, args)
    return 0


def _invite(args: Namespace) -> int:
    _need(args, "rater", "scenario")
    links = evaluation(args).ratings.invite(
        args.rater,
        scenario=args.scenario,
        suite=args.suite,
        items=args.items,
        raters_per_item=args.raters_per_item,
        level=args.levels,
        days=args.days,
        criteria=args.criteria,
        scale=scale_of(args.scale),
        key_file=args.key_file,
        address=args.address,
    )
    write_out(str(links))
    return 0


def _invitations(args: Namespace) -> int:
    if len(args.rater) > 1:
        raise ConfigError(f"ratings invitations: {len(args.rater)} raters; allowed: one.")
    rater = args.rater[0] if args.rater else None
    invitations = evaluation(args).ratings.invitations(rater=rater, key_file=args.key_file)
    write_result(invitations, args)
    return 0


def _revoke(args: Namespace) -> int:
    _need(args, "invitation")
    write_result(evaluation(args).ratings.revoke(args.invitation), args)
    return 0


def _need(args: Namespace, *names: str) -> None:
    """Refuse an action without the flags that it needs."""
    for name in names:
        if not getattr(args, name):
            raise ConfigError(f"ratings {args.action}: --{name} missing.")


ACTIONS: Mapping[str, Callable[[Namespace], int]] = {
    "import": _import,
    "agreement": _agreement,
    "invite": _invite,
    "invitations": _invitations,
    "revoke": _revoke,
}


def scale_of(text: str | None) -> tuple[float, float] | None:
    """`1-5` as its two ends.

    >>> scale_of("1-5"), scale_of("-2-2"), scale_of(None)
    ((1.0, 5.0), (-2.0, 2.0), None)

    Raises:
        ConfigError: it is no scale.
    """
    if text is None:
        return None
    low, dash, high = text.rpartition("-")
    if low.endswith("-"):  # the upper end is negative too
        low, high = low[:-1], f"-{high}"
    try:
        ends = float(low), float(high)
    except ValueError:
        ends = (1.0, 0.0)
    if not dash or not ends[0] < ends[1]:
        raise ConfigError(f"--scale is {text!r}; allowed: LOW-HIGH, as 1-5.")
    return ends


def rating(parser: ArgumentParser) -> None:
    """Which action, of which benchmark, from which file."""
    add = parser.add_argument
    add(
        "action",
        choices=tuple(ACTIONS),
        metavar="ACTION",
        help="import: store ratings from a file; agreement: of raters among themselves, and of "
        "judges, juries and metrics with them; invite: make a personal link to the dashboard for "
        "each rater; invitations: list them with progress; revoke: end one",
    )
    add(
        "--scenario",
        metavar="NAME",
        help="import, agreement, invite: the benchmark whose answers are rated",
    )
    add(
        "--suite",
        type=suite_name,
        metavar="NAME",
        help="the suite with the answers (default: the one planned last)",
    )
    add(
        "--file",
        metavar="FILE",
        help="import: csv, tsv, workbook, JSON lines, JSON or Parquet with source_id or "
        "instance_id, model, rater, and criterion and value or --criteria; trial and comment "
        "where there are some",
    )
    add(
        "--fields",
        metavar="NAMES",
        help="import: what the file calls them, as rater=clinician,model='LLM name'",
    )
    add(
        "--criteria",
        action="extend",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="import: columns that are criteria, where a row has the values of several; invite: "
        "criteria in place of the rubric's, with --scale",
    )
    add(
        "--scale",
        metavar="LOW-HIGH",
        help="import, invite: the lowest and the highest value, as 1-5 (default: the rubric's)",
    )
    add(
        "--key-file",
        type=Path,
        metavar="FILE",
        help="import, invite: the key of the raters' pseudonyms, made where there is "
        "none (default: "
        "~/.config/medhelm_spark/raters.key)",
    )
    add("--sheet", metavar="NAME", help="import: the sheet of a workbook")
    add("--sep", dest="separator", metavar="SIGN", help="import: what parts columns")
    add("--encoding", metavar="NAME", help="import: the encoding of the text")
    add(
        "--measured-as",
        dest="level_of_measurement",
        choices=SCALES,
        default="interval",
        help="agreement: what a difference of two ratings means (default: %(default)s)",
    )
    add(
        "--epsilon",
        type=float,
        default=0.2,
        metavar="NUMBER",
        help="agreement: what a judge's lower cost is worth in the alternative annotator test "
        "(default: %(default)s, its authors' for experts)",
    )
    add("--by-model", action="store_true", help="agreement: each model's answers by themselves too")
    add(
        "--rater",
        action="append",
        default=[],
        metavar="NAME",
        help="invite: who is invited, once for each; invitations: those of one alone",
    )
    add("--items", type=int, metavar="N", help="invite: how many instances (default: all)")
    add(
        "--raters-per-item",
        type=int,
        metavar="K",
        help="invite: how many raters each instance gets (default: all)",
    )
    add(
        "--levels",
        choices=("public", "gated", "private"),
        default="public",
        help="invite: the strictest text that the links open; the policy's "
        "rating_links.highest_level is the limit (default: %(default)s)",
    )
    add(
        "--days",
        type=int,
        default=14,
        metavar="D",
        help="invite: how many days after today the links still open (default: %(default)s)",
    )
    add(
        "--address",
        default=f"http://{DEFAULT_HOST}:{DEFAULT_PORT}",
        metavar="URL",
        help="invite: where raters reach the dashboard (default: %(default)s)",
    )
    add("--invitation", metavar="ID", help="revoke: the invitation, as `invitations` lists it")
