"""What a JVM that we start prints; a shell takes its place."""

import subprocess
import time
from pathlib import Path

import pytest

from medhelm_spark.lake.jvm_log import AT_START, log_options, passed_on


def output(capfd: pytest.CaptureFixture[str], expected: str) -> str:
    """What reached standard error, once it has what is expected."""
    deadline, text = time.monotonic() + 20, ""
    while expected not in text and time.monotonic() < deadline:
        time.sleep(0.02)
        text += capfd.readouterr().err
    return text


def test_what_every_start_prints_is_left_out_and_errors_are_not(
    capfd: pytest.CaptureFixture[str],
) -> None:
    lines = [*(line.decode() for line in AT_START), "Error: bad option", "ended"]
    with passed_on() as stderr:
        script = "".join(f"echo '{line}' >&2; " for line in lines)
        subprocess.run(["sh", "-c", script + "exit 1"], stderr=stderr, check=False)
    assert output(capfd, "ended\n") == "Error: bad option\nended\n"


def test_a_process_that_outlives_its_start_is_heard(capfd: pytest.CaptureFixture[str]) -> None:
    with passed_on() as stderr:
        process = subprocess.Popen(
            ["sh", "-c", "read line; echo late >&2"], stdin=-1, stderr=stderr
        )
    process.communicate(b"\n")
    assert output(capfd, "late\n") == "late\n"


def test_the_log_file_and_its_level_are_told_to_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    file = tmp_path / "a b" / "log4j2.properties"
    assert log_options(file, "INFO", "-Xmx1g") == (
        f"-Dlog4j2.configurationFile=file://{tmp_path}/a%20b/log4j2.properties "
        "-Dmedhelm_spark.log.level=INFO"
    )


def test_a_sites_own_log_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    file = tmp_path / "ours.properties"
    assert log_options(file, "INFO", ""), "a folder without such a file does not configure the log"
    (tmp_path / "log4j2.properties").write_text("rootLogger.level = info\n")
    assert log_options(file, "INFO", "") == ""
    monkeypatch.delenv("SPARK_CONF_DIR")
    assert log_options(file, "INFO", "-Dlog4j2.configurationFile=/etc/site.properties") == ""
