"""The script that cron starts: what it prints, how often it tries, how it ends."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.deployed import DEPLOY

SCRIPT = DEPLOY / "cron" / "release_watch.sh"
PROGRAM = """#!/bin/sh
echo "$@" >> called
set -- $(cat codes)
code=$1
shift
echo "$@" > codes
echo "the look's table"
exit "$code"
"""


def run(folder: Path, codes: str, **more: str) -> "subprocess.CompletedProcess[str]":
    program = folder / "medhelm-spark"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    (folder / "codes").write_text(codes)
    environ = {**os.environ, "RELEASE": "r1", "FOLDER": str(folder), "PAUSE": "0", **more}
    environ["MEDHELM_SPARK"] = str(program)
    return subprocess.run(
        ["sh", str(SCRIPT)], env=environ, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [("8", "something moved"), ("9", "do not decide yet"), ("1", "exit code 1")],
)
def test_it_ends_as_the_look_does_and_prints_what_it_found(
    tmp_path: Path, code: str, message: str
) -> None:
    done = run(tmp_path, code)
    assert done.returncode == int(code)
    assert message in done.stdout
    assert "the look's table" in done.stdout


def test_it_is_silent_where_nothing_moved(tmp_path: Path) -> None:
    done = run(tmp_path, "0", MARGIN="0.05", SAMPLE="7")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    called = (tmp_path / "called").read_text().split()
    assert called == ["release", "watch", "r1", "--sample", "7", "--margin", "0.05"]


def test_a_model_that_gives_no_answers_is_tried_again(tmp_path: Path) -> None:
    assert run(tmp_path, "4 4 0").returncode == 0
    assert len((tmp_path / "called").read_text().splitlines()) == 3
    done = run(tmp_path, "4 4 4 0", TRIES="2")
    assert done.returncode == 4
    assert "gives no answers, after 2 tries" in done.stdout


def test_it_wants_the_name_of_a_release(tmp_path: Path) -> None:
    done = run(tmp_path, "0", RELEASE="")
    assert done.returncode != 0
    assert "the name of the release" in done.stderr
