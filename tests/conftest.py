"""Fixtures for every kind of test; nothing here starts a JVM."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real public data sets; tests that want real input skip where it is absent."""
    folder = Path(os.environ.get("MEDHELM_SPARK_REAL_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no real data beside the project; set MEDHELM_SPARK_REAL_DATA")
    return folder
