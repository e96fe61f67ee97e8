"""The command that goes on, and the page that explains exit codes."""

import pytest

from medhelm_spark.cli import exit_codes
from medhelm_spark.cli.exit_codes import RETRY, again
from medhelm_spark.cli.parser import parse


def test_the_command_is_the_one_that_was_typed() -> None:
    typed = ["run", "-r", "bench:x=a b,model=m", "--suite", "s"]
    assert again(typed) == "medhelm-spark run -r 'bench:x=a b,model=m' --suite s"
    assert again([*typed, "--skip-completed-runs"]) == again(typed)
    assert again(typed, RETRY) == again([*typed, RETRY], RETRY) == f"{again(typed)} {RETRY}"


def test_the_first_page_tells_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--help"])
    page = capsys.readouterr().out
    codes = [value for value in vars(exit_codes).values() if isinstance(value, int)]
    assert sorted(codes) == [1, 3, 4, 5, 6, 7, 8, 9, 130, 143]
    assert all(f"\n  {code} " in page for code in codes)
