"""Real vLLM on the CPU with real Spark; collected only where a CPU build of vLLM is installed."""

import os
import time
import uuid
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.spark.conftest import Site, site, spark
from tests.vllm.model import smollm2

__all__ = ["Site", "site", "spark"]

collect_ignore_glob = [] if find_spec("vllm") else ["test_*.py"]


@pytest.fixture(scope="session")
def model() -> str:
    """The folder of SmolLM2's weights."""
    return str(smollm2())


# Every process that these tests start inherits it, whoever its parent is when one is left behind.
MARK = "MEDHELM_SPARK_TEST_RUN"
os.environ[MARK] = uuid.uuid4().hex


def engine_pids() -> set[int]:
    """The processes of these tests, but this one, that have vLLM's native code loaded."""
    found, mark = set(), f"{MARK}={os.environ[MARK]}".encode()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            ours = mark in maps.with_name("environ").read_bytes()
            if ours and "/vllm/_C" in maps.read_text():
                found.add(int(maps.parent.name))
        except OSError:
            continue  # it has ended meanwhile, or belongs to somebody else
    return found - {os.getpid()}


def wait_until_gone(pids: set[int], seconds: float = 30.0) -> set[int]:
    """Those of these processes that still live after so many seconds."""
    deadline = time.monotonic() + seconds
    while pids & engine_pids() and time.monotonic() < deadline:
        time.sleep(0.2)
    return pids & engine_pids()
