"""Every command's page: each option explained, each example a line that works."""

import argparse
import shlex

import pytest

from medhelm_spark.cli.first_page import Group
from medhelm_spark.cli.parser import ALIASES, COMMANDS, EXAMPLES, PROG, build_parser, parse

COMMANDS_BY_FLAG = {
    "--output-path": {*COMMANDS} - {"fetch-model", "explain-config"},
    "--local-path": {*COMMANDS} - {"fetch-model"},
    "--no-tracking": {
        "run",
        "import-responses",
        "import-helm",
        "summarize",
        "publish",
        "release",
        "demo",
        "doctor",
    },
}


def pages() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, aliases included."""
    (commands,) = (
        action
        for action in build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    return dict(commands.choices)


def page(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as left:
        parse([*name.split(), "--help"])
    assert left.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", pages())
def test_every_option_says_what_it_does(name: str) -> None:
    silent = [action.option_strings for action in pages()[name]._actions if not action.help]
    assert not silent


@pytest.mark.parametrize("name", pages())
def test_every_default_that_is_set_is_told(name: str) -> None:
    for action in pages()[name]._actions:
        if action.default not in (None, False, [], argparse.SUPPRESS):
            assert "%(default)s" in str(action.help), action.option_strings


@pytest.mark.parametrize("name", ["", *pages()])
def test_every_page_can_be_read(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = page(name, capsys)
    assert text.startswith(f"usage: {PROG}")
    assert "None" not in text
    assert "%(" not in text


def test_the_first_page_has_every_command_in_its_group(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert {command.group for command in COMMANDS.values()} == set(Group)
    with pytest.raises(SystemExit) as left:
        parse([])
    assert left.value.code == 0, "no command at all is a question"
    text = capsys.readouterr().out
    assert text == page("", capsys)
    assert all(f"\n{group}:\n" in text for group in Group)
    assert all(f"\n  {name} " in text for name in COMMANDS)
    assert all(f"{PROG} {example}" in text for example in EXAMPLES)
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("leaderbord", "Did you mean 'leaderboard'?"),
        ("import_helm", "Did you mean 'import-helm'?"),
        ("xyzzy", "`medhelm-spark` lists the commands."),
    ],
)
def test_a_mistyped_command_gets_a_suggestion(
    typed: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        parse([typed, "--suite", "s"])
    assert left.value.code == 2
    assert capsys.readouterr().err == f"medhelm-spark: unknown command {typed!r}. {answer}\n"


def test_the_page_of_run_names_a_flags_value_once(capsys: pytest.CaptureFixture[str]) -> None:
    text = page("run", capsys)
    assert "-r, --run-entries ENTRY [ENTRY ...]\n" in text
    assert "-m, --max-eval-instances N " in text
    assert "-o, --output-path LAKE " in text
    assert "(default: benchmark_output)" in " ".join(text.split())


@pytest.mark.parametrize(
    "example", [*EXAMPLES, *(line for one in COMMANDS.values() for line in one.examples)]
)
def test_every_example_is_a_command_line(example: str) -> None:
    args = parse(shlex.split(example))
    assert args.name == example.split()[0]


@pytest.mark.parametrize("flag", COMMANDS_BY_FLAG)
def test_a_command_offers_only_what_it_uses(flag: str) -> None:
    aliases = {alias for names in ALIASES.values() for alias in names}
    offered = {name for name, made in pages().items() if flag in made._option_string_actions}
    assert offered - aliases == COMMANDS_BY_FLAG[flag]
