"""Ctrl-C while Spark works: its jobs are cancelled from another thread.

PySpark's own handler asks the JVM on the connection on which the interrupted call still waits. py4j
then prints tracebacks and may give up that call's interrupt for an error of its own.
"""

import logging
import signal
import threading
from contextlib import suppress
from types import FrameType

from pyspark.sql import SparkSession

CANCELLER = "medhelm-spark-cancel"
PY4J_MESSAGES = (
    "KeyboardInterrupt while sending command.",
    "Exception while sending command.",  # a JVM that the same signal has ended
)


def cancel_on_interrupt(spark: SparkSession) -> None:
    """Have Ctrl-C cancel this session's jobs and raise KeyboardInterrupt, where signals arrive."""
    if threading.current_thread() is not threading.main_thread():
        return
    context = spark.sparkContext

    def cancel() -> None:
        with suppress(Exception):  # a JVM that the same signal ends cancels its jobs itself
            context.cancelAllJobs()

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        threading.Thread(target=cancel, daemon=True, name=CANCELLER).start()
        raise KeyboardInterrupt

    logging.getLogger().addFilter(_is_not_py4js)
    signal.signal(signal.SIGINT, interrupt)


def _is_not_py4js(record: logging.LogRecord) -> bool:
    """Whether a line is not py4j's traceback of an error that it raises as well."""
    return record.msg not in PY4J_MESSAGES
