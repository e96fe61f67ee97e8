"""The real MedHELM as a child process; collected only where its Python is named."""

import os
from collections.abc import Iterator

import pytest

from tests.parity.peer import PYTHON, Peer

collect_ignore_glob = [] if os.environ.get(PYTHON) else ["test_*.py"]


@pytest.fixture(scope="session")
def medhelm() -> Iterator[Peer]:
    """One child for all tests: it takes a quarter of a minute to import."""
    with Peer(os.environ[PYTHON]) as peer:
        yield peer
