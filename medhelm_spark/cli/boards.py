"""Boards on the command line: read through the lake's reader, printed or written."""

import sys
from pathlib import Path

from medhelm_spark.cli.workspace import Workspace, say
from medhelm_spark.leaderboard import load_board
from medhelm_spark.render.board import render
from medhelm_spark.statistics.board import Leaderboard


def load(
    workspace: Workspace, *, suite: str | None = None, release: str | None = None
) -> Leaderboard:
    """The board of a suite or a release."""
    floor = workspace.registry.policy.comparison.coverage_floor
    return load_board(workspace.reader, suite=suite, release=release, coverage_floor=floor)


def print_board(
    workspace: Workspace, *, suite: str | None = None, release: str | None = None
) -> None:
    """The board as a table on standard output."""
    write_board(load(workspace, suite=suite, release=release), "table", None)


def write_board(board: Leaderboard, format_name: str, path: Path | None) -> None:
    """Print a board in one of the formats, or write it to a file."""
    write_text(render(board, format_name), path)


def write_text(text: str, path: Path | None) -> None:
    """Print, or write to a file and say so."""
    if path is None:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    say(f"leaderboard: wrote {path}")
