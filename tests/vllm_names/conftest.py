"""The sources of the oldest and the newest vLLM; collected only where `make` has fetched them."""

import os
from pathlib import Path

import pytest

from medhelm_spark.engines.vllm_names import NEWEST, OLDEST
from tests.vllm_names.source import Source

FOLDER = os.environ.get("MEDHELM_SPARK_VLLM_SOURCES", "")

collect_ignore_glob = [] if FOLDER else ["test_*.py"]


def source_of(version: tuple[int, int]) -> Source:
    (folder,) = Path(FOLDER).glob(f"{version[0]}.{version[1]}.*")
    return Source(folder / "vllm")


@pytest.fixture(scope="session", params=[OLDEST, NEWEST], ids=["oldest", "newest"])
def source(request) -> Source:
    """Each of the two versions."""
    return source_of(request.param)


@pytest.fixture(scope="session")
def oldest() -> Source:
    return source_of(OLDEST)


@pytest.fixture(scope="session")
def newest() -> Source:
    return source_of(NEWEST)
