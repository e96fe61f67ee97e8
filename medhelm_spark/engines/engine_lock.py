"""Who holds a slot: locks of the operating system, so that a killed process frees itself.

Two files per GPU (or per executor, for engines on the CPU). `alive` is locked as long as the engine
lives, by its process and by the processes that it forked; it names the process. `busy` is locked
while the engine loads or answers. An engine whose `busy` is free is idle: whoever needs its slot
locks `busy` first, so that it cannot begin to answer, ends its process and waits for `alive`.
"""

import os
import signal
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from platform import node

from medhelm_spark.errors import EngineError
from medhelm_spark.operating_system import free_lock, take_lock, user_id

# A task that was just killed is still being ended when the next one starts.
BUSY_SECONDS = 30.0
GONE_SECONDS = 60.0
POLL_SECONDS = 0.1


class Claim:
    """This process's locks on the slots of these names; `owner` is whose engines it may end."""

    def __init__(self, names: Sequence[str], owner: str, folder: Path | None = None) -> None:
        self.names = tuple(names)
        self._owner = owner
        lock_folder = folder or runtime_folder()
        self._busy = [_Lock(lock_folder / f"{name}.busy") for name in names]
        self._alive = [_Lock(lock_folder / f"{name}.alive") for name in names]

    def take(self, *, evict: bool) -> bool:
        """Become the holder, busy; False where another one is busy, or idle and not `evict`."""
        if not _take_all(self._busy):
            return False
        if _take_all(self._alive) or (evict and self._evict()):
            for lock in self._alive:
                lock.write(f"{os.getpid()} {self._owner}")
            return True
        self.rest()
        return False

    def rest(self) -> None:
        """Idle: from here on another process may take the slot."""
        for lock in self._busy:
            lock.free()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Busy for a while; waits where a process that takes the slot is about to end this one."""
        for lock in self._busy:
            lock.take(wait=True)
        try:
            yield
        finally:
            self.rest()

    def close(self) -> None:
        """Give the slots up."""
        for lock in (*self._busy, *self._alive):
            lock.close()

    def _evict(self) -> bool:
        """Ends the idle holders and waits until they are gone, with all that they forked."""
        deadline = time.monotonic() + GONE_SECONDS
        for lock in self._alive:
            if not lock.take() and not self._end(lock):
                break
            while not lock.take():
                if time.monotonic() > deadline:
                    raise EngineError(f"the engine on {lock.name} did not end after it was killed.")
                time.sleep(POLL_SECONDS)
        else:
            return True
        for lock in self._alive:
            lock.free()
        return False

    def _end(self, lock: "_Lock") -> bool:
        """Kills a holder; False where it belongs to another executor or application."""
        pid, _, owner = lock.read().partition(" ")
        if owner != self._owner or not pid.isdecimal() or int(pid) == os.getpid():
            return False
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
        return True


def claim(
    choices: Sequence[Sequence[str]],
    owner: str,
    folder: Path | None = None,
    *,
    seconds: float = BUSY_SECONDS,
) -> Claim:
    """The first of these slots that is free, else the first whose engine of this owner is idle.

    Raises:
        EngineError: every one is busy, for this many seconds.
    """
    deadline = time.monotonic() + seconds
    claims = [Claim(names, owner, folder) for names in choices]
    while True:
        for evict in (False, True):
            for candidate in claims:
                if candidate.take(evict=evict):
                    _close(other for other in claims if other is not candidate)
                    return candidate
        if time.monotonic() > deadline:
            _close(claims)
            names = ", ".join("+".join(names) for names in choices)
            raise EngineError(
                f"another process was busy on every slot ({names}) for {seconds:.0f} s; let no "
                "more tasks ask at once than there are slots (setting `slots`)."
            )
        time.sleep(POLL_SECONDS)


def _close(claims: Iterable[Claim]) -> None:
    for candidate in claims:
        candidate.close()


def runtime_folder() -> Path:
    """Where this user's locks are on this machine; nobody else may write there.

    Raises:
        EngineError: somebody else made that folder.
    """
    folder = Path(tempfile.gettempdir(), f"medhelm_spark-{user_id()}", node() or "host")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.parent.stat().st_uid != user_id():
        raise EngineError(f"the folder {folder.parent} belongs to another user; remove it.")
    return folder


class _Lock:
    """A lock on a file, held by a process and by the children that it forks while it holds it."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def take(self, *, wait: bool = False) -> bool:
        return take_lock(self._file, wait=wait)

    def free(self) -> None:
        free_lock(self._file)

    def read(self) -> str:
        return os.pread(self._file, 4096, 0).decode()

    def write(self, text: str) -> None:
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, text.encode(), 0)

    def close(self) -> None:
        if self._file >= 0:
            self.free()
            os.close(self._file)
            self._file = -1


def _take_all(locks: Sequence[_Lock]) -> bool:
    for count, lock in enumerate(locks):
        if not lock.take():
            for taken in locks[:count]:
                taken.free()
            return False
    return True
