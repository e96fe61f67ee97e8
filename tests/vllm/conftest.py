"""Real vLLM on the CPU with real Spark; collected only where a CPU build of vLLM is installed."""

import time
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


def engine_pids() -> set[int]:
    """Every process but this one that has vLLM's native code loaded: engines and their workers."""
    found = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        try:
            if "/vllm/_C" in maps.read_text() and maps.parent != Path("/proc/self").resolve():
                found.add(int(maps.parent.name))
        except OSError:
            continue  # it has ended meanwhile, or belongs to somebody else
    return found


def wait_until_gone(pids: set[int], seconds: float = 30.0) -> set[int]:
    """Those of these processes that still live after so many seconds."""
    deadline = time.monotonic() + seconds
    while pids & engine_pids() and time.monotonic() < deadline:
        time.sleep(0.2)
    return pids & engine_pids()
