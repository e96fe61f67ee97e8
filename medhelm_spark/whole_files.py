"""Files and folders that are written whole, or not at all and the earlier ones stay."""

import filecmp
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from medhelm_spark.errors import ConfigError, SetupError
from medhelm_spark.operating_system import take_lock


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file, text as UTF-8: whole, or not at all and the earlier file stays.

    Raises:
        OSError: its folder is not there, cannot be written or is full.
    """
    data = content.encode() if isinstance(content, str) else content
    path = path.resolve()  # what a link leads to is replaced, not the link
    if path.exists() and not path.is_file():  # a pipe or /dev/stdout gives nothing to replace
        path.write_bytes(data)
        return
    beside = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def is_same(folder: Path, other: Path) -> bool:
    """Whether two folders have the same files, to the last byte, by the same paths."""
    names, others = (
        {path.relative_to(each) for path in each.rglob("*") if path.is_file()}
        for each in (folder, other)
    )
    return names == others and all(
        filecmp.cmp(folder / name, other / name, shallow=False) for name in names
    )


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, that has the name `path` once the body is done.

    What a killed process left of it is removed by the next one that fills the same folder; a folder
    that is there with the same files stays.

    Raises:
        ConfigError: another process fills the same folder now.
        OSError: the folder is there with other files, cannot be written, or the disk is full.
    """
    half = path.with_name(f".{path.name}.unfinished")
    half.parent.mkdir(parents=True, exist_ok=True)
    with _sole_writer(path, half):
        half.mkdir()
        try:
            yield half
            if is_same(half, path):
                shutil.rmtree(half)
            else:
                half.replace(path)
        except BaseException:
            shutil.rmtree(half, ignore_errors=True)
            raise


@contextmanager
def _sole_writer(path: Path, half: Path) -> Iterator[None]:
    """Lock the folder `half`, that becomes `path`, and remove what a killed process left of it.

    The lock is on a file beside it, since a network's file system locks no folder. The end of a
    process frees its lock. Without locks a folder that is there may be a living process's.

    Raises:
        ConfigError: another process has the lock, or there are no locks and `half` is there.
    """
    lock = half.with_name(f"{half.name}.lock")
    while True:
        with open(lock, "a", opener=_open_unlinked) as file:
            is_locked = _try_lock(file.fileno())
            if is_locked is False:
                raise ConfigError(
                    f"another command makes {path} now; wait for it, or name another folder."
                )
            if is_locked is None and os.path.lexists(half):
                raise ConfigError(
                    f"{half} is there: another command makes {path}, or was killed as it did, and "
                    "this file system has no locks to see which. Remove it if none does, or name "
                    "another folder."
                )
            if not _has_name(file.fileno(), lock):  # its process ended meanwhile and removed it
                continue
            try:
                if is_locked:
                    _remove(half)
                yield
            finally:
                lock.unlink(missing_ok=True)
            return


def _open_unlinked(path: str, flags: int) -> int:
    """Open a file that no symbolic link leads to; another user may have put one there."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _try_lock(file: int) -> bool | None:
    """Whether this process has the lock of an open file now; None where there are no locks."""
    try:
        return take_lock(file, wait=False)
    except (OSError, SetupError):
        return None


def _has_name(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.lstat())
    except FileNotFoundError:
        return False


def _remove(path: Path) -> None:
    """Remove a folder if it is there; of a symbolic link the link, and not what it leads to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
