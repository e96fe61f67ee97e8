"""What commands print: boards on standard output or in a file, the rest on standard error."""

import json
import os
import sys
from argparse import Namespace
from pathlib import Path

from medhelm_spark.domain.names import printable
from medhelm_spark.errors import ConfigError
from medhelm_spark.render.html_page import TABLES_STYLE, html_page
from medhelm_spark.render.result import Result
from medhelm_spark.render.workbook import workbook
from medhelm_spark.whole_files import write_whole
from medhelm_spark.workspace.workspace import say

HTML = "html"
"""The form that is a part of a page, as a notebook shows it; a command writes the page."""

WORKBOOK = "xlsx"
"""The form that is no text."""


def write_result(result: Result, args: Namespace) -> None:
    """Print a result in the form that was typed, or write it to the file that was named.

    Raises:
        ConfigError: a workbook has no file.
    """
    if args.format != WORKBOOK:
        text = result.render(args.format)
        if args.format == HTML:
            text = html_page(f"medhelm-spark {args.name}", TABLES_STYLE, text)
        write_out(text, args.output_file, command=args.name)
        return
    if args.output_file is None:
        raise ConfigError(f"--format {WORKBOOK} is a file; name it by --output-file.")
    _write(args.output_file, workbook(json.loads(result.render("json"))), args.name)


def write_out(text: str, path: Path | None = None, *, command: str = "leaderboard") -> None:
    """Print, or write to a file and print its name as the command of that name."""
    if path is None:
        printed = printable(text) if sys.stdout.isatty() else text
        sys.stdout.write(printed if printed.endswith("\n") else printed + "\n")
        sys.stdout.flush()
        return
    _write(path, text, command)


def write_by_screens(text: str) -> None:
    """Print to a terminal by its pager (PAGER, else less); at once where it fits the screen."""
    if sys.platform == "win32":  # there the pager would read it from a file
        write_out(text)
        return
    from pydoc import pager  # it takes a fiftieth of a second to import

    os.environ.setdefault("LESS", "FRX")
    os.environ.setdefault("LESSHISTFILE", "-")  # what is searched for may be a name
    pager(printable(text))


def _write(path: Path, content: str | bytes, command: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
    say(f"{command}: wrote {path}")
