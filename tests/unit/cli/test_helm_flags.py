"""HELM's flags without meaning here: told in one line, and nothing else of the line is lost."""

import pytest

from medhelm_spark.cli.parser import parse
from medhelm_spark.helm.flags import MANY, REPLACED

ENTRY = "pubmed_qa:model=openai/gpt-4o"
VALUED = [flag for flag, (_, values) in REPLACED.items() if values]


def told(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"medhelm-spark: {flag} has no meaning here: {REPLACED[flag][0]}."


def rest_is_kept(*words: str) -> None:
    args = parse(["run", *words, "--suite", "s", "-r", ENTRY])
    assert (args.suite, args.run_entries) == ("s", [ENTRY])


@pytest.mark.parametrize("flag", REPLACED)
def test_what_replaces_it_is_said(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    rest_is_kept(*([flag, "value"] if flag in VALUED else [flag]))
    told(flag, capsys)


@pytest.mark.parametrize("flag", REPLACED)
def test_its_value_may_follow_an_equals_sign(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    rest_is_kept(f"{flag}=value")
    told(flag, capsys)


@pytest.mark.parametrize("flag", REPLACED)
@pytest.mark.parametrize("given", ["", "="])
def test_a_flag_that_follows_is_no_value(
    flag: str, given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rest_is_kept(f"{flag}{given}")
    told(flag, capsys)


@pytest.mark.parametrize("flag", REPLACED)
def test_the_last_word_of_a_line(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert parse(["run", "--suite", "s", "-r", ENTRY, flag]).run_entries == [ENTRY]
    told(flag, capsys)


def test_several_in_a_row_are_all_told(capsys: pytest.CaptureFixture[str]) -> None:
    rest_is_kept("--mongo-uri", "--exit-on-error", "--batch-size", "8")
    assert len(capsys.readouterr().err.splitlines()) == 3


@pytest.mark.parametrize("flag", [flag for flag in VALUED if REPLACED[flag][1] == MANY])
def test_a_list_is_taken_as_a_whole(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    rest_is_kept(flag, "one", "two", "three")
    told(flag, capsys)


def test_one_value_is_one_word() -> None:
    with pytest.raises(SystemExit):
        parse(["run", "--mongo-uri", "mongodb://h/db", "stray", "--suite", "s", "-r", ENTRY])
