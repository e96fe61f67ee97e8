"""What Linux and macOS have and Windows has not, or each in a way of its own; imports everywhere.

Locks are those of `flock`: they are held by an open file, and freed by the end of its process.
"""

import os

from medhelm_spark.errors import SetupError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

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
    """Whether a process of this machine has this number; where nobody can tell, it is said to."""
    if os.name != "posix":  # there a signal of 0 is no question: it interrupts
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def usable_cpus() -> int:
    """How many hardware threads this process may compute on; all, where none are kept from it."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
