"""The session of an invocation, and a policy in a catalog's table, which is read through it."""

import os
from collections.abc import Callable

from pyspark.sql import SparkSession

from medhelm_spark.config.resources import conf_path
from medhelm_spark.config.settings import Settings
from medhelm_spark.domain.policy_table import PolicyTable
from medhelm_spark.lake.policy_table import read_policy_table
from medhelm_spark.lake.rest import Permissions
from medhelm_spark.lake.session import open_session
from medhelm_spark.lake.settings import kept_settings


def session_of(
    settings: Settings, spark: SparkSession | None = None, *, is_encrypted: bool = True
) -> SparkSession:
    """The given session, else the platform's, else one that is started by these settings."""
    if settings.jars:
        os.environ.setdefault("MEDHELM_SPARK_JARS", settings.jars)
    return open_session(
        settings.spark,
        spark=spark,
        permissions=Permissions(settings.lake_permissions),
        is_encrypted=is_encrypted,
        log_file=conf_path("log4j2.properties"),
    )


def policy_tables(
    settings: Settings, spark: SparkSession | None = None
) -> Callable[[str], PolicyTable]:
    """What reads the table that the platform names as its policy; the session is opened then."""

    def read(name: str) -> PolicyTable:
        with kept_settings(spark):
            return read_policy_table(session_of(settings, spark), name)

    return read
