"""What runs in vLLM's own processes, in processes of these tests."""

import multiprocessing
import os
import subprocess
import sys
import time

import pytest

from medhelm_spark.engines import vllm_child

PARENT = """
import multiprocessing, sys, time
from medhelm_spark.engines import vllm_child

def work():
    vllm_child.attach()
    print(multiprocessing.current_process().pid, flush=True)
    time.sleep(600)

if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=work)
    child.start()
    child.join()
"""
CHILD = """
import logging, multiprocessing, sys
from medhelm_spark.engines import vllm_child

def work():
    logger = logging.getLogger("vllm.v1.engine.core")
    logging.getLogger("vllm").addHandler(logging.StreamHandler(sys.stderr))
    vllm_child.attach()
    logging.getLogger("vllm.logging_utils.dump_input").error("options: SECRET")
    try:
        raise ValueError("a reason with SECRET\\nand more")
    except ValueError:
        logger.exception("EngineCore failed.")
        raise

if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=work)
    child.start()
    child.join()
"""


def program(folder, text):
    path = folder / "program.py"
    path.write_text(text)
    return [sys.executable, str(path)]


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_process_ends_with_a_parent_that_is_killed(tmp_path):
    command = program(tmp_path, PARENT)
    env = {**os.environ, vllm_child.OWNER: "0"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as parent:
        child = int(parent.stdout.readline())
        assert is_alive(child)
        parent.kill()
    deadline = time.monotonic() + 20
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not is_alive(child)


def logged_by_a_child(folder):
    env = {**os.environ, vllm_child.FOLDER: str(folder), vllm_child.OWNER: "0"}
    done = subprocess.run(
        program(folder, CHILD), capture_output=True, text=True, check=True, env=env
    )
    return done.stderr


def test_an_error_of_a_running_engine_is_logged_without_its_text(tmp_path):
    assert logged_by_a_child(tmp_path) == "EngineCore failed.\n"


def test_an_engine_that_does_not_start_writes_why(tmp_path):
    reasons = tmp_path / vllm_child.REASONS
    reasons.touch()
    assert "ValueError: a reason" in logged_by_a_child(tmp_path)
    assert reasons.read_text() == "ValueError: a reason with SECRET\n"


@pytest.mark.parametrize("who", ["the first process", "the engine's own", "one of another's"])
def test_only_processes_that_an_engine_of_ours_started_are_attached(monkeypatch, who):
    parent = None if who == "the first process" else object()
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: parent)
    monkeypatch.setattr(vllm_child, "silence", lambda: pytest.fail("attached"))
    monkeypatch.setattr(vllm_child.threading, "Thread", lambda **_: pytest.fail("attached"))
    monkeypatch.setenv(vllm_child.OWNER, str(os.getpid()) if who == "the engine's own" else "0")
    if who == "one of another's":
        monkeypatch.delenv(vllm_child.OWNER)
    vllm_child.attach()


def test_a_reason_is_one_line_of_a_bounded_length():
    assert vllm_child.reason_of(RuntimeError()) == "RuntimeError: no reason given"
    assert vllm_child.reason_of(OSError("x" * 999)) == f"OSError: {'x' * 300}"


def test_vllm_finds_the_plug_in_that_the_package_declares():
    assert vllm_child.is_available()
