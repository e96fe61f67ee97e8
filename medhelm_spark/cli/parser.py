"""The command line: HELM's flags keep their letters, names and defaults."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from medhelm_spark import __version__
from medhelm_spark.cli import commands

DEFAULT_OUTPUT = "benchmark_output"
DEFAULT_LOCAL_PATH = "prod_env"
DEFAULT_PORT = 8000

# HELM flags that mean nothing here, and what does their work instead.
REPLACED: Mapping[str, tuple[str, int]] = {
    "--mongo-uri": ("every answer is kept in the lake's request_results table", 1),
    "--runner-class-name": ("Spark runs everything; slots and wave_minutes are settings", 1),
    "--disable-cache": ("request_results is the cache; --suite and --retry-failed decide", 0),
    "--cache-instances": ("ingest always keeps instances in the lake", 0),
    "--cache-instances-only": ("use `medhelm-spark ingest`", 0),
    "--skip-instances": ("use --dry-run", 0),
    "--exit-on-error": ("a failed request is a row, it never ends a run", 0),
    "--batch-size": ("engines batch continuously by themselves", 1),
    "--server-url": ("name a deployment with engine openai and its base_url", 1),
    "--num-instances": ("use --max-eval-instances", 1),
    "--debug": ("errors say where they come from", 0),
    "--schema-validation": ("a schema file is always checked", 1),
    "--allow-unknown-models": ("unknown models are shown by their name", 0),
    "--cache-output-path": ("the dashboard reads the lake itself", 1),
}


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Arguments with `command`, the function to call; leaves by SystemExit on a wrong one."""
    return build_parser().parse_args(_without_replaced(list(argv)))


def _without_replaced(argv: list[str]) -> list[str]:
    kept: list[str] = []
    while argv:
        word = argv.pop(0)
        flag, _, value = word.partition("=")
        if flag not in REPLACED:
            kept.append(word)
            continue
        instead, values = REPLACED[flag]
        sys.stderr.write(f"medhelm-spark: {flag} has no meaning here: {instead}.\n")
        if values and not value and argv:
            argv.pop(0)
    return kept


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = argparse.ArgumentParser(
        prog="medhelm-spark",
        description="Evaluate medical language models as a Spark batch job over Delta tables.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    found = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, (function, about, *options) in COMMANDS.items():
        made = found.add_parser(name, help=about, description=about, aliases=ALIASES.get(name, ()))
        made.set_defaults(command=function, name=name)
        for add_options in (_where, *options):
            add_options(made)
    return parser


def _where(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output-path",
        default=DEFAULT_OUTPUT,
        metavar="LAKE",
        help="a folder, an object-store URI or catalog.schema (default: %(default)s)",
    )
    parser.add_argument(
        "--local-path",
        type=Path,
        default=Path(DEFAULT_LOCAL_PATH),
        help="the site's own configuration folder (default: %(default)s)",
    )


def _entries(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("-r", "--run-entries", nargs="+", default=[], metavar="ENTRY")
    add("-c", "--conf-paths", nargs="+", default=[], type=Path, metavar="FILE")
    add("--models-to-run", nargs="+", default=[], metavar="MODEL")
    add("--groups-to-run", nargs="+", default=[], metavar="GROUP")
    add("--priority", type=int, help="keep entries of this priority or a more urgent one")
    add("--suite", required=True)
    add("-m", "--max-eval-instances", type=int, metavar="N")
    add("-t", "--num-train-trials", type=int, metavar="N")
    add(
        "--source", nargs="+", default=[], help="the scenario's data: files, a folder or table:NAME"
    )


def _running(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "-n", "--num-threads", type=int, metavar="N", help="concurrent requests per HTTP deployment"
    )
    add("-d", "--dry-run", action="store_true", help="say what would run, write and send nothing")
    add("--skip-completed-runs", action="store_true", help="leave summarised runs as they are")
    add("--retry-failed", action="store_true", help="ask settled failures again")
    _tracking(parser)


def _ingest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scenario", required=True)
    parser.add_argument("--source", nargs="+", default=[], help="files, a folder or table:NAME")


def _importing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--file", type=Path, required=True, help="JSON lines")
    parser.add_argument("--fields", help="source_id='Row Number',completion='LLM Answer'")
    _tracking(parser)


def _summarize(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--suite")
    add("--suites", nargs="+", default=[])
    add("--release")
    add("--schema", "--schema-path", dest="schema", type=Path, help="HELM's schema file")
    add("--auto-generate-schema", action="store_true", help="groups and names come from the cards")
    add("-n", "--num-threads", type=int, help="accepted; Spark decides")
    _tracking(parser)


def _which(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--suite")
    which.add_argument("--release")


def _board(parser: argparse.ArgumentParser) -> None:
    _which(parser)
    parser.add_argument("--format", choices=("table", "json", "csv", "md"), default="table")
    parser.add_argument("--output-file", type=Path, help="write there instead of printing")


def _serving(parser: argparse.ArgumentParser) -> None:
    _which(parser)
    parser.add_argument("-p", "--port", type=int, default=DEFAULT_PORT)
    parser.add_argument("--host", default="127.0.0.1")


def _tracking(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tracking-uri", help="MLflow's address; the platform's own by default")
    parser.add_argument("--no-tracking", action="store_true", help="log nothing to MLflow")


ALIASES: Mapping[str, tuple[str, ...]] = {"serve": ("server",)}
COMMANDS: Mapping[str, tuple[Any, ...]] = {
    "run": (commands.run, "Do all stages for run entries and print the board.", _entries, _running),
    "plan": (commands.run, "Ingest and plan, only what is missing.", _entries, _running),
    "infer": (commands.run, "Do the stages up to infer.", _entries, _running),
    "annotate": (commands.run, "Do the stages up to annotate.", _entries, _running),
    "score": (commands.run, "Do the stages up to score.", _entries, _running),
    "ingest": (commands.ingest, "Read a scenario's data into the lake.", _ingest),
    "import-responses": (
        commands.import_responses,
        "Take completions made elsewhere as a model's results.",
        _entries,
        _importing,
    ),
    "summarize": (commands.summarize, "Summarise suites, or make a release.", _summarize),
    "publish": (commands.summarize, "Make or replace a draft release.", _summarize),
    "leaderboard": (commands.leaderboard, "Print the board of a suite or release.", _board),
    "serve": (commands.serve, "Open the dashboard.", _serving),
    "scenarios": (commands.scenarios, "List the scenarios."),
    "explain-config": (commands.explain_config, "Say which file gave each named thing."),
    "fetch-model": (commands.fetch_model, "Download the small embedded model, once."),
    "demo": (commands.demo, "Run the shipped demos and print their board.", _tracking),
}
