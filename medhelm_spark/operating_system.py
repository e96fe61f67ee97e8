"""What Linux and macOS have and Windows has not, or each in a way of its own; imports everywhere.

Locks are those of `flock`: an open file holds them, and the end of its process frees them.
"""

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

from medhelm_spark.errors import SetupError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FULL_OR_READ_ONLY = tuple(
    os.strerror(number)
    for number in (errno.ENOSPC, errno.EROFS, getattr(errno, "EDQUOT", errno.ENOSPC))
)
_BY_NUMBER = re.compile(r"\(os error (\d+)\)")
"""How delta-rs ends what the operating system refused it."""

NEEDED = "needs Linux or macOS; on Windows install and run medhelm_spark within WSL2."


def take_lock(file: int, *, wait: bool = True) -> bool:
    """Lock an open file; False where another one holds it and this one does not `wait`.

    Raises:
        SetupError: the operating system has no such locks.
    """
    if fcntl is None:
        raise SetupError(f"a lock on a file {NEEDED}")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def free_lock(file: int) -> None:
    """Free an open file that was locked."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_UN)


def user_id() -> int:
    """The number of the user of this process.

    Raises:
        SetupError: the operating system has no such numbers.
    """
    if not hasattr(os, "getuid"):
        raise SetupError(f"a folder that is private to a user {NEEDED}")
    return os.getuid()


def is_running(pid: int) -> bool:
    """Whether a process of this machine has this number; true where this cannot be found out.

    One that was killed and that its parent has not looked at yet still has its number: where Linux
    shows it as such, it does not run.
    """
    if os.name != "posix":  # there a signal of 0 is no question: it interrupts
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):  # another system than Linux, or it ended just now
        return True
    return state not in ("Z", "X")


def usable_cpus() -> int:
    """How many hardware threads this process may compute on; all, where none are excluded."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_size(folder: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes of memory that this process may use at most; 0 where the system has no number.

    A container's limit counts where it is below the machine's memory.
    """
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows
        return 0
    for name in ("memory.max", "memory/memory.limit_in_bytes"):  # version 2, version 1
        try:
            size = min(size, int((folder / name).read_text()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return size


def refusal_of(error: BaseException) -> str:
    """What the operating system refused, and for which file where the error names one.

    Delta-rs and Java write its words into messages of their own. Empty where the error, and what it
    was raised from, has another cause. No other part of a message is returned: it may quote data.
    What an error was raised beside does not count: it would hide a fault of the program.

    >>> refusal_of(FileNotFoundError(errno.ENOENT, "", "a/b"))
    'No such file or directory: a/b'
    >>> refusal_of(ValueError("External: cannot write (os error 28)"))
    'No space left on device'
    >>> refusal_of(ValueError("No value"))
    ''
    """
    return next(filter(None, map(_refusal, _chain(error))), "")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _refusal(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno and error.filename:
        return f"{os.strerror(error.errno)}: {os.fsdecode(error.filename)}"
    if isinstance(error, OSError) and error.errno:
        reason = os.strerror(error.errno)
        return reason if reason in FULL_OR_READ_ONLY else ""
    text = str(error)
    if number := _BY_NUMBER.search(text):
        return os.strerror(int(number[1]))
    return next((reason for reason in FULL_OR_READ_ONLY if reason in text), "")
