"""The first page of the command line: every command in its group, and what a mistyped one is."""

from collections.abc import Iterable
from difflib import get_close_matches
from enum import StrEnum


class Group(StrEnum):
    """What a person wants to do, in the order of the first page."""

    BEGIN = "begin"
    RUN = "run"
    READ = "read"
    DECIDE = "decide"
    HAND_ON = "hand on"
    LAKE = "lake"
    STAGES = "stages"


def grouped(commands: Iterable[tuple[Group, str, str]]) -> str:
    """The first page's lines of all commands.

    Args:
        commands: group, name and line of each, in the order in which a group lists them.
    """
    listed = list(commands)
    width = max(len(name) for _, name, _ in listed) + 2
    return "\n\n".join(
        "\n".join([f"{group}:", *(f"  {n:{width}}{line}" for g, n, line in listed if g is group)])
        for group in Group
    )


def unknown_command(name: str, known: Iterable[str]) -> str:
    """What the command line prints in answer to a command that does not exist.

    >>> unknown_command("leaderbord", ["leaderboard", "run"])
    "unknown command 'leaderbord'. Did you mean 'leaderboard'?"
    """
    close = get_close_matches(name, list(known), n=1, cutoff=0.5)
    hint = f"Did you mean {close[0]!r}?" if close else "`medhelm-spark` lists the commands."
    return f"unknown command {name!r}. {hint}"
