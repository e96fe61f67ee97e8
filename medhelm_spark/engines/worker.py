"""The process that asks, as a worker of Spark: its executor, its task, and how it ends itself.

Spark is not imported for any of it: engines run without it too.
"""

import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from platform import node
from typing import Any, NoReturn

from medhelm_spark.domain.ids import digest


def executor_folder(environ: Mapping[str, str]) -> str:
    """The folder that Spark gives the Python workers of one executor; empty outside Spark.

    It names the executor: its workers share it, no other process does, and Spark removes it.
    """
    folder = environ.get("SPARK_LOCAL_DIRS", "").split(",")[0].rstrip("/")
    return folder if folder and Path(folder).is_dir() else ""


@lru_cache(maxsize=1)
def this_executor() -> str:
    """A name for the executor whose worker this process is: its machine and its own folder's hash.

    Outside Spark it is the machine's name.
    """
    folder = executor_folder(os.environ)
    return f"{node()}-{digest(folder)[:6]}" if folder else node()


def task_context() -> Any:
    """Spark's context of the running task, whose process has Spark loaded; None outside a task."""
    module = sys.modules.get("pyspark.taskcontext")
    return module.TaskContext.get() if module else None


def end_process(sentence: str) -> NoReturn:
    """Prints one text-free sentence and ends at once, so that Spark retries the task elsewhere.

    An exception would not do: the process, and the dead engine in it, would get the retry.
    """
    sys.stderr.write(f"medhelm-spark: {sentence}\n")
    sys.stderr.flush()
    os._exit(1)
