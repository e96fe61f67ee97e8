"""What a session reports about its cluster: the facts of `domain.cluster`."""

import os
import time
from contextlib import suppress
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from medhelm_spark.domain.cluster import KEYS, Cluster, Manager, manager_of
from medhelm_spark.lake.settings import setting

MASTER = "spark.master"
CONNECT = "sc://"
"""The master of every session over Spark Connect, which runs in another process."""

FIRST_EXECUTOR_SECONDS = 20.0
POLL_SECONDS = 0.1


def master_of(spark: SparkSession | None) -> str | None:
    """The master of the current session, or of spark-submit's future one; None without either.

    `CONNECT` of one that runs in another process, whatever that one's own master is.
    """
    spark = spark or SparkSession.getActiveSession()
    if spark is not None:
        return str(setting(spark, MASTER) or "") if _context(spark) else CONNECT
    if "SPARK_REMOTE" in os.environ:
        return CONNECT
    if SparkContext._active_spark_context is not None:
        return str(SparkContext._active_spark_context.master)
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()  # a SparkConf has spark-submit's from here on
        return SparkConf().get(MASTER) or ""
    return None


def cluster_of(spark: SparkSession) -> Cluster:
    """What the session reports now; a later call includes executors that join later.

    Waits a moment for the first executor of a cluster that has just been asked for some.
    """
    settings = {key: setting(spark, key) for key in KEYS}
    conf = {key: value for key, value in settings.items() if value is not None}
    context = _context(spark)
    if context is None:
        server = setting(spark, MASTER) or ""  # its `local` is another machine than ours
        is_local = manager_of(server) is Manager.LOCAL
        return Cluster(master="" if is_local else server, conf=conf)
    master = str(context.master)
    addresses = _executors(context)
    deadline = time.monotonic() + FIRST_EXECUTOR_SECONDS
    while not addresses and manager_of(master) is not Manager.LOCAL and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        addresses = _executors(context)
    return Cluster(
        master=master,
        conf=conf,
        executors=len(addresses),
        hosts=len({address.rpartition(":")[0] for address in addresses}),
        parallelism=int(context.defaultParallelism),
    )


def _context(spark: SparkSession) -> Any:
    with suppress(Exception):  # Spark Connect raises what its own library has for it
        return spark.sparkContext
    return None


def _executors(context: Any) -> list[str]:
    """Host and port of each registered executor, without the driver's own."""
    with suppress(Exception):  # a platform may close this part of the JVM
        jvm_context = context._jsc.sc()
        known = jvm_context.getExecutorMemoryStatus().keySet().mkString(" ").split()
        driver = jvm_context.env().blockManager().blockManagerId().hostPort()
        return [str(address) for address in known if address != driver]
    return []
