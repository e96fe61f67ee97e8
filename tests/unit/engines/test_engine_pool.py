"""Exclusive engines of one process and of two: swapped, shared, ended, refused."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from medhelm_spark.engines import canned, engine_pool, slots
from medhelm_spark.engines.engine import EngineFactory
from medhelm_spark.engines.engine_pool import close_engines, engine_for
from medhelm_spark.engines.worker import this_executor
from medhelm_spark.errors import EngineError, SetupError
from tests.unit.engines.nouns import allow, deployment, request

ROOT = Path(__file__).resolve().parents[3]
OTHER = """
import sys, time
from functools import partial
from medhelm_spark.engines import canned, engine_pool
from medhelm_spark.engines.engine import EngineFactory
from tests.unit.engines.nouns import allow, deployment, request
big = EngineFactory(build=canned.build, check=canned.check, exclusive=True)
engine_pool.factory_of = lambda deployment: big
engine_pool.claim = partial(engine_pool.claim, seconds=0.5)
engine = engine_pool.engine_for(deployment("canned", text="other"))
answers = engine.answer([request("a"), request("b")], allow)
next(answers)
if sys.argv[1] == "idle":
    list(answers)
print("ready", flush=True)
time.sleep(60)
"""


class Big(canned.CannedEngine):
    """An engine that shows whether it was closed."""

    closed = False

    def close(self):
        self.closed = True


@pytest.fixture
def built(monkeypatch, tmp_path):
    """The engines that were built, with locks in a folder of this test."""
    made = []

    def build(target, limit):
        made.append(Big(canned.read_settings(canned.CannedSettings, target)))
        return made[-1]

    factory = EngineFactory(
        build=build, check=canned.check, exclusive=True, gpus=lambda target: gpus[0]
    )
    gpus = [0]
    monkeypatch.setattr(engine_pool, "factory_of", lambda target: factory)
    monkeypatch.setattr(engine_pool, "claim", partial(engine_pool.claim, seconds=0.3))
    monkeypatch.setattr(slots, "_bound", None)
    monkeypatch.setattr(slots, "listed_gpus", lambda: "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    monkeypatch.setenv(slots.VISIBLE, "")
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    close_engines()
    yield made, gpus
    close_engines()


@pytest.fixture
def other(tmp_path):
    """Another Python worker of the same executor: `other("idle")` or `other("busy")`."""
    started = []

    def start(state):
        process = subprocess.Popen(
            [sys.executable, "-c", OTHER, state],
            env={**os.environ, "SPARK_LOCAL_DIRS": str(tmp_path), "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def text(engine):
    (found,) = engine.answer([request("Hi")], allow)
    return found.completions[0].text


def test_another_configuration_closes_the_first_engine(built):
    made, _ = built
    first = engine_for(deployment("canned", text="A"))
    assert text(first) == "A"
    assert text(engine_for(deployment("canned", text="B"))) == "B"
    assert [one.closed for one in made] == [True, False]
    assert text(engine_for(deployment("canned", text="A"))) == "A"
    assert len(made) == 3


@pytest.mark.parametrize("own_process", [False, True])
def test_a_later_task_with_another_model_needs_a_fresh_worker_unless_the_engine_is_a_process(
    built, monkeypatch, own_process
):
    made, _ = built
    ended = []
    monkeypatch.setattr(Big, "own_process", own_process, raising=False)
    monkeypatch.setattr(engine_pool, "end_process", ended.append)
    monkeypatch.setattr(engine_pool, "_task", lambda: 1)
    engine_for(deployment("canned", text="A"))
    engine_for(deployment("canned", text="B"))
    assert not ended, "one task may change its model"
    monkeypatch.setattr(engine_pool, "_task", lambda: 2)
    assert text(engine_for(deployment("canned", text="C"))) == "C"
    assert len(ended) == (not own_process)
    assert [one.closed for one in made] == [True, True, False]


def test_what_does_not_change_the_engine_does_not_load_it_again(built):
    made, _ = built
    target = deployment("canned", text="A")
    first = engine_for(target)
    assert engine_for(replace(target, max_concurrency=3, tokens_per_second=9.0)) is first
    assert engine_for(target, max_in_flight=2) is first
    assert engine_for(replace(target, name="test/judge")) is first, "a judge may be the same model"
    assert len(made) == 1


def test_an_idle_engine_of_another_worker_is_ended(built, other):
    process = other("idle")
    assert text(engine_for(deployment("canned", text="A"))) == "A"
    assert process.wait(5) == -signal.SIGKILL


def test_a_busy_engine_of_another_worker_is_a_sentence(built, other):
    process = other("busy")
    with pytest.raises(EngineError, match="another process was busy on every slot"):
        engine_for(deployment("canned", text="A"))
    assert process.poll() is None
    assert built[0] == []


def test_a_kept_engine_is_safe_only_while_it_answers(built, other):
    own = engine_for(deployment("canned", text="A"))
    answers = own.answer([request("a", name="a"), request("b", name="b")], allow)
    next(answers)
    with pytest.raises(AssertionError):
        other("idle")
    assert len(list(answers)) == 1


def test_gpus_are_bound_before_the_engine_is_built(built, monkeypatch):
    made, gpus = built
    gpus[0] = 2
    monkeypatch.setenv(slots.VISIBLE, "4,5,6,7")
    engine_for(deployment("canned", text="A"))
    assert (os.environ[slots.VISIBLE], slots.bound()) == ("4,5", ("4", "5"))
    gpus[0] = 1
    assert text(engine_for(deployment("canned", text="B"))) == "B", "one of two is enough"
    gpus[0] = 4
    with pytest.raises(SetupError, match=r"needs 4 GPUs, but this machine shows 2"):
        engine_for(deployment("canned", text="C"))
    assert len(made) == 2


def test_no_gpu_is_a_sentence_with_the_deployment(built):
    built[1][0] = None
    with pytest.raises(SetupError, match="'test/model' needs 1 GPU, but this machine shows none"):
        engine_for(deployment("canned"))


def test_the_first_result_of_a_started_engine_tells_how_long_it_took(built):
    engine = engine_for(deployment("canned", text="one"))
    first, second = engine.answer([request("a"), request("b")], allow)
    (third,) = engine_for(deployment("canned", text="one")).answer([request("c")], allow)
    assert first.engine_start > 0
    assert (second.engine_start, third.engine_start) == (None, None)
    assert first.executor == second.executor == this_executor()
