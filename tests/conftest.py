"""Fixtures for every kind of test; nothing here starts a JVM."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from medhelm_spark.config import settings
from tests.attacks import Listener, Table, listening

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session", autouse=True)
def no_platform_file() -> Iterator[None]:
    """The settings of the machine that the tests run on are not the tests'."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(settings, "PLATFORM_FILE", Path("/no/such/medhelm-spark/settings.yaml"))
        yield


@pytest.fixture
def as_in_a_terminal() -> Iterator[None]:
    """A shell has what it runs in the background ignore SIGINT, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real public data sets; tests that want real input skip where it is absent."""
    folder = Path(os.environ.get("MEDHELM_SPARK_REAL_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no real data beside the project; set MEDHELM_SPARK_REAL_DATA")
    return folder


@pytest.fixture(autouse=True)
def permissions_of_new_files() -> Iterator[None]:
    """A command makes its process's files private; the next test's are as the tests' were."""
    mask = os.umask(0o022)
    os.umask(mask)
    yield
    os.umask(mask)


@pytest.fixture
def outside() -> Iterator[Listener]:
    """A server at an address that takes the part of the outside; it keeps what it is sent."""
    yield from listening()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--attack-table", type=Path, help="page whose table of attacks is written")


def pytest_configure(config: pytest.Config) -> None:
    if page := config.getoption("--attack-table"):
        config.pluginmanager.register(Table(page), "attack-table")
