"""vLLM in Spark's Python workers: one engine per slot, and none where nobody answers any more."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import Request, RequestResult
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.rows import map_rows, rows_of
from medhelm_spark.stages.infer.asking import AskEngines
from medhelm_spark.stages.infer.rounds import AskInTurn
from tests.spark.conftest import Site
from tests.vllm.nouns import Recipients, lines, questions, small
from tests.vllm.processes import engine_pids, is_alive, wait_until_gone

COUNT = 24


def run(spark, fn, requests, partitions=1) -> list[RequestResult]:
    frame = Lake(spark, "none").frame(requests, type(requests[0])).repartition(partitions)
    return rows_of(map_rows(frame, fn, type(requests[0]), RequestResult), RequestResult)


def while_answering(log: Path, count: int, act: Callable[[int], None]) -> threading.Thread:
    """Acts on the engine's process once so many answers have come."""

    def wait() -> None:
        while len(lines(log)) < count:
            time.sleep(0.05)
        act(int(lines(log)[-1][0]))

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def idle(rows):
    time.sleep(1)
    yield from ()


@dataclass(frozen=True, slots=True)
class InTurn:
    """Two tasks on two workers: the second asks once the first has been idle for a while."""

    ask: Recipients
    done: str

    def __call__(self, requests: Iterable[Request]) -> Iterator[RequestResult]:
        second = TaskContext.get().partitionId() == 1
        while second and not Path(self.done).exists():
            time.sleep(0.1)
        if second:
            time.sleep(2)
        yield from self.ask(requests)
        Path(self.done).touch()


def test_a_worker_that_needs_the_slot_ends_the_idle_engine_of_another(spark, model, tmp_path):
    log = tmp_path / "log"
    ask = InTurn(Recipients(small(model), str(log)), str(tmp_path / "done"))
    found = run(spark, ask, questions(8), partitions=2)
    assert sorted(one.request_id for one in found) == [f"q{n}" for n in range(8)]
    first, second = dict.fromkeys(int(pid) for pid, _, _ in lines(log))
    assert engine_pids() == {second}
    assert not is_alive(first)


def test_later_jobs_find_the_engine_or_end_it(spark, model, tmp_path):
    log = tmp_path / "log"
    run(spark, idle, questions(2), partitions=2)
    for n in range(3):
        found = run(spark, Recipients(small(model), str(log)), questions(4))
        assert len(found) == 4
        assert len(engine_pids()) == 1, f"after job {n}"
    workers = [pid for pid, _, _ in lines(log)][::4]
    loads = {(pid, engine) for pid, engine, _ in lines(log)}
    changes = sum(a != b for a, b in pairwise(workers))
    assert len(loads) == 1 + changes, "an engine is kept as long as its worker gets the tasks"


def test_model_then_judge_in_one_task_share_the_slot(spark, model):
    model_requests = questions(3, model_deployment="acme/model")
    judge_requests = questions(3, model_deployment="acme/judge")
    deployments = {
        "acme/model": small(model, name="acme/model"),
        "acme/judge": small(model, name="acme/judge", max_model_len=256),
    }
    policy = Policy(allowed=((AccessLevel.PUBLIC, (Locality.LOCAL,)),), version="1")
    found = run(
        spark, AskInTurn(AskEngines(deployments, policy)), [*model_requests, *judge_requests]
    )
    assert [one.is_answer for one in found] == [True] * 6
    assert len({one.engine_fingerprint for one in found}) == 2
    assert len(engine_pids()) == 1


def test_a_worker_killed_while_it_asks_costs_time_only(spark, model, tmp_path):
    log = tmp_path / "log"
    killer = while_answering(log, 5, lambda pid: os.kill(pid, signal.SIGKILL))
    found = run(spark, Recipients(small(model), str(log)), questions(COUNT, max_tokens=32))
    killer.join(1)
    assert sorted(one.request_id for one in found) == sorted(f"q{n}" for n in range(COUNT))
    assert all(one.is_answer for one in found)
    assert len({pid for pid, _, _ in lines(log)}) == 2, "the first worker was killed"
    assert len(engine_pids()) == 1


def test_a_vllm_that_dies_while_it_computes_costs_time_only(spark, model, tmp_path):
    """One of vLLM's own three processes gets SIGKILL: the next step raises in the Python worker."""
    log = tmp_path / "log"
    before = engine_pids()

    def kill_a_part(worker: int) -> None:
        os.kill(max(engine_pids() - before - {worker}), signal.SIGKILL)

    killer = while_answering(log, 2, kill_a_part)
    bound = {"VLLM_CPU_OMP_THREADS_BIND": "0|1|1"}
    three = small(model, tensor_parallel_size=3, env=bound)
    found = run(spark, Recipients(three, str(log)), questions(8, max_tokens=24))
    killer.join(1)
    assert sorted(one.request_id for one in found) == sorted(f"q{n}" for n in range(8))
    assert all(one.is_answer for one in found)
    assert len({pid for pid, _, _ in lines(log)}) == 2, "the worker ended with its engine"
    assert len(engine_pids() - before) == 3, "nothing is left of the first engine"


def test_a_cancelled_job_leaves_no_engine(spark, model, tmp_path):
    log = tmp_path / "log"
    context = spark.sparkContext

    def job():
        context.setJobGroup("doomed", "a job to cancel", interruptOnCancel=True)
        with pytest.raises(Exception, match="cancel"):
            run(spark, Recipients(small(model), str(log)), questions(200, max_tokens=64))

    thread = threading.Thread(target=job)
    thread.start()
    while_answering(log, 3, lambda _: context.cancelJobGroup("doomed")).join(300)
    thread.join(60)
    assert not thread.is_alive()
    assert not wait_until_gone(engine_pids())
    assert len(lines(log)) < 200


def test_a_run_from_the_command_line_ends_with_a_board(site: Site, model: str) -> None:
    name = site.deploy("acme/smollm2", engine="vllm", **small(model).args)
    rows = [
        {"id": f"q{n}", "question": f"Is {n} a number?", "correct_answer": "yes"} for n in range(8)
    ]
    entry = f"{site.benchmark('bench', rows, max_tokens=1)},model={name}"
    assert site.run("-r", entry) == 0
    results = site.rows("request_results")
    assert len(results) == 8
    assert {one["completions"][0]["finish_reason"] for one in results} == {"length"}
    assert all('"engine":"vllm"' in one["engine_fingerprint"] for one in results)
    (cell,) = site.board()
    assert (cell["count"], cell["num_unscored"]) == (8, 0)
    assert site.run("-r", entry) == 0
    assert len(site.rows("request_results")) == 8, "a second run asks nothing"


def test_a_stopped_session_leaves_no_engine(spark: SparkSession) -> None:
    engines = engine_pids()
    assert engines, "the engine of the test before is still loaded"
    spark.stop()
    assert not wait_until_gone(engines)
