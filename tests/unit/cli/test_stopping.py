"""SIGTERM and Ctrl-C in this very process, on a command that waits for them."""

import os
import signal
import time
from argparse import Namespace
from collections.abc import Callable

import pytest

from medhelm_spark import cli
from medhelm_spark.errors import Interrupted, LakeError, is_interrupt

TYPED = ["run", "-r", "a:b=c d", "--suite", "s"]


pytestmark = pytest.mark.usefixtures("as_in_a_terminal")


def wait_for(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)
    time.sleep(5)
    raise AssertionError("the signal did not come")


def exit_code_of(
    number: signal.Signals, on_the_way: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> int:
    """What `main` returns for a command that is stopped and then does something on its way out."""

    def command(_: Namespace) -> int:
        try:
            wait_for(number)
        finally:
            on_the_way()
        return 0

    monkeypatch.setattr(cli, "parse", lambda typed: Namespace(command=command))
    return cli.main(TYPED)


def nothing() -> None:
    return


@pytest.mark.parametrize(
    ("number", "code", "cause"),
    [(signal.SIGTERM, 143, "stopped by SIGTERM"), (signal.SIGINT, 130, "interrupted")],
)
def test_a_signal_ends_a_command_with_its_own_code_and_the_command_that_goes_on(
    number: signal.Signals,
    code: int,
    cause: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert exit_code_of(number, nothing, monkeypatch) == code
    goes_on = "To go on: medhelm-spark run -r 'a:b=c d' --suite s"
    line = f"medhelm-spark: {cause}; what was committed is kept. {goes_on}\n"
    assert capsys.readouterr().err == line
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("error", [LakeError("no lease"), RuntimeError("Job 3 cancelled")])
def test_what_is_raised_on_the_way_out_hides_no_interrupt(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    assert exit_code_of(signal.SIGTERM, fail, monkeypatch) == 143
    assert str(error) not in capsys.readouterr().err


def test_what_infer_kept_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def report() -> None:
        raise Interrupted("infer: 12 of 40 requests are kept")

    assert exit_code_of(signal.SIGTERM, report, monkeypatch) == 143
    assert "; infer: 12 of 40 requests are kept. To go on" in capsys.readouterr().err


def test_another_error_is_no_interrupt() -> None:
    assert not is_interrupt(ValueError("x"))
    assert is_interrupt(KeyboardInterrupt())
