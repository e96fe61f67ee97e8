"""Real vLLM on the CPU with real Spark; collected only where a CPU build of vLLM is installed."""

from importlib.util import find_spec

import pytest

from tests.spark.conftest import Site, site, spark
from tests.vllm.model import smollm2

__all__ = ["Site", "site", "spark"]

collect_ignore_glob = [] if find_spec("vllm") else ["test_*.py"]


@pytest.fixture(scope="session")
def model() -> str:
    """The folder of SmolLM2's weights."""
    return str(smollm2())
