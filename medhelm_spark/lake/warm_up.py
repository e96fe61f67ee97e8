"""The first Python worker of a session, made while the driver still plans its first query.

A session's first worker waits for the daemon that forks it, and for the daemon's imports: on a
small run longer than for its rows.
"""

import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress

import pyarrow as pa
from pyspark.sql import SparkSession

from medhelm_spark.lake.jvm import ONE_JVM
from medhelm_spark.lake.python_workers import made_for
from medhelm_spark.lake.settings import setting


def warm_up(spark: SparkSession) -> None:
    """Have a local session make its first Python worker, in a thread; others are left alone."""
    if ONE_JVM.fullmatch(setting(spark, "spark.master") or ""):
        threading.Thread(
            target=_ask, args=(spark,), daemon=True, name="medhelm-spark-warm-up"
        ).start()


def _ask(spark: SparkSession) -> None:
    with suppress(Exception):  # the work itself meets what is wrong, or the session has ended
        with made_for(spark, own_workers=False):
            rows = spark.range(1).mapInArrow(_nothing, "id BIGINT")
        rows.collect()


def _nothing(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        pass
    yield from ()
