"""The options of commands that show what is in a lake."""

from argparse import ArgumentParser
from pathlib import Path

from medhelm_spark.board import AnswerFilter
from medhelm_spark.cli.options import (
    DEFAULT_HOST,
    DEFAULT_PORT,
    at_least_one_or_all,
    day,
    release_name,
    schema,
    suite_name,
)
from medhelm_spark.domain.access import AccessLevel

ALL = "all"
"""As a metric: every stat."""


def which(parser: ArgumentParser) -> None:
    """A suite or a release."""
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--suite",
        type=suite_name,
        metavar="NAME",
        help="a suite (default: the one planned last)",
    )
    source.add_argument("--release", type=release_name, metavar="NAME", help="a release")


def disclosures(parser: ArgumentParser) -> None:
    """Which of the texts that were sent."""
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--suite", type=suite_name, metavar="NAME", help="only of this suite's runs"
    )
    source.add_argument(
        "--release", type=release_name, metavar="NAME", help="only of this release's runs"
    )
    add = parser.add_argument
    add(
        "--viewings",
        action="store_true",
        help="who opened gated or private text in the dashboard or by `answers`, instead",
    )
    add("--benchmark", metavar="NAME", help="only about this scenario")
    add("--since", type=day, metavar="DAY", help="the first day, as 2026-01-31")
    add("--until", type=day, metavar="DAY", help="the last day")


def answers(parser: ArgumentParser) -> None:
    """Which answers, and how many."""
    add = parser.add_argument
    add("--benchmark", metavar="NAME", help="of this scenario")
    add("--model", metavar="NAME", help="of this model or deployment")
    only = parser.add_mutually_exclusive_group()
    for kind, about in {
        AnswerFilter.WRONG: "only answers with the worst score there is",
        AnswerFilter.MISSED: "only positive cases that were not answered as positive",
        AnswerFilter.FALSE_ALARM: "only negative cases that were answered as positive",
        AnswerFilter.UNREAD: "only answers in which the extraction found nothing",
        AnswerFilter.FAILED: "only requests without an answer",
    }.items():
        only.add_argument(
            f"--{kind.value}", dest="only", action="store_const", const=kind, help=about
        )
    add(
        "--noted",
        action="store_true",
        help="only answers on which people left flags or a note in the dashboard",
    )
    add(
        "-n",
        "--limit",
        type=at_least_one_or_all,
        default=20,
        metavar="N",
        help="at most so many answers, or all (default: %(default)s)",
    )
    add(
        "--html",
        type=Path,
        metavar="FILE",
        help="write them with their whole texts as one page to hand on, in place of printing them",
    )
    add(
        "--text-levels",
        action="extend",
        nargs="+",
        choices=tuple(level.value for level in AccessLevel),
        default=[],
        metavar="LEVEL",
        help="levels whose text may be written where the output is no terminal (default: public)",
    )


def comparing(parser: ArgumentParser) -> None:
    """Which models to compare on what."""
    add = parser.add_argument
    add(
        "--models",
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME",
        help="models or deployments, each compared with each later one (default: all)",
    )
    add("--scenario", action="extend", nargs="+", metavar="NAME", help="only on these scenarios")
    add(
        "--margin",
        type=float,
        metavar="DIFFERENCE",
        help="a difference too small to matter, in the metric's units: decides what is not "
        "inferior and what is equivalent (default: the suite file's)",
    )
    prevalence(parser)
    grouping(parser, "compare them in each group of patients, by these columns, as sex,age_band")
    form(parser)


def grouping(parser: ArgumentParser, about: str) -> None:
    """By which columns of the data results are grouped."""
    parser.add_argument(
        "--by", action="extend", nargs="+", default=[], metavar="COLUMN", help=about
    )


def reporting(parser: ArgumentParser) -> None:
    """Where a report goes."""
    add = parser.add_argument
    schema(add)
    prevalence(parser)
    add(
        "--output-file",
        type=Path,
        metavar="FILE",
        help="where to write it (default: NAME.html, by the suite or release)",
    )


def board(parser: ArgumentParser) -> None:
    """In which form to show a board."""
    add = parser.add_argument
    schema(add)
    add(
        "--show",
        choices=("board", "metrics", "robustness", "groups", "taxonomy"),
        default="board",
        help="the board; what its main metrics leave out: two-by-two tables, missed cases, "
        "predictive values, cost, tokens; what perturbed copies and other prompts do to its "
        "numbers; scores by groups of patients; or the taxonomy's subcategories with their "
        "benchmarks (default: %(default)s)",
    )
    grouping(parser, "--show groups: only by these columns, as sex,age_band")
    prevalence(parser)
    add(
        "--metric",
        metavar="NAME",
        help="a stat to show and rank by in place of each benchmark's main metric, as specificity; "
        f"{ALL} lists every stat of every run",
    )
    form(parser)


def prevalence(parser: ArgumentParser) -> None:
    """How many cases are positive where a model is to be used."""
    parser.add_argument(
        "--prevalence",
        action="extend",
        nargs="+",
        default=[],
        metavar="SHARE",
        help="the share of cases that is positive, for missed cases, predictive values and cost: "
        "0.02, or of single benchmarks, as referral=0.02 (default: as in the data)",
    )


def form(parser: ArgumentParser) -> None:
    """As what, and where to."""
    add = parser.add_argument
    add(
        "--format",
        choices=("table", "json", "csv", "md", "html", "xlsx"),
        default="table",
        help="the form of what is shown; xlsx, a sheet for each table, needs --output-file "
        "(default: %(default)s)",
    )
    add("--output-file", type=Path, metavar="FILE", help="write it there instead of printing it")


def serving(parser: ArgumentParser) -> None:
    """Where the dashboard listens."""
    add = parser.add_argument
    add(
        "-p",
        "--port",
        type=int,
        default=DEFAULT_PORT,
        metavar="PORT",
        help="the port to listen on (default: %(default)s)",
    )
    add(
        "--host",
        default=DEFAULT_HOST,
        metavar="ADDRESS",
        help="the address to listen on (default: %(default)s, this machine only)",
    )
    add(
        "--allowed-hosts",
        action="extend",
        nargs="+",
        metavar="NAME",
        help="names that browsers call the server by beside its own, such as a proxy's",
    )
    add(
        "--raters-only",
        action="store_true",
        help="show nothing but the page of raters, to whoever has a link of `ratings invite`",
    )
