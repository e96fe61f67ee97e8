"""Ctrl-C and a cluster's stop, on a real process whose engine is slow."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from medhelm_spark.cli.exit_codes import INTERRUPTED, TERMINATED
from tests.spark.conftest import Site, calls, questions

COUNT = 40
SLOW = {"delay": 0.6, "max_concurrency": 2, "tokens_per_second": 5}
KEPT = re.compile(
    r"medhelm-spark: (?P<cause>[\w ]+); infer: (?P<kept>\d+) of (?P<total>\d+) requests are kept; "
    r"the same command asks the others\. "
    r"To go on: medhelm-spark run -r .* --suite s .*"
)


def start(site: Site, entry: str) -> "subprocess.Popen[str]":
    """A process group of its own, as a terminal makes one."""
    words = ["run", "-r", entry, "--suite", "s", "-o", str(site.lake_path), "--no-tracking"]
    return subprocess.Popen(
        [sys.executable, "-m", "medhelm_spark.cli", *words],
        cwd=site.folder,
        env={**os.environ, "MEDHELM_SPARK_COMMIT_SECONDS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def committed(site: Site) -> list[str]:
    if not (site.lake_path / "request_results" / "_delta_log").is_dir():
        return []
    return [row["request_id"] for row in site.rows("request_results")]


def stopped_while_asking(
    site: Site, log: Path, process: "subprocess.Popen[str]", number: int, *, whole_group: bool
) -> str:
    """Send the signal once more answers are committed and others asked; returns the output."""
    before, num_calls = len(committed(site)), len(calls(log))
    deadline = time.monotonic() + 240
    while (added := len(committed(site)) - before) == 0 or len(calls(log)) - num_calls < added + 2:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    (os.killpg if whole_group else os.kill)(process.pid, number)
    output, _ = process.communicate(timeout=120)
    return output


@pytest.mark.long
@pytest.mark.usefixtures("as_in_a_terminal")
def test_a_stopped_run_says_what_is_kept_and_goes_on_from_there(tmp_path: Path) -> None:
    site, log = Site(tmp_path, None), tmp_path / "calls.log"
    model = site.deploy("acme/slow", text="yes", log_file=str(log), **SLOW)
    entry = f"{site.benchmark('bench', questions(COUNT), max_tokens=40)},model={model}"
    stops: list[tuple[set[str], int]] = []
    ways = ((signal.SIGTERM, TERMINATED, False), (signal.SIGINT, INTERRUPTED, True))
    for number, code, whole_group in ways:
        before, process = committed(site), start(site, entry)
        output = stopped_while_asking(site, log, process, number, whole_group=whole_group)
        assert process.returncode == code, output
        last = output.strip().splitlines()[-1]
        match = KEPT.fullmatch(last)
        assert match, output
        assert match["cause"] == ("stopped by SIGTERM" if code == TERMINATED else "interrupted")
        assert int(match["total"]) == COUNT - len(before)
        assert int(match["kept"]) == len(committed(site)) - len(before) > 0
        assert "Traceback" not in output and "\tat " not in output and "Exception" not in output, (
            output
        )
        newest = max(path for path in (site.lake_path / "_leases").rglob("*") if path.is_file())
        ends = [lease["expires_at"] for lease in json.loads(newest.read_text())]
        assert ends and max(map(datetime.fromisoformat, ends)) <= datetime.now(UTC), "given back"
        stops.append((set(committed(site)), len(calls(log))))
    process = start(site, entry)
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    assert len(committed(site)) == len(set(committed(site))) == COUNT
    for stored, num_calls in stops:
        assert stored.isdisjoint(calls(log)[num_calls:]), "what was kept is not paid for again"
