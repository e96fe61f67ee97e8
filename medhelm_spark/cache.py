"""The one folder for what is downloaded or made once: jars, model files, data, class archives."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from medhelm_spark.operating_system import take_lock, user_id


def cache_folder() -> Path:
    """MEDHELM_SPARK_CACHE where it is set, else the user's cache folder.

    A container's user may have no home, or one that is not there: a folder of the machine's
    temporary ones then.
    """
    named = os.environ.get("MEDHELM_SPARK_CACHE")
    if named:
        return Path(named)
    with suppress(RuntimeError):  # neither HOME nor an entry of the user's
        home = Path.home()
        if os.access(home, os.W_OK):
            return home / ".cache" / "medhelm_spark"
    own = Path(tempfile.gettempdir(), f"medhelm_spark-{user_id()}")
    own.mkdir(mode=0o700, exist_ok=True)
    if own.stat().st_uid != user_id():  # jars and models that somebody else laid there
        raise PermissionError(f"the folder {own} belongs to another user; set MEDHELM_SPARK_CACHE.")
    return own / "cache"


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock of this name in the cache; other processes of this machine wait for it."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("a") as file:
        take_lock(file.fileno())  # let go when the file is closed
        yield
