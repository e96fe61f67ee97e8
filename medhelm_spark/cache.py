"""The one folder for what is downloaded or made once: jars, model files, data, class archives."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """MEDHELM_SPARK_CACHE where it is set, else the user's cache folder."""
    named = os.environ.get("MEDHELM_SPARK_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "medhelm_spark"


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock of this name in the cache; other processes of this machine wait for it."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # let go when the file is closed
        yield
