"""The engine whose vLLM computes in a process of its own, as on a GPU, here on the CPU."""

import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from medhelm_spark.domain.request import FailureKind
from medhelm_spark.engines import build_engine
from medhelm_spark.errors import EngineError
from tests.spark.conftest import Site, questions as rows
from tests.unit.engines.nouns import allow
from tests.vllm.nouns import SMALL, Recipients, lines, questions, small
from tests.vllm.processes import engine_pids, wait_until_gone
from tests.vllm.test_workers import run, while_answering

ENGINE_SCRIPT = """
import sys
from medhelm_spark.engines import build_engine
from tests.unit.engines.nouns import allow
from tests.vllm.nouns import questions, small
engine = build_engine(small(sys.argv[1], own_process=True))
answers = engine.answer(questions(200, max_tokens=64), allow)
next(answers)
print("answering", flush=True)
list(answers)
"""


@pytest.fixture(scope="module")
def engine(model):
    built = build_engine(small(model, own_process=True))
    yield built
    built.close()


def test_it_answers_and_refuses_as_in_one_process(engine):
    long = questions(1, max_tokens=8)[0]
    prompts = [*questions(6, max_tokens=8)]
    found = {one.request_id: one for one in engine.answer(prompts, allow)}
    assert sorted(found) == [f"q{n}" for n in range(6)]
    assert all(one.is_answer for one in found.values())
    assert all(0 < one.completion_tokens <= 8 for one in found.values())
    turns = (replace(long.messages[0], content="word " * 2000),)
    (refused,) = engine.answer([replace(long, messages=turns)], allow)
    assert refused.failure is FailureKind.TOO_LONG


def test_the_weights_are_in_one_other_process_and_leave_with_it(model):
    before = engine_pids()
    built = build_engine(small(model, own_process=True))
    children = engine_pids() - before
    assert len(children) == 1
    built.close()
    assert not wait_until_gone(children, 1.0), "closed means ended"
    with pytest.raises(EngineError, match="was closed"):
        next(built.answer(questions(1), allow))


def test_the_reason_why_it_does_not_start_is_that_of_the_child(model):
    with pytest.raises(EngineError, match=r"did not start: ValueError: .*cache"):
        build_engine(small(model, own_process=True, kv_cache_memory_bytes=1 << 10))


def test_it_ends_with_a_process_that_is_killed_while_it_asks(model):
    before = engine_pids()
    command = [sys.executable, "-c", ENGINE_SCRIPT, model]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "answering\n"
        children = engine_pids() - before
        assert children
        process.kill()
    assert not wait_until_gone(children, 10.0)


def test_a_spark_worker_whose_vllm_is_killed_costs_time_only(spark, model, tmp_path):
    log = tmp_path / "log"
    before = engine_pids()

    def kill_vllm(_: int) -> None:
        os.kill(max(engine_pids() - before), signal.SIGKILL)

    killer = while_answering(log, 3, kill_vllm)
    deployment = small(model, own_process=True)
    found = run(spark, Recipients(deployment, str(log)), questions(24, max_tokens=32))
    killer.join(1)
    assert sorted(one.request_id for one in found) == sorted(f"q{n}" for n in range(24))
    assert all(one.is_answer for one in found)
    assert len({pid for pid, _, _ in lines(log)}) == 2, "the worker ended with its engine"
    assert len(engine_pids() - before) == 1


def test_a_change_of_model_ends_no_spark_worker(site: Site, model: str) -> None:
    settings = {**SMALL, "model": model, "own_process": True}
    site.deploy("acme/a", engine="vllm", **settings)
    site.deploy("acme/b", engine="vllm", **{**settings, "max_num_seqs": 2})
    for name in ("acme/a", "acme/b"):
        entry = site.benchmark("bench", rows(4), max_tokens=4)
        assert site.run("-r", f"{entry},model={name}") == 0
    results = site.rows("request_results")
    assert len(results) == 8
    assert all(row["failure"] is None for row in results)
