"""Slots: the GPUs that one engine may take. Pure planning; the environment comes in as strings."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache

from medhelm_spark.engines.worker import task_context
from medhelm_spark.errors import SetupError
from medhelm_spark.subprocess_env import child_environment

VISIBLE = "CUDA_VISIBLE_DEVICES"
QUERY = ("--query-gpu=index,uuid", "--format=csv,noheader")
Group = tuple[str, ...]

# The slot of an engine that needs no GPU: all cores of its machine.
CPU: Group = ()


def gpu_groups(
    assigned: Sequence[str], visible: str | None, listed: str, size: int | None
) -> tuple[Group, ...]:
    """The groups of GPUs that one engine of `size` devices could take.

    `assigned` is what Spark gave the running task, one group whatever part of it is used; without
    it (a platform that does no GPU scheduling) the visible devices are cut into groups of `size`,
    1 for None. `visible` is the value of CUDA_VISIBLE_DEVICES, `listed` the driver's list as lines
    of "index, uuid".

    >>> gpu_groups([], "0,1,2,3", "", 2)
    (('0', '1'), ('2', '3'))
    >>> gpu_groups(["2", "3"], "0,1,2,3", "", None)
    (('2', '3'),)
    """
    count = size or 1
    if assigned:
        return (tuple(assigned),) if len(assigned) >= count else ()
    gpus = visible_gpus(visible, listed)
    whole = len(gpus) - len(gpus) % count
    return tuple(gpus[start : start + count] for start in range(0, whole, count))


def visible_gpus(visible: str | None, listed: str) -> Group:
    """The addresses of the devices that this process may use.

    As CUDA reads it: what follows an empty entry or -1 is not visible.
    """
    if visible is None:
        return tuple(_uuids(listed))
    addresses: list[str] = []
    for entry in visible.split(","):
        if entry.strip() in ("", "-1"):
            break
        addresses.append(entry.strip())
    return tuple(addresses)


def visible_gpus_here() -> Group:
    """The addresses of the devices that this process may use, as its machine lists them."""
    return visible_gpus(os.environ.get(VISIBLE), listed_gpus())


def _uuids(listed: str) -> dict[str, str]:
    """Address -> the name of the device itself, from the driver's list."""
    pairs = (line.partition(",") for line in listed.splitlines() if "," in line)
    return {index.strip(): uuid.strip() for index, _, uuid in pairs}


def lock_names(group: Group, listed: str, executor: str) -> Group:
    """What the locks of a group are called, sorted so that two processes never wait crosswise.

    A GPU is one for all of its machine, and named by its own identity where the driver lists it: in
    two containers the same address may be two devices. The CPU slot is one per executor, in the
    folder that Spark gives it; outside Spark a process has it for itself.
    """
    if group == CPU:
        return (f"{executor}/cpu" if executor else f"cpu-{os.getpid()}",)
    uuids = _uuids(listed)
    return tuple(sorted(f"gpu-{uuids.get(address, address)}" for address in group))


def too_few(assigned: Sequence[str], visible: str | None, listed: str, size: int | None) -> str:
    """The end of a sentence: how many GPUs there are, and how many are needed."""
    has = len(assigned) or len(visible_gpus(visible, listed))
    whose = "Spark gave the task" if assigned else "this machine shows"
    setting = "" if assigned or visible is None else f" ({VISIBLE} is {visible!r})"
    return f"needs {size or 1} GPU{'s' * ((size or 1) > 1)}, but {whose} {has or 'none'}{setting}"


def assigned_gpus() -> Group:
    """The addresses that Spark gave the running task; none outside a task."""
    context = task_context()
    gpus = context.resources().get("gpu") if context else None
    return tuple(gpus.addresses) if gpus else ()


@lru_cache(maxsize=1)
def listed_gpus() -> str:
    """The driver's list of devices; empty where there is no driver."""
    program = shutil.which("nvidia-smi")
    if not program:
        return ""
    command = [program, *QUERY]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=child_environment()
    )
    return done.stdout if done.returncode == 0 else ""


_bound: Group | None = None


def bound() -> Group | None:
    """The addresses that this process has taken for good; None before it took any."""
    return _bound


def bind(group: Group) -> None:
    """Makes a group the only GPUs that this process sees, before CUDA starts in it.

    Raises:
        SetupError: it has already taken others; CUDA reads them once per process.
    """
    global _bound
    if group in (CPU, _bound):
        return
    torch = sys.modules.get("torch")
    if _bound is not None or (torch and torch.cuda.is_initialized()):
        current = ",".join(_bound or ("unknown",))
        raise SetupError(f"this process uses GPU {current} and cannot change to {','.join(group)}.")
    # In the order of nvidia-smi, whose indexes Spark's addresses are.
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    os.environ[VISIBLE] = ",".join(group)
    _bound = group
