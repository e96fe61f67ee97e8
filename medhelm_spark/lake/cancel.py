"""Ends the Spark jobs of a piece of work, from another thread."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pyspark.sql import SparkSession


@contextmanager
def cancellable(spark: SparkSession, tag: str) -> Iterator[Callable[[], None]]:
    """Tag the Spark jobs that the body starts in this thread; the yielded function cancels them.

    A session of Spark Connect has tags of its own. With a JVM those cancel nothing (Spark 4.2);
    the context's tags do.
    """
    context = _context(spark)
    if context is None:
        spark.addTag(tag)
    else:
        context.addJobTag(tag)
    try:
        yield lambda: _cancel(spark, context, tag)
    finally:
        with suppress(Exception):  # the session may have been stopped meanwhile
            if context is None:
                spark.removeTag(tag)
            else:
                context.removeJobTag(tag)


def _cancel(spark: SparkSession, context: Any, tag: str) -> None:
    if context is None:
        spark.interruptTag(tag)
    else:
        context.cancelJobsWithTag(tag)


def _context(spark: SparkSession) -> Any:
    try:
        return spark.sparkContext
    except Exception:  # a session without a JVM raises what its own library has for it
        return None
