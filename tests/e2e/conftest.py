"""The product as it is installed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installed import install_wheel


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """`medhelm-spark` of a fresh environment that holds `[local]` and nothing of the checkout."""
    place = tmp_path_factory.mktemp("installed")
    yield install_wheel(place, "[local]") / "bin" / "medhelm-spark"
    shutil.rmtree(place)  # half a gigabyte
