"""The whole job by spark-submit on two executor JVMs; executors and drivers that die."""

import os
import re
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from medhelm_spark.lake.views import CURRENT_RESULTS
from tests.cluster.conftest import Cluster, own_lines
from tests.processes import below, command_line
from tests.spark.conftest import calls, questions
from tests.staged import stored

COUNT = 40
SPARKS = re.compile(r"\d\d/\d\d/\d\d \d\d:")
"""How a line of Spark's log begins."""
SLOW = {"delay": 0.25, "max_concurrency": 2, "tokens_per_second": 5}


def slow_entry(cluster: Cluster, log: Path) -> str:
    """Forty requests of a quarter second, in chunks of four."""
    model = cluster.site.deploy("acme/slow", text="yes", log_file=str(log), **SLOW)
    bench = cluster.site.benchmark("bench", questions(COUNT), max_tokens=40)
    return f"{bench},model={model}"


def wait_for(what: str, met: Callable[[], bool], seconds: float = 240.0) -> None:
    deadline = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < deadline, f"no {what} in {seconds:.0f} s"
        time.sleep(0.1)


def executors(pid: int) -> list[int]:
    return [one for one in below(pid) if "CoarseGrainedExecutorBackend" in command_line(one)]


def check_complete(cluster: Cluster) -> None:
    current = cluster.query(CURRENT_RESULTS)
    assert len(current) == len({row["request_id"] for row in current}) == COUNT
    assert all(row["failure"] is None for row in current)
    (cell,) = cluster.cells()
    assert (cell.mean, cell.count, cell.num_unscored) == (1.0, COUNT, 0)


def stored_requests(cluster: Cluster) -> set[str]:
    return stored(Path(cluster.lake))


def test_the_whole_job_on_two_executors(cluster: Cluster, tmp_path: Path) -> None:
    log = tmp_path / "calls.log"
    model = cluster.site.deploy("acme/yes", text="yes", log_file=str(log))
    answers = questions(COUNT, lambda n: "yes" if n % 4 else "no")
    entry = f"{cluster.site.benchmark('bench', answers)},model={model}"
    output = cluster.run(entry)
    assert f"{COUNT} model calls" in output
    lines = [line for line in output.splitlines() if SPARKS.match(line)]
    assert not [line for line in lines if " INFO " in line], "of Spark's log, warnings at most"
    (cell,) = cluster.cells()
    assert (cell.mean, cell.count) == (0.75, COUNT)
    names = {row["executor"] for row in cluster.query("SELECT executor FROM {request_results}")}
    assert len(names) == 2, "both executors asked"
    assert "0 model calls" in cluster.run(entry)
    assert len(calls(log)) == COUNT


def test_the_doctor_looks_at_both_executors(cluster: Cluster, tmp_path: Path) -> None:
    weights = tmp_path / "weights"
    process = cluster.submit_job("doctor", "--engine", "vllm", "--paths", str(weights))
    output, _ = process.communicate(timeout=500)
    assert process.returncode == 1, own_lines(output)
    lines = [line.split(maxsplit=2) for line in output.splitlines()]
    found = [line for line in lines if line and line[0] in ("ok", "wrong", "warning")]
    assert ["ok", "lake", f"{cluster.lake}: create, read, delete"] in found
    (executors,) = (what for _, check, what in found if check == "executors")
    assert executors.startswith("executors: 2 took a task")
    wrong = Counter(check for state, check, _ in found if state == "wrong")
    assert wrong == {"gpu": 2, "vllm": 2, "paths": 3}, "weights are missing on the driver too"
    assert not cluster.site.lake_path.exists(), "nothing is left"


def test_a_killed_executor_costs_its_own_tasks_only(cluster: Cluster, tmp_path: Path) -> None:
    log = tmp_path / "calls.log"
    process = cluster.submit(slow_entry(cluster, log))
    wait_for(
        "answers that are kept and others to come",
        lambda: 0 < len(stored_requests(cluster)) < len(calls(log)),
    )
    before = stored_requests(cluster)
    os.kill(executors(process.pid)[0], signal.SIGKILL)
    output, _ = process.communicate(timeout=500)
    assert process.returncode == 0, own_lines(output)
    check_complete(cluster)
    call_counts = Counter(calls(log))
    assert all(call_counts[request] == 1 for request in before)


def test_a_killed_driver_costs_what_was_asked(cluster: Cluster, tmp_path: Path) -> None:
    log = tmp_path / "calls.log"
    entry = slow_entry(cluster, log)
    process = cluster.submit(entry)
    wait_for(
        "answers that are kept and others to come",
        lambda: 0 < len(stored_requests(cluster)) < len(calls(log)),
    )
    started = below(process.pid)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    wait_for("end of its executors", lambda: not any(map(command_line, started)), 60)
    before = stored_requests(cluster)
    assert 0 < len(before) < COUNT
    cluster.run(entry)
    check_complete(cluster)
    call_counts = Counter(calls(log))
    assert all(call_counts[request] == 1 for request in before)


def test_two_drivers_at_once_leave_one_result_each(cluster: Cluster, tmp_path: Path) -> None:
    """Suites of their own have leases of their own: both ask, the current view has each once."""
    log = tmp_path / "calls.log"
    entry = slow_entry(cluster, log)
    both = [cluster.submit(entry), cluster.submit(entry, "--suite", "other")]
    for process in both:
        output, _ = process.communicate(timeout=500)
        assert process.returncode == 0, own_lines(output)
    check_complete(cluster)
