"""The slots' locks beside filelock: what they do when processes fork and die, and their speed."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from benchmarks.own_code_timing import Comparison, timed
from medhelm_spark.engines.engine_lock import Claim

TIMES = 2_000
NAME = "gpu-0"
HOLD = {
    "own": "claim = Claim([NAME], 'app', Path(folder)); claim.take(evict=False); claim.rest()",
    "filelock": "lock = FileLock(Path(folder, f'{NAME}.alive')); lock.acquire()",
}
"""How a process takes the lock of its engine."""
PROGRAM = """
import os, sys, time
from pathlib import Path
from benchmarks.own_code_locks import NAME, Claim, FileLock
folder = sys.argv[1]
{hold}
child = os.fork() if {forks} else 0
if child or not {forks}:
    print(child, flush=True)
time.sleep(60)
"""


def _own_is_free(folder: Path) -> bool:
    claim = Claim([NAME], "other", folder)
    is_free = claim.take(evict=False)
    claim.close()
    return is_free


def _filelock_is_free(folder: Path) -> bool:
    try:
        with FileLock(folder / f"{NAME}.alive", timeout=0):
            return True
    except Timeout:
        return False


IS_FREE: dict[str, Callable[[Path], bool]] = {"own": _own_is_free, "filelock": _filelock_is_free}


def _after_death(kind: str, *, forks: bool) -> bool:
    """Whether the lock is free after its holder got SIGKILL, its forked child living on or none."""
    program = PROGRAM.format(hold=HOLD[kind], forks=forks)
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-c", program, name]
        holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        child = int(holder.stdout.readline()) if holder.stdout else 0
        if IS_FREE[kind](Path(name)):
            raise RuntimeError(f"{kind}: the lock is not held while its holder lives.")
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        try:
            return IS_FREE[kind](Path(name))
        finally:
            if child:
                os.kill(child, signal.SIGKILL)


def facts() -> Iterator[str]:
    """Rows of a table: a question, the answer of our locks, that of filelock."""
    yield "| The lock's file after its holder was killed | own | filelock |"
    yield "|---|---|---|"
    for question, forks in (
        ("nothing of it lives", False),
        ("a child that it forked lives, with the model in GPU memory", True),
    ):
        answers = ["free" if _after_death(kind, forks=forks) else "held" for kind in IS_FREE]
        yield f"| {question} | {' | '.join(answers)} |"


def comparison() -> Comparison:
    """Taking and freeing the two locks of a slot."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def own() -> None:
            for _ in range(TIMES):
                claim = Claim([NAME], "app", folder)
                claim.take(evict=False)
                claim.close()

        def theirs() -> None:
            locks = [FileLock(folder / f"{NAME}.{kind}") for kind in ("busy", "alive")]
            for _ in range(TIMES):
                with locks[0], locks[1]:
                    pass

        (_, own_seconds), (_, their_seconds) = timed(own, theirs)
        return Comparison(
            what="Locks of a slot beside filelock",
            items="slot taken and freed",
            equal="see below",
            own=TIMES / own_seconds,
            theirs=TIMES / their_seconds,
        )
