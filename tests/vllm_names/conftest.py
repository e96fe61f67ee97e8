"""The sources of the oldest and the newest vLLM; collected only where `make` has fetched them."""

import os
from pathlib import Path

import pytest

from tests.vllm_names.source import Source

FOLDER = os.environ.get("MEDHELM_SPARK_VLLM_SOURCES", "")

collect_ignore_glob = [] if FOLDER else ["test_*.py"]


def of(version: str) -> Source:
    (folder,) = Path(FOLDER).glob(f"{version}.*")
    return Source(folder / "vllm")


@pytest.fixture(scope="session", params=["0.26", "0.33"])
def source(request) -> Source:
    """Each of the two versions."""
    return of(request.param)


@pytest.fixture(scope="session")
def oldest() -> Source:
    return of("0.26")


@pytest.fixture(scope="session")
def newest() -> Source:
    return of("0.33")
