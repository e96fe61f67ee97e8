"""A worker, an executor and a driver that are killed on a standalone cluster; two drivers at once.

Drivers give themselves the name of another host, for on its own host a dead one is seen at once.
The job lasts many leases, so that an answer that is there once shows that leases are renewed.
"""

import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.cluster.conftest import Cluster, own_lines
from tests.cluster.standalone import Standalone
from tests.cluster.test_submit import check_complete, executors, stored_requests, wait_for
from tests.installed import ROOT
from tests.processes import below, command_line
from tests.spark.conftest import calls, questions

COUNT = 40
DELAY = 1.0
SLOTS = 2
SLOW = {"delay": DELAY, "max_concurrency": SLOTS, "tokens_per_second": 5}
SHORT_LEASE = f"""
import runpy

from medhelm_spark.lake import lease

lease.TIMES = lease.LeaseTimes(lifetime=4.0, heartbeat=1.0, watched=2.0)
runpy.run_path({str(ROOT / "jobs" / "evaluate.py")!r}, run_name="__main__")
"""
"""The job of a driver whose leases have a short life."""

ELSEWHERE = ("unshare", "--uts", "sh", "-c", 'hostname localhost && exec "$@"', "sh")
"""Starts a driver on a host of another name, one that resolves."""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """What the engine was asked, by request; outside what workers do not see."""
    return tmp_path / "calls.log"


@pytest.fixture
def entry(apart: Cluster, workers: Standalone, log: Path) -> str:
    """Forty requests of a second for two workers, and leases of four seconds."""
    apart.evaluation = apart.site.folder / "short_lease.py"
    apart.evaluation.write_text(SHORT_LEASE)
    model = apart.site.deploy("acme/slow", text="yes", log_file=str(log), **SLOW)
    bench = apart.site.benchmark("bench", questions(COUNT), max_tokens=40)
    workers.start(SLOTS, cores=2)
    apart.master = workers.url
    return f"{bench},model={model}"


def wait_for_answers(cluster: Cluster, log: Path) -> tuple[set[str], Counter[str]]:
    """Wait until the lake has some of the answers; returns these, and the calls so far."""

    def is_open() -> bool:
        return 0 < len(stored_requests(cluster)) <= len(calls(log)) - 2 * SLOTS

    wait_for("answers that are kept and others to come", is_open)
    return stored_requests(cluster), Counter(calls(log))


def check_paid(log: Path, before: set[str], earlier_calls: Counter[str]) -> None:
    """Nothing that was kept is asked again, and only what was in flight is asked twice."""
    after = Counter(calls(log))
    assert all(after[request] == 1 for request in before)
    assert max(after.values()) <= 2
    repeated = {request for request, count in after.items() if count > 1}
    unexpected = repeated - set(earlier_calls)
    assert len(unexpected) <= SLOTS, f"{len(unexpected)} were asked by what was killed"


@pytest.mark.parametrize("killed", ["worker", "executor"])
def test_what_is_killed_costs_what_it_was_asking(
    apart: Cluster, workers: Standalone, entry: str, log: Path, killed: str
) -> None:
    process = apart.submit(entry)
    before, earlier_calls = wait_for_answers(apart, log)
    worker = workers.processes[-1].pid
    of_worker = executors(worker)
    (pid,) = [worker] if killed == "worker" else of_worker
    os.kill(pid, signal.SIGKILL)
    # An executor asks on until it sees that its worker is gone.
    wait_for("end of its executor", lambda: not any(map(command_line, of_worker)), 60)
    earlier_calls |= Counter(calls(log))
    apart.output_of(process)
    check_complete(apart)
    check_paid(log, before, earlier_calls)


def test_a_killed_driver_is_followed_from_another_host(
    apart: Cluster, workers: Standalone, entry: str, log: Path
) -> None:
    apart.host = ELSEWHERE
    process = apart.submit(entry)
    before, earlier_calls = wait_for_answers(apart, log)
    started = [one for worker in workers.processes for one in below(worker.pid)]
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    wait_for("end of its executors", lambda: not any(map(command_line, started)), 60)
    count = len(calls(log))
    time.sleep(3 * DELAY)
    assert len(calls(log)) == count, "nobody asks for a dead driver"
    apart.host = ()
    output = apart.run(entry)
    assert "to see that localhost:" in output, "another host's driver is watched first"
    check_complete(apart)
    check_paid(log, before, earlier_calls)


def test_of_two_drivers_at_once_one_asks(
    apart: Cluster, workers: Standalone, entry: str, log: Path
) -> None:
    apart.conf |= {"spark.cores.max": str(SLOTS), "spark.executor.cores": "1"}
    first = apart.submit(entry)
    apart.host = ELSEWHERE
    second = apart.submit(entry)
    outputs = [process.communicate(timeout=500)[0] for process in (first, second)]
    both = "\n".join(map(own_lines, outputs))
    assert sorted(process.returncode for process in (first, second)) == [0, 1], both
    assert "is asking 'acme/slow' for suite 's'" in outputs[first.returncode == 0], both
    check_complete(apart)
    assert set(Counter(calls(log)).values()) == {1}
