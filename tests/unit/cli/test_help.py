"""Every command's page: each option explained, each example a line that works."""

import argparse
import shlex

import pytest

from medhelm_spark.cli.parser import ALIASES, COMMANDS, EXAMPLES, PROG, build_parser, parse

PLACES = {
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
    shown = page(name, capsys)
    assert shown.startswith(f"usage: {PROG}")
    assert "None" not in shown
    assert "%(" not in shown


def test_the_first_page_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    shown = page("", capsys)
    for name, command in COMMANDS.items():
        assert f"    {name}" in shown
        assert command.about.split()[0] in shown
    assert "serve (server)" in shown
    assert all(f"{PROG} {example}" in shown for example in EXAMPLES)


def test_the_page_of_run_names_a_flags_value_once(capsys: pytest.CaptureFixture[str]) -> None:
    shown = page("run", capsys)
    assert "-r, --run-entries ENTRY [ENTRY ...]\n" in shown
    assert "-m, --max-eval-instances N " in shown
    assert "-o, --output-path LAKE " in shown
    assert "(default: benchmark_output)" in " ".join(shown.split())


@pytest.mark.parametrize(
    "example", [*EXAMPLES, *(line for one in COMMANDS.values() for line in one.examples)]
)
def test_every_example_is_a_command_line(example: str) -> None:
    args = parse(shlex.split(example))
    assert args.name == example.split()[0]


@pytest.mark.parametrize("flag", PLACES)
def test_a_command_offers_only_what_it_uses(flag: str) -> None:
    aliases = {alias for names in ALIASES.values() for alias in names}
    offered = {name for name, made in pages().items() if flag in made._option_string_actions}
    assert offered - aliases == PLACES[flag]
