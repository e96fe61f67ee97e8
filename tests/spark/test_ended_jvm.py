"""The JVM is killed while slots ask: one sentence, and what came is stored."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.processes import below, command_line
from tests.spark.conftest import Site, calls, questions
from tests.staged import stored

ROOT = Path(__file__).resolve().parents[2]
COUNT, DELAY, IN_FLIGHT, CHUNK = 120, 0.1, 2, 4


@pytest.mark.long
def test_a_killed_jvm_is_one_sentence_and_costs_a_chunk_of_each_slot(tmp_path: Path) -> None:
    site, log = Site(tmp_path, None), tmp_path / "calls.log"
    model = site.deploy(
        "acme/slow", text="yes", log_file=str(log), delay=DELAY, max_concurrency=IN_FLIGHT
    )
    entry = f"{site.benchmark('bench', questions(COUNT))},model={model}"
    words = ["run", "-r", entry, "--suite", "s", "-o", str(site.lake_path), "--no-tracking"]
    environ = {
        **os.environ, "PYTHONPATH": str(ROOT), "MEDHELM_SPARK_CHUNK_REQUESTS": str(CHUNK)
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "medhelm_spark.cli", *words],
        cwd=tmp_path,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    deadline = time.monotonic() + 240
    while len(stored(site.lake_path)) < CHUNK * 4:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    started = {each: command_line(each) for each in below(process.pid)}
    (jvm,) = (each for each, line in started.items() if "deploy.SparkSubmit" in line)
    os.kill(jvm, signal.SIGKILL)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 1, output
    assert "Spark's JVM has ended (killed by signal 9)" in output
    assert "Traceback" not in output
    committed = stored(site.lake_path)
    assert len(committed) >= CHUNK * 4
    command = [sys.executable, "-m", "medhelm_spark.cli", *words]
    assert subprocess.run(command, cwd=tmp_path, env=environ, check=False).returncode == 0
    call_counts = Counter(calls(log))
    assert all(call_counts[request] == 1 for request in committed)
    assert len(call_counts) == COUNT
    assert call_counts.total() <= COUNT + IN_FLIGHT + 2 * IN_FLIGHT * CHUNK
