"""A command and all processes below it: how long they took, their memory, and their use of CPUs."""

import os
import subprocess
import threading
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

SAMPLE_SECONDS = 0.5
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Process(NamedTuple):
    """A process now: whose child it is, CPU seconds so far, resident bytes."""

    parent: int
    cpu: float
    resident: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a command took.

    `started` and `ended` are seconds since the epoch. `gigabytes` are the largest resident sizes,
    by the part of the job that a process is. `cpu` has moments and the CPU seconds until then.
    """

    started: float
    ended: float
    gigabytes: Mapping[str, float]
    cpu: Sequence[tuple[float, float]]

    @property
    def seconds(self) -> float:
        """From the command's start to its end."""
        return self.ended - self.started

    def cpu_seconds(self, since: float, until: float) -> float:
        """The CPU time that all processes used between two moments, as they were sampled."""
        return self._cpu_at(until) - self._cpu_at(since)

    def _cpu_at(self, moment: float) -> float:
        index = bisect_right(self.cpu, (moment, float("inf")))
        return self.cpu[index - 1][1] if index else 0.0


def measured(command: Sequence[str]) -> Usage:
    """Run a command without its output; SystemExit where it fails."""
    started = time.time()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    sampler = Sampler(process.pid)
    sampler.start()
    if process.wait():
        raise SystemExit(f"the command failed: {' '.join(command)}")
    ended = time.time()
    sampler.stop.set()
    gigabytes = {part: size / 1e9 for part, size in sampler.largest.items()}
    return Usage(started=started, ended=ended, gigabytes=gigabytes, cpu=tuple(sampler.cpu))


class Sampler(threading.Thread):
    """Looks at a tree of processes twice a second."""

    def __init__(self, pid: int) -> None:
        """Starts with nothing seen."""
        super().__init__(daemon=True)
        self.pid, self.largest, self.stop = pid, dict[str, int](), threading.Event()
        self.cpu: list[tuple[float, float]] = []
        self._used: dict[int, float] = {}

    def run(self) -> None:
        """Sample until stopped."""
        while not self.stop.wait(SAMPLE_SECONDS):
            running, now = processes(), dict[str, int]()
            for pid in tree(self.pid, running):
                part = "python" if pid == self.pid else kind(pid)
                now[part] = now.get(part, 0) + running[pid].resident
                self._used[pid] = running[pid].cpu
            for part, size in now.items():
                self.largest[part] = max(self.largest.get(part, 0), size)
            self.cpu.append((time.time(), sum(self._used.values())))


def processes() -> dict[int, Process]:
    """All processes of the machine."""
    running = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:
            continue
        # The command's name is before this, in brackets, and may contain anything.
        fields = text.rpartition(")")[2].split()
        cpu = (int(fields[11]) + int(fields[12])) / TICKS
        running[int(path.parent.name)] = Process(int(fields[1]), cpu, int(fields[21]) * PAGE)
    return running


def tree(root: int, running: Mapping[int, Process]) -> Iterator[int]:
    """A process, where it still runs, and all below it."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for pid, process in running.items():
        children[process.parent].append(pid)
    todo = [root] if root in running else []
    while todo:
        pid = todo.pop()
        todo += children[pid]
        yield pid


def kind(pid: int) -> str:
    """Which part of the job a process is."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return "gone"
    if b"java" in command.split(b"\0")[0]:
        return "executor" if b"ExecutorBackend" in command else "jvm"
    return "workers" if b"pyspark" in command else "python"
