"""Files on this machine's disks: private to their owner, removed once the owner's process ended.

Buckets, HDFS and catalogs follow their own rules; so does a session that a platform runs.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import cache
from pathlib import Path

from medhelm_spark.errors import SetupError
from medhelm_spark.operating_system import take_lock, user_id

OWNER_ALIVE = ".alive"
_LOCK_HANDLES: list[int] = []  # their locks show that this process lives


class Permissions(StrEnum):
    """Who reads the files of a local lake: their owner alone, or the owner's group too."""

    PRIVATE = "private"
    GROUP = "group"

    @property
    def umask(self) -> int:
        """The permissions that new files lack. Only the owner ever writes."""
        return 0o027 if self is Permissions.GROUP else 0o077


def restrict(permissions: Permissions) -> None:
    """From now on this process and those that it starts make files with these permissions."""
    os.umask(permissions.umask)


def hadoop_conf(permissions: Permissions) -> dict[str, str]:
    """The same for files that Spark writes: Hadoop sets permissions of its own, by its own umask.

    >>> hadoop_conf(Permissions.PRIVATE)
    {'spark.hadoop.fs.permissions.umask-mode': '077'}
    """
    return {"spark.hadoop.fs.permissions.umask-mode": f"{permissions.umask:03o}"}


@cache
def work_folder() -> Path:
    """This process's own folder for what it needs while it lives; nobody else may look into it.

    Folders whose process is gone, killed ones too, are removed when the next process makes its own.

    Raises:
        SetupError: somebody else made the folder that they lie in.
    """
    parent = _parent()
    with _locked(parent):
        _clear(parent)
        folder = Path(tempfile.mkdtemp(prefix="work-", dir=parent))
        handle = os.open(folder / OWNER_ALIVE, os.O_RDWR | os.O_CREAT, 0o600)
        take_lock(handle)
        _LOCK_HANDLES.append(handle)
    return folder


def _parent() -> Path:
    parent = Path(tempfile.gettempdir(), f"medhelm_spark_work-{user_id()}")
    with suppress(FileExistsError):
        parent.mkdir(mode=0o700)
    status = parent.lstat()
    if status.st_uid != user_id() or not stat.S_ISDIR(status.st_mode):
        raise SetupError(f"{parent} is not a folder of this user; remove it.")
    parent.chmod(0o700)
    return parent


@contextmanager
def _locked(parent: Path) -> Iterator[None]:
    """Alone among the processes that make or clear folders, so that none is cleared half-made."""
    with (parent / ".lock").open("a") as file:
        take_lock(file.fileno())
        yield


def _clear(parent: Path) -> None:
    for folder in parent.glob("work-*"):
        if not _is_alive(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(folder: Path) -> bool:
    try:
        with (folder / OWNER_ALIVE).open("r+") as file:
            return not take_lock(file.fileno(), wait=False)
    except OSError:
        return False
