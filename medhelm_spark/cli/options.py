"""The options of all commands, each declared once: HELM's keep their letters and defaults."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

from medhelm_spark.config.site_folder import DEFAULT_SITE, site_folder
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.run import MEDHELM_08
from medhelm_spark.errors import ConfigError
from medhelm_spark.workspace.names import check_name
from medhelm_spark.workspace.workspace import say

DEFAULT_OUTPUT = "benchmark_output"
DEFAULT_PORT = 8000
DEFAULT_HOST = "127.0.0.1"


def at_least_one(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def at_least_one_or_all(text: str) -> int | None:
    """A whole number from 1 on; None for `all`."""
    return None if text == "all" else at_least_one(text)


def suite_name(text: str) -> str:
    """The name of a suite, refused with the command line: before a download, Spark or a lake."""
    return _name("suite", text)


def release_name(text: str) -> str:
    """The name of a release, refused as a suite's is."""
    return _name("release", text)


def _site_folder(text: str) -> Path:
    try:
        folder = site_folder(text)
    except ConfigError as error:
        raise ArgumentTypeError(str(error)) from None
    if not folder.is_dir():
        say(f"site folder {text}: there is none here; what ships applies alone")
    return folder


def _name(kind: str, text: str) -> str:
    try:
        return check_name(kind, text)
    except ConfigError as error:
        raise ArgumentTypeError(str(error)) from None


def day(text: str) -> date:
    """A day as it was typed."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no day; allowed: a day as 2026-01-31") from None


def lake(parser: ArgumentParser) -> None:
    """Where the tables are."""
    parser.add_argument(
        "-o",
        "--output-path",
        default=DEFAULT_OUTPUT,
        metavar="LAKE",
        help="the lake: a folder, an object-store URI or catalog.schema (default: %(default)s)",
    )


def site(parser: ArgumentParser) -> None:
    """Where a site's own configuration is."""
    parser.add_argument(
        "--local-path",
        type=_site_folder,
        default=Path(DEFAULT_SITE),
        metavar="FOLDER",
        help="your site's configuration, read over the shipped one (default: %(default)s, where "
        "there is one)",
    )
    plugins(parser)


def offline(parser: ArgumentParser) -> None:
    """Whether to work without a network."""
    parser.add_argument(
        "--offline",
        action="store_true",
        help="set every library's offline switch, and refuse addresses that the site's files do "
        "not name; the list is printed and recorded",
    )


def plugins(parser: ArgumentParser) -> None:
    """A site's own code."""
    parser.add_argument(
        "--plugins",
        action="extend",
        nargs="+",
        default=[],
        metavar="MODULE",
        help="modules with your own parsers, metrics and so on; see docs/plugins.md",
    )


def action(parser: ArgumentParser) -> None:
    """Whether to list the cards, to check them, to fetch the data of some, or to purge one."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "check", "fetch", "purge", "purged"),
        default="list",
        help="list them, check what each card names, fetch the data of those that are named, purge "
        "the text of one from the lake, or list what was purged (default: %(default)s)",
    )
    parser.add_argument(
        "names",
        nargs="*",
        default=[],
        metavar="NAME",
        help="fetch: scenarios, as med_qa, or mmlu:subject=virology for one choice of data; purge: "
        "a scenario, as the lake names it",
    )
    parser.add_argument(
        "--agreement", metavar="NAME", help="purge: the agreement that ended, for the record"
    )
    parser.add_argument("--yes", action="store_true", help="purge: remove the text for good")
    parser.add_argument(
        "--dry-run", action="store_true", help="purge: print what would be removed, remove nothing"
    )
    parser.add_argument(
        "--all-public", action="store_true", help="fetch: the data of all public scenarios"
    )


def checking(parser: ArgumentParser) -> None:
    """Which models to ask whether they answer."""
    parser.add_argument(
        "--check",
        action="extend",
        nargs="*",
        metavar="NAME",
        help="ask these, or all that files list, one short question of public nature; a name may "
        "be one that no file lists, as ollama/llama3.1:8b",
    )


def entries(parser: ArgumentParser) -> None:
    """What to evaluate, and into which suite."""
    add = parser.add_argument_group("what to evaluate").add_argument
    add(
        "-r",
        "--run-entries",
        action="extend",
        nargs="+",
        default=[],
        metavar="ENTRY",
        help="run entries, such as pubmed_qa:model=NAME",
    )
    add(
        "-c",
        "--conf-paths",
        action="extend",
        nargs="+",
        default=[],
        type=Path,
        metavar="FILE",
        help="HOCON files of run entries",
    )
    add(
        "--suite-file",
        metavar="FILE",
        help="run entries with models, sizes, jury and primary endpoint: a path, or smoke, public, "
        "gated, private_example, robustness",
    )
    add(
        "--suite",
        type=suite_name,
        required=True,
        metavar="NAME",
        help="the suite that the runs belong to",
    )
    add(
        "--attest-locality",
        choices=tuple(map(str, Locality)),
        help="where models run that no file lists, as ollama/llama3.1:8b, or ran when they gave "
        "answers that are imported; needed for gated and private text, and recorded",
    )
    _selection(parser)
    _own_data(add)


def _own_data(add: Callable[..., object]) -> None:
    add(
        "--source",
        action="extend",
        nargs="+",
        default=[],
        metavar="PATH",
        help="the scenario's data in place of its card's: files, a folder, a zip or table:NAME; of "
        "several scenarios NAME=FILE, once for each",
    )
    add(
        "--columns",
        metavar="NAMES",
        help="what --source calls the card's columns, as context=note_text,label=outcome",
    )
    _reading(add)
    add(
        "--access-level",
        choices=tuple(level.value for level in AccessLevel),
        help="who may have the data; required with --source where the card is public "
        "(default: as the card says)",
    )


def _reading(add: Callable[..., object]) -> None:
    """How a file is read, where it does not show that by itself."""
    add("--sheet", metavar="NAME", help="the sheet of a workbook (default: the first)")
    add(
        "--sep",
        dest="separator",
        metavar="SIGN",
        help="the sign between the columns of a csv (default: what the file shows)",
    )
    add(
        "--encoding",
        metavar="NAME",
        help="of a csv, tsv or JSON, as Windows-1250 (default: what the file shows)",
    )


def new_benchmark(parser: ArgumentParser) -> None:
    """Which table or file a benchmark is made on, and the columns that count."""
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        help="the folder to make (default: named after the table or file)",
    )
    add = parser.add_argument_group("the data").add_argument
    add_data = parser.add_mutually_exclusive_group(required=True).add_argument
    add_data(
        "--table", metavar="NAME", help="a table: CATALOG.SCHEMA.NAME, or a Delta folder or URI"
    )
    add_data(
        "--file",
        metavar="FILE",
        help="a csv, tsv, JSON lines, JSON, Parquet or xlsx file, or a folder of such files",
    )
    add("--text", required=True, metavar="COLUMN", help="what the prompt shows")
    add("--label", required=True, metavar="COLUMN", help="the right answers")
    add(
        "--id",
        metavar="COLUMN",
        help="the rows' ids (default: id where there is one, else the row's number)",
    )
    add("--question", metavar="TEXT", help="what the prompt asks (default: a draft)")
    add("--positive", metavar="LABEL", help="the right answer that counts as positive")
    add("--cluster", metavar="COLUMN", help="what rows belong together by, such as the patient")
    add("--metric", metavar="NAME", help="the main metric (default: by the right answers)")
    _reading(add)


def budget(parser: ArgumentParser) -> None:
    """What a plan may cost."""
    add = parser.add_argument_group("budget").add_argument
    add(
        "--max-cost",
        type=float,
        metavar="X",
        help="refuse a plan that may cost more, in the currency of the deployments' prices",
    )
    add(
        "--max-gpu-hours", type=float, metavar="H", help="refuse a plan that may need more GPU time"
    )


def _instances(add: Callable[..., object]) -> None:
    add(
        "-m",
        "--max-eval-instances",
        type=int,
        metavar="N",
        help="evaluate at most N instances where an entry sets no number (default: all)",
    )
    add(
        "--sampling",
        metavar="RULE",
        help="which instances, where an entry sets none: hash, source, medhelm, or a YAML file "
        "(default: the scenario's own, else hash)",
    )
    add(
        "-t",
        "--num-train-trials",
        type=int,
        metavar="N",
        help="repeat with N draws of few-shot examples where an entry sets no number (default: 1)",
    )


def _selection(parser: ArgumentParser) -> None:
    add = parser.add_argument_group("which part of it").add_argument
    _instances(add)
    add(
        "--by",
        action="extend",
        nargs="+",
        default=[],
        metavar="COLUMN",
        help="also report results by these columns of the data, as sex,age_band; the source is "
        "read again, no model is asked",
    )
    add(
        "--models-to-run",
        action="extend",
        nargs="+",
        default=[],
        metavar="MODEL",
        help="run entries that name no model with each of these, and leave out other models",
    )
    add(
        "--groups-to-run",
        action="extend",
        nargs="+",
        default=[],
        metavar="GROUP",
        help="leave out entries that are in none of these groups",
    )
    add(
        "--priority",
        type=int,
        metavar="N",
        help="leave out entries of a priority above N; 1 is the most urgent",
    )


def running(parser: ArgumentParser) -> None:
    """How the stages go about it."""
    add = parser.add_argument_group("how").add_argument
    add(
        "-d",
        "--dry-run",
        action="store_true",
        help="say what would run, whether the policy allows it and what is missing; write and "
        "send nothing",
    )
    add(
        "-n",
        "--num-threads",
        type=at_least_one,
        metavar="N",
        help="requests open at once to a model's server, judges aside "
        "(default: the deployment's max_concurrency)",
    )
    add(
        "--compat",
        choices=(MEDHELM_08,),
        help="ask and read as MedHELM 0.8 does: its token limits and stop sequences, answers "
        "compared as they are, few-shot examples dropped from prompts that exceed the "
        "deployment's window and what is still too long cut at its end",
    )
    add(
        "--skip-completed-runs",
        action="store_true",
        help="leave runs alone that the suite has summarised with every answer there",
    )
    add(
        "--strict",
        action="store_true",
        help="end at once where a scenario's data cannot be had, in place of leaving it out",
    )
    add(
        "--retry-failed",
        action="store_true",
        help="also ask requests again whose failure is their own: too long, refused, denied; what "
        "infrastructure caused is asked again by itself",
    )
    add(
        "--ask-again",
        metavar="DAY",
        nargs="?",
        const=datetime.now(UTC).date().isoformat(),
        help="ask anew what has an answer, as for weights that changed behind a name: from then on "
        "answers of that day (default: today) count in this suite, and earlier answers stay stored",
    )
    add("--model", metavar="NAME", help="ask again this model or deployment alone")


def tracking(parser: ArgumentParser) -> None:
    """What is logged to MLflow."""
    add = parser.add_argument_group("MLflow").add_argument
    add(
        "--tracking-uri",
        metavar="URI",
        help="MLflow's address "
        "(default: the settings', mlflow.db in a local lake, or the cluster's)",
    )
    add("--no-tracking", action="store_true", help="log nothing to MLflow")


def ingesting(parser: ArgumentParser) -> None:
    """Whose data to read, and from where."""
    add = parser.add_argument
    add(
        "--scenario",
        required=True,
        metavar="NAME",
        help="the scenario; `medhelm-spark scenarios` lists them",
    )
    _own_data(add)


def levels(parser: ArgumentParser) -> None:
    """What to do with a level, of which data, and why."""
    add = parser.add_argument
    add(
        "action",
        choices=("lower", "list"),
        help="lower: record a lower level. list: show all that were recorded, and who approves",
    )
    add("--scenario", metavar="NAME", help="lower: the scenario, as the lake names it")
    add(
        "--to",
        choices=tuple(level.value for level in AccessLevel),
        help="lower: the lower level",
    )
    add("--reason", metavar="TEXT", help="lower: why, in a sentence without patient data")


def summarizing(parser: ArgumentParser) -> None:
    """Which suites, and what to show."""
    add = parser.add_mutually_exclusive_group().add_argument
    add("--suite", type=suite_name, metavar="NAME", help="the suite to summarise")
    add(
        "--suites",
        type=suite_name,
        action="extend",
        nargs="+",
        default=[],
        metavar="NAME",
        help="several suites; a run that is in two counts as the later suite's",
    )
    groups = parser.add_mutually_exclusive_group()
    schema(groups.add_argument)
    groups.add_argument(
        "--auto-generate-schema",
        action="store_true",
        help="show every group, with names and directions from the cards, as without a schema",
    )


def naming_release(parser: ArgumentParser) -> None:
    """Which release."""
    parser.add_argument(
        "--release",
        type=release_name,
        metavar="NAME",
        help="a release's name: with suites their numbers are pinned as a draft",
    )


def schema(add: Callable[..., object]) -> None:
    """HELM's file of what to show."""
    add(
        "--schema",
        "--schema-path",
        dest="schema",
        type=Path,
        metavar="FILE",
        help="HELM's schema file: it is checked, and says which runs are shown, by which metric, "
        "split, names and direction",
    )
