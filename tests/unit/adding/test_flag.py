"""A flag is an option function and its name in the `COMMANDS` of those that take it."""

from argparse import ArgumentParser
from dataclasses import replace

import pytest

from medhelm_spark.cli.parser import COMMANDS, parse


def top(parser: ArgumentParser) -> None:
    parser.add_argument("--top", type=int, metavar="N", help="show the best N models only")


def test_a_flag_is_read_and_stands_in_the_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = COMMANDS["leaderboard"]
    added = replace(command, options=(*command.options, top))
    monkeypatch.setitem(COMMANDS, "leaderboard", added)  # type: ignore[misc]
    args = parse(["leaderboard", "--suite", "s", "--top", "3"])
    assert (args.top, args.command) == (3, command.function)
    assert parse(["leaderboard"]).top is None
    with pytest.raises(SystemExit):
        parse(["leaderboard", "--help"])
    assert "show the best N models only" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(SystemExit):
        parse(["serve", "--top", "3"])
