"""Spark's settings of `settings.yaml` in a session that somebody else started.

A setting that a session takes while it runs is set where nobody set it, and taken back afterwards.
One that it takes only at its start is printed: it has to be set where the session is configured.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from pyspark.sql import SparkSession

from medhelm_spark.lake.settings import setting, temporarily


@contextmanager
def with_defaults(spark: SparkSession | None, conf: Mapping[str, str]) -> Iterator[None]:
    """Set for a piece of work the settings that the session lacks and takes at run time.

    `spark` is the session, by default the active one; where there is none, one that is started has
    these settings already.
    """
    spark = spark or SparkSession.getActiveSession()
    if spark is None:
        yield
        return
    lacking = _lacking(spark, conf)
    added = {key: value for key, value in lacking.items() if _takes(spark, key)}
    with temporarily(spark, added, before=dict.fromkeys(added)):
        yield


def not_applied(spark: SparkSession, conf: Mapping[str, str]) -> list[str]:
    """The settings that the session lacks and takes at its start alone."""
    return sorted(key for key in _lacking(spark, conf) if not _takes(spark, key))


def _lacking(spark: SparkSession, conf: Mapping[str, str]) -> dict[str, str]:
    """Those of the settings that nobody has set in the session, a default aside."""
    other = {key: value for key, value in conf.items() if setting(spark, key) != value}
    if not other:
        return {}
    try:
        present = {str(row[0]) for row in spark.sql("SET").collect()}
    except Exception:  # a serverless session does not list what it has: it is left as it is
        return {}
    return {key: value for key, value in other.items() if key not in present}


def _takes(spark: SparkSession, key: str) -> bool:
    with suppress(Exception):
        return bool(spark.conf.isModifiable(key))
    return False
