"""The session of an invocation, and a policy in a catalog's table, which is read through it."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from pyspark.sql import SparkSession

from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.settings import Settings, load_settings
from medhelm_spark.domain.policy_table import PolicyTable
from medhelm_spark.domain.stages import ORDER
from medhelm_spark.lake.cluster import master_of
from medhelm_spark.lake.file_permissions import Permissions
from medhelm_spark.lake.policy_table import read_policy_table
from medhelm_spark.lake.session import LOCAL_MASTER, is_started, open_session
from medhelm_spark.lake.settings import kept_settings
from medhelm_spark.lake.worker_daemon import preloading

IN_WORKERS = (
    *(f"medhelm_spark.stages.{stage.name}.stage" for stage in ORDER),
    "medhelm_spark.adaptation.choice",
)
"""The modules whose functions Python workers run, and those that they import when needed."""


def settings_of(site: Path | None, spark: SparkSession | None = None) -> Settings:
    """The settings of the platform of `spark`, else of the current one.

    Raises:
        ConfigError: If a file or a variable is wrong.
    """
    return load_settings(site, master=master_of(spark))


def session_of(
    settings: Settings,
    spark: SparkSession | None = None,
    *,
    is_encrypted: bool = True,
    clients: Iterable[str] = (),
) -> SparkSession:
    """`spark`, else the platform's session, else one that is started by these settings.

    The workers of a session that is started have imported `clients`, modules of engines.
    """
    if settings.jars:
        os.environ.setdefault("MEDHELM_SPARK_JARS", settings.jars)
    conf = settings.spark
    if spark is None and not is_started():
        master = conf.get("spark.master", LOCAL_MASTER)
        conf = preloading(conf, master, [*IN_WORKERS, *clients])
    return open_session(
        conf,
        spark=spark,
        permissions=Permissions(settings.lake_permissions),
        is_encrypted=is_encrypted,
        log_file=conf_path("log4j2.properties"),
    )


def policy_tables(
    settings: Settings, spark: SparkSession | None = None
) -> Callable[[str], PolicyTable]:
    """The function that reads the platform's policy table; it opens the session."""

    def read(name: str) -> PolicyTable:
        with kept_settings(spark):
            return read_policy_table(session_of(settings, spark), name)

    return read
