"""What is seen of a GPU from outside: how busy it is, its memory, and who still uses it."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

SMI = "nvidia-smi"
EVERY_MS = 200


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of nvidia-smi: per cent of the time in which a kernel ran, and MiB in use."""

    at: float
    busy: float
    memory: float


class Watch:
    """Reads nvidia-smi as long as it is open; without one it has no samples."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self._process: subprocess.Popen[str] | None = None
        if shutil.which(SMI):
            query = f"{SMI} -i {_device()} --query-gpu=utilization.gpu,memory.used"
            command = f"{query} --format=csv,noheader,nounits -lms {EVERY_MS}".split()
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            threading.Thread(target=self._read, daemon=True).start()
            time.sleep(1.0)  # so that what was there before has been seen

    def _read(self) -> None:
        assert self._process and self._process.stdout
        for line in self._process.stdout:
            busy, _, memory = line.partition(",")
            try:
                self.samples.append(Sample(time.time(), float(busy), float(memory)))
            except ValueError:
                continue  # a card that does not report one of them

    def busy(self, began: float, ended: float) -> float | None:
        """The mean share between two times, in per cent."""
        shares = [sample.busy for sample in self.samples if began <= sample.at <= ended]
        return fmean(shares) if shares else None

    def memory(self, at: float) -> float | None:
        """GiB in use at a time."""
        sizes = [sample.memory for sample in self.samples if sample.at <= at]
        return sizes[-1] / 1024 if sizes else None

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()


def _device() -> str:
    return os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0] or "0"


def card() -> str:
    """Name and driver of the GPU; empty where there is none."""
    if not shutil.which(SMI):
        return ""
    command = [SMI, "-i", _device(), "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def of_session(session: int) -> list[int]:
    """The processes that a session still has: the children of a killed one, whoever has them."""
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, process_session = _status(folder)
        except (OSError, IndexError, ValueError):
            continue  # it has ended meanwhile
        if int(process_session) == session and state not in "ZX":
            pids.append(int(folder.name))
    return pids


def _status(folder: Path) -> Sequence[str]:
    """State, parent, group and session."""
    return (folder / "stat").read_text().rpartition(")")[2].split()[:4]
