"""PySpark's daemon, which forks Python workers, with what they need imported before it forks.

Each worker imports the packages of the functions that it runs: more than a second of a core's time,
once for every core, while a small run waits. The daemon imports them once, while the JVM plans its
first query.

Only in a session that this project starts in one JVM on Linux. A fork takes over the thread that
calls it alone: Arrow, the only package here that has another one, sets its memory up anew in a
child. Elsewhere workers import as PySpark has them.
"""

import gc
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout, suppress
from importlib import import_module

from pyspark.daemon import manager

from medhelm_spark.lake.jvm import ONE_JVM

DAEMON = "spark.python.daemon.module"
PRELOAD = "PYTHON_WORKER_MODULES"
"""The variable that names the modules to import, separated by commas."""

WORKER = "pyspark.worker"


def preloading(settings: Mapping[str, str], master: str, modules: Iterable[str]) -> dict[str, str]:
    """Spark's settings with a daemon that has imported `modules`, where one JVM is all of Spark.

    A daemon that the site names stays.
    """
    if not ONE_JVM.fullmatch(master) or sys.platform != "linux" or DAEMON in settings:
        return dict(settings)
    names = ",".join(dict.fromkeys([WORKER, *modules]))
    return {**settings, DAEMON: __name__, f"spark.executorEnv.{PRELOAD}": names}


def preload() -> None:
    """Import what the variable names; what cannot be imported fails where it is used.

    What is there then lies in no generation of the garbage collector, which PySpark has go through
    all objects after every task.
    """
    with redirect_stdout(sys.stderr):  # the JVM reads the daemon's port from standard output
        for name in filter(None, os.environ.get(PRELOAD, "").split(",")):
            with suppress(Exception):
                import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    preload()
    manager()
