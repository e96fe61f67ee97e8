"""The product as it is installed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.installed import install_wheel


@pytest.fixture(scope="session")
def command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """`medhelm-spark` of a fresh environment with `[local]` and nothing of the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    yield install_wheel(folder, "[local]") / "bin" / "medhelm-spark"
    shutil.rmtree(folder)  # half a gigabyte
