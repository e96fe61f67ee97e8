"""Drivers that die or meet, workers that die: nothing committed is asked twice, nothing is lost."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from medhelm_spark.domain.request import RequestResult
from medhelm_spark.lake.lease import lease, this_holder
from medhelm_spark.lake.lease_store import lease_store
from medhelm_spark.lake.rows import rows_of
from medhelm_spark.lake.views import CURRENT_RESULTS
from tests.spark.conftest import Site, calls, questions
from tests.spark.model_server import ModelServer

ROOT = Path(__file__).resolve().parents[2]
COUNT = 40
SLOW = {"delay": 0.25, "max_concurrency": 1, "tokens_per_second": 10}


def driver(site: Site, entry: str) -> "subprocess.Popen[str]":
    """`medhelm-spark run` in a process group of its own, with a commit each second."""
    command = [
        sys.executable, "-m", "medhelm_spark.cli", "run", "-r", entry, "--suite", "s",
        "-o", str(site.lake_path), "--local-path", str(site.folder / "prod_env"), "--no-tracking",
    ]  # fmt: skip
    return subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT), "MEDHELM_SPARK_COMMIT_SECONDS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_calls(log: Path, count: int) -> None:
    for _ in range(1200):
        if len(calls(log)) >= count:
            return
        time.sleep(0.1)
    raise AssertionError(f"only {len(calls(log))} calls were made")


def current(site: Site) -> list[RequestResult]:
    return rows_of(site.lake.query(CURRENT_RESULTS), RequestResult)


@pytest.mark.core
@pytest.mark.long
def test_a_second_driver_refuses_and_a_killed_one_costs_a_chunk_at_most(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "calls.log"
    model = site.deploy("acme/slow", text="yes", log_file=str(log), **SLOW)
    entry = f"{site.benchmark('bench', questions(COUNT), max_tokens=40)},model={model}"
    process = driver(site, entry)
    wait_for_calls(log, 1)
    assert site.run("-r", entry) == 1
    (message,) = [line for line in capsys.readouterr().err.splitlines() if "medhelm-spark:" in line]
    assert str(process.pid) in message
    wait_for_calls(log, COUNT // 2)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    committed = {row["request_id"] for row in site.rows("request_results")}
    assert 0 < len(committed) < COUNT
    assert site.run("-r", entry) == 0, "the dead driver's lease does not block its host"
    call_counts = Counter(calls(log))
    assert all(call_counts[request] == 1 for request in committed)
    assert max(call_counts.values()) <= 2, "the refused driver asked nothing"
    assert call_counts.total() <= COUNT + SLOW["max_concurrency"] + 64, (
        "a chunk and what was in flight"
    )
    assert set(call_counts) == {row.request_id for row in current(site)}
    assert len(current(site)) == COUNT
    (cell,) = site.board()
    assert (cell["count"], cell["num_unscored"]) == (COUNT, 0)


@pytest.mark.core
def test_a_worker_that_dies_while_it_asks_is_tried_again(site: Site, tmp_path: Path) -> None:
    log, marker = tmp_path / "calls.log", tmp_path / "died"
    fault = {"die_after": 5, "die_marker": str(marker), "max_concurrency": 1}
    model = site.deploy("acme/mortal", text="yes", log_file=str(log), **fault)
    entry = site.benchmark("bench", questions(12))
    assert site.run("-r", f"{entry},model={model}") == 0
    assert marker.exists()
    assert len(current(site)) == 12
    (cell,) = site.board()
    assert (cell["mean"], cell["count"]) == (1.0, 12)


def test_deployments_with_streams_of_their_own_may_have_different_numbers_of_slots(
    site: Site,
) -> None:
    """A server that takes one request at a time has one slot, beside an engine with all cores."""
    server = ModelServer()
    server.start()
    one = site.deploy(
        "acme/one",
        engine="openai",
        base_url=f"http://127.0.0.1:{server.port}/v1",
        max_concurrency=1,
    )
    many = site.deploy("acme/many", text="yes")
    entry = site.benchmark("bench", questions(30))
    try:
        assert site.run("-r", entry, "--models-to-run", one, many) == 0
    finally:
        server.stop()
    assert {cell["count"] for cell in site.board()} == {30}
    assert len(site.board()) == 2
    assert server.answered.total() == 30


def test_a_lease_is_taken_released_and_taken_again(site: Site) -> None:
    for _ in range(2):
        with lease(site.lake, "s", ["a", "b"], this_holder()):
            with lease(site.lake, "s", ["c"], this_holder()):
                pass
            with lease(site.lake, "other", ["a"], this_holder()):
                pass
    _, newest = lease_store(site.lake).newest("s")
    assert newest.keys() == {"a", "b", "c"}
    assert {lease.expires_at - lease.claimed_at for lease in newest.values()} == {timedelta(0)}
