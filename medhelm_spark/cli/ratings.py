"""`ratings ACTION`: what was typed becomes a call of the API."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

from medhelm_spark.cli.commands import evaluation
from medhelm_spark.cli.options import suite_name
from medhelm_spark.cli.printing import write_out
from medhelm_spark.errors import ConfigError

SCALES = ("nominal", "ordinal", "interval", "ratio")


def ratings(args: Namespace) -> int:
    """`ratings ACTION`: one of ACTIONS."""
    return ACTIONS[args.action](args)


def _import(args: Namespace) -> int:
    from medhelm_spark.ratings.read_ratings import parse_names

    if not args.file:
        raise ConfigError("ratings import: --file missing.")
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
    shown = evaluation(args).ratings.agreement(
        scenario=args.scenario,
        suite=args.suite,
        scale=args.level_of_measurement,
        epsilon=args.epsilon,
        by_model=args.by_model,
    )
    write_out(shown.render(args.format), args.output_file, command=args.name)
    return 0


ACTIONS: Mapping[str, Callable[[Namespace], int]] = {"import": _import, "agreement": _agreement}


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
        "judges, juries and metrics with them",
    )
    add("--scenario", required=True, metavar="NAME", help="the benchmark whose answers were rated")
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
        help="import: columns that are criteria, where a row has the values of several",
    )
    add(
        "--scale",
        metavar="LOW-HIGH",
        help="import: the lowest and the highest value, as 1-5 (default: the rubric's)",
    )
    add(
        "--key-file",
        type=Path,
        metavar="FILE",
        help="import: the key of the raters' pseudonyms, made where there is none (default: "
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
