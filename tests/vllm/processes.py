"""Which processes have an engine, seen from outside: by the libraries that they have mapped."""

import os
import time
import uuid
from pathlib import Path

# Inherited by all that these tests start, whoever is the parent of what is left behind.
MARK = "MEDHELM_SPARK_TEST_RUN"
os.environ[MARK] = uuid.uuid4().hex


def engine_pids() -> set[int]:
    """The processes of these tests, but this one, that have vLLM's native code loaded."""
    mark, parents, marked, loaded = os.environ[MARK].encode(), {}, set(), set()
    for folder in Path("/proc").glob("[0-9]*"):
        pid = int(folder.name)
        try:
            parents[pid] = int(_status(pid)[1])
            if mark in (folder / "environ").read_bytes():
                marked.add(pid)
            if "/vllm/_C" in (folder / "maps").read_text():
                loaded.add(pid)
        except (OSError, IndexError):
            continue  # it has ended meanwhile, or belongs to somebody else
    # A worker of vLLM writes its title over its environment: it is found by its parents.
    return {pid for pid in loaded if _is_below(pid, marked, parents)} - {os.getpid()}


def _is_below(pid: int, marked: set[int], parents: dict[int, int]) -> bool:
    while pid in parents:
        if pid in marked or pid == os.getpid():
            return True
        pid = parents[pid]
    return False


def _status(pid: int) -> list[str]:
    """State and parent of a process, as the kernel lists them after its name."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def is_alive(pid: int) -> bool:
    try:
        return _status(pid)[0] not in "ZX"
    except OSError:
        return False


def wait_until_gone(pids: set[int], seconds: float = 30.0) -> set[int]:
    """Those of these processes that still run after so many seconds."""
    deadline = time.monotonic() + seconds
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return {pid for pid in pids if is_alive(pid)}
