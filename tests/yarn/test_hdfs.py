"""A lake in HDFS, from commands of this machine: same numbers, leases, upkeep."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.lakes import stats
from tests.spark.conftest import Site, calls, questions
from tests.yarn.hdfs import Hdfs

pytestmark = pytest.mark.timeout(1200)
SECONDS = 600.0
COUNT = 40


def start(site: Site, *words: str | Path, **variables: str) -> "subprocess.Popen[str]":
    """`medhelm-spark ...` in a process of its own, both streams as one."""
    command = [sys.executable, "-m", "medhelm_spark.cli", *map(str, words)]
    return subprocess.Popen(
        command,
        env={**os.environ, **variables},
        cwd=site.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(site: Site, *words: str | Path, ends: int = 0) -> str:
    """Run a command to its end; returns its output."""
    process = start(site, *words)
    output, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == ends, output[-4000:]
    return output


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, None)  # type: ignore[arg-type]  # nothing here starts a session


def test_the_demo_gives_the_stats_of_a_folder_and_the_lake_is_kept_in_order(
    site: Site, hdfs: Hdfs
) -> None:
    lake = f"{hdfs.address}/demo"
    output = run(site, "demo", "-o", lake, "--no-tracking")
    assert "60 model calls" in output and "TRIAGE-CHOICE" in output, "the board, which Spark reads"
    run(site, "demo", "-o", "lake", "--no-tracking")
    assert stats(hdfs.copied(lake, site.folder / "copy")) == stats(site.folder / "lake")
    assert "0 model calls" in run(site, "demo", "-o", lake, "--no-tracking")
    board = run(site, "leaderboard", "--suite", "demo", "-o", lake)
    assert "0.417" in board
    assert "create, read, delete" in run(site, "doctor", "-o", lake, "--no-tracking")
    run(site, "gc", "-o", lake)
    assert "optimize: " in run(site, "optimize", "-o", lake)
    assert run(site, "leaderboard", "--suite", "demo", "-o", lake) == board


def test_a_second_driver_for_the_same_is_refused(site: Site, hdfs: Hdfs) -> None:
    log, lake = site.folder / "calls.log", f"{hdfs.address}/two"
    slow = {"delay": 2.0, "max_concurrency": 1}
    model = site.deploy("acme/slow", text="yes", log_file=str(log), **slow)
    entry = f"{site.benchmark('bench', questions(COUNT))},model={model}"
    words = ("run", "-r", entry, "--suite", "s", "-o", lake, "--no-tracking")
    first = start(site, *words, MEDHELM_SPARK_CHUNK_REQUESTS="4")
    while not log.exists():
        assert first.poll() is None, first.communicate()[0][-4000:]
        time.sleep(0.2)
    assert "another driver" in run(site, *words, ends=1)
    output, _ = first.communicate(timeout=SECONDS)
    assert first.returncode == 0, output[-4000:]
    assert len(calls(log)) == COUNT
    assert "0 model calls" in run(site, *words)
