"""Who holds a slot, with real processes that take it, work, die and are ended."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from medhelm_spark.engines.engine_lock import Claim, claim
from medhelm_spark.errors import EngineError

ROOT = Path(__file__).resolve().parents[3]
HOLD = """
import os, sys, time
from pathlib import Path
from medhelm_spark.engines.engine_lock import claim
folder, owner, state, *names = sys.argv[1:]
lock = claim([names], owner, Path(folder))
if state == "forked":
    if os.fork() == 0:
        time.sleep(1.5)
        os._exit(0)
if state != "busy":
    lock.rest()
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture
def start(tmp_path):
    """Starts a process that takes slots: `start(state, *names, owner=...)`."""
    started = []

    def begin(state, *names, owner="app"):
        command = [sys.executable, "-c", HOLD, str(tmp_path), owner, state, *names]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        started.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield begin
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def take(tmp_path, *choices, seconds=0.3):
    return claim(choices, "app", tmp_path, seconds=seconds)


def test_a_free_slot_is_taken_and_names_its_holder(tmp_path):
    lock = take(tmp_path, ["gpu-0"])
    assert (tmp_path / "gpu-0.alive").read_text() == f"{os.getpid()} app"
    assert not Claim(["gpu-0"], "app", tmp_path).take(evict=True)
    lock.close()
    take(tmp_path, ["gpu-0"]).close()


def test_an_idle_holder_of_the_same_owner_is_ended(tmp_path, start):
    process = start("idle", "gpu-0")
    lock = take(tmp_path, ["gpu-0"])
    assert process.wait(5) == -signal.SIGKILL
    assert (tmp_path / "gpu-0.alive").read_text() == f"{os.getpid()} app"
    lock.close()


def test_a_busy_holder_is_one_clear_sentence_and_lives_on(tmp_path, start):
    process = start("busy", "gpu-0")
    with pytest.raises(EngineError, match=r"busy on every slot \(gpu-0\).*setting `slots`"):
        take(tmp_path, ["gpu-0"])
    assert process.poll() is None


def test_an_idle_engine_of_somebody_else_is_left_alone(tmp_path, start):
    process = start("idle", "gpu-0", owner="other")
    with pytest.raises(EngineError, match="busy on every slot"):
        take(tmp_path, ["gpu-0"])
    assert process.poll() is None


def test_a_killed_holder_frees_its_slot_by_itself(tmp_path, start):
    process = start("busy", "gpu-0", owner="other")
    process.kill()
    process.wait()
    take(tmp_path, ["gpu-0"]).close()


def test_the_wait_lasts_until_all_that_the_holder_forked_is_gone(tmp_path, start):
    start("forked", "gpu-0")
    started = time.monotonic()
    take(tmp_path, ["gpu-0"]).close()
    assert time.monotonic() - started > 0.5


def test_a_free_group_comes_before_an_idle_one(tmp_path, start):
    process = start("idle", "gpu-0")
    lock = take(tmp_path, ["gpu-0"], ["gpu-1"])
    assert lock.names == ("gpu-1",)
    assert process.poll() is None
    lock.close()


def test_a_pair_ends_the_idle_holder_of_one_of_its_gpus(tmp_path, start):
    process = start("idle", "gpu-1")
    lock = take(tmp_path, ["gpu-0", "gpu-1"])
    assert process.wait(5) == -signal.SIGKILL
    lock.close()


def test_a_pair_with_one_busy_gpu_takes_neither(tmp_path, start):
    start("busy", "gpu-1")
    with pytest.raises(EngineError, match=r"gpu-0\+gpu-1"):
        take(tmp_path, ["gpu-0", "gpu-1"])
    take(tmp_path, ["gpu-0"]).close()


def test_a_pair_with_one_foreign_gpu_takes_neither(tmp_path, start):
    start("idle", "gpu-1", owner="other")
    with pytest.raises(EngineError):
        take(tmp_path, ["gpu-0", "gpu-1"])
    take(tmp_path, ["gpu-0"]).close()


def test_who_works_cannot_be_ended_and_who_rests_can(tmp_path):
    lock = take(tmp_path, ["gpu-0"])
    lock.rest()
    with lock.at_work():
        assert not Claim(["gpu-0"], "app", tmp_path).take(evict=True)
    other = Claim(["gpu-0"], "else", tmp_path)
    assert not other.take(evict=True), "another application's engine is left alone"
    with lock.at_work():
        pass
    lock.close()
    lock.close()
