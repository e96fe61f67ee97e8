"""The options of the commands that take in what was made elsewhere."""

from argparse import ArgumentParser
from collections.abc import Callable

from medhelm_spark.cli.options import suite_name
from medhelm_spark.domain.access import AccessLevel


def scenario(parser: ArgumentParser) -> None:
    """Which scenario of MedHELM's, from which installation or file."""
    add = parser.add_argument_group("the scenario").add_argument
    _medhelm(add)
    add(
        "--file",
        metavar="FILE",
        help="an export made elsewhere (docs/importing.md says how), in place of --from-medhelm",
    )
    add(
        "--name",
        dest="called",
        metavar="NAME",
        help="what run entries call it (default: MedHELM's name)",
    )
    add(
        "--access-level",
        choices=tuple(level.value for level in AccessLevel),
        help="who may have the data; required with --file where our card is public "
        "(default: as our own card of it says, else private)",
    )


def _medhelm(add: Callable[..., object]) -> None:
    add(
        "--from-medhelm",
        metavar="NAME",
        help="MedHELM's name of the scenario, as in its run entries",
    )
    add(
        "--args",
        action="extend",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="the arguments that its run entry has, model and expanders aside",
    )
    add(
        "--medhelm-python",
        metavar="PATH",
        help="the python of an environment that has medhelm 0.8.0",
    )
    add(
        "--medhelm-output",
        default="benchmark_output",
        metavar="FOLDER",
        help="MedHELM's own output folder, where it keeps its downloads (default: %(default)s)",
    )


def helm_results(parser: ArgumentParser) -> None:
    """Where the results are, and who may have them."""
    add = parser.add_argument
    add(
        "path",
        metavar="PATH",
        help="HELM's output folder (with runs/ and releases/), or one suite or run of it",
    )
    add(
        "--suite",
        type=suite_name,
        required=True,
        metavar="NAME",
        help="the suite that the runs belong to",
    )
    add(
        "--access-level",
        choices=tuple(level.value for level in AccessLevel),
        help="who may have the text; never looser than our card of the scenario "
        "(default: as the card says, else private)",
    )
    add(
        "--rescore",
        action="store_true",
        help="also score the stored answers here, as runs of their own named RUN@rescored",
    )


def helm_export(parser: ArgumentParser) -> None:
    """Which suite, where to, and whose text."""
    add = parser.add_argument
    add("path", metavar="PATH", help="the output folder for HELM; runs/SUITE is made below it")
    add("--suite", type=suite_name, required=True, metavar="NAME", help="the suite to write")
    add(
        "--text-levels",
        action="extend",
        nargs="+",
        choices=tuple(level.value for level in AccessLevel),
        default=[],
        metavar="LEVEL",
        help="levels whose text is written too; other text is redacted (default: public)",
    )


def responses(parser: ArgumentParser) -> None:
    """Where the answers are."""
    add = parser.add_argument_group("the answers").add_argument
    add(
        "--file",
        required=True,
        metavar="FILE",
        help="records with source_id or instance_id, completion, and trial where there are "
        "several: csv, tsv, JSON lines, JSON, Parquet, xlsx or table:NAME",
    )
    add(
        "--fields",
        metavar="NAMES",
        help="what the file calls them, as source_id='Row Number',completion='LLM Answer', or "
        "where in a column they are, as completion=response.choices.0.message.content",
    )
    add(
        "--attest-prompt",
        metavar="NOTE",
        help="states that the answers are to the prompt which the run entry gives here, and "
        "how you know it, without patient data; recorded and shown with your name",
    )
