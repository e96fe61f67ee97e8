"""One planted lake for all tests that only read."""

from pathlib import Path

import pytest

from medhelm_spark.lake.reader import Reader, open_reader
from tests.unit.board.planted import plant


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("lake"))


@pytest.fixture(scope="session")
def reader(lake: Path) -> Reader:
    return open_reader(str(lake))
