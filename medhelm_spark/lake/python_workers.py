"""Which of Spark's Python workers run a function: all of them, or those kept for engines on GPUs.

Spark has a pool of Python workers for each environment that it starts them with, and a function has
the environment of the session at the moment in which it was made.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

WORKERS_OF = "PYTHON_WORKERS_OF"

_MAKING = threading.Lock()
"""No two threads make a function at once: one would take the environment of the other."""


@contextmanager
def made_for(spark: SparkSession, *, own_workers: bool) -> Iterator[None]:
    """Functions that the body makes run in workers of their own, or in the session's.

    The session must not be one of Spark Connect, whose functions take the server's environment.
    """
    with _MAKING:
        environment = spark.sparkContext.environment
        if own_workers:
            environment[WORKERS_OF] = "slots"
        try:
            yield
        finally:
            environment.pop(WORKERS_OF, None)
