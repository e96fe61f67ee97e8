"""A session's settings, of which some sessions return or accept only a few.

A serverless session raises for every key that it does not offer, whether it is read or set.
A setting that is refused never ends a run: its consequence, where there is one, is logged once.
"""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache

from pyspark.sql import SparkSession

from medhelm_spark.errors import SetupError

LOG = logging.getLogger(__name__)

TIME_ZONE = "spark.sql.session.timeZone"
LOCALS_IN_TRACEBACKS = "spark.sql.execution.pyspark.udf.tracebackWithLocals.enabled"

# What every stage relies on, wherever it runs. The traceback with locals would print clinical text
# into executor logs; the check refuses a batch whose types differ, which Spark would misread.
REQUIRED: Mapping[str, str] = {
    TIME_ZONE: "UTC",
    "spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true",
    LOCALS_IN_TRACEBACKS: "false",
}

# By session: how many pieces of work rely on its settings now, and what they were before the first.
_IN_USE: dict[object, tuple[int, Mapping[str, str | None]]] = {}
_LOCK = threading.Lock()


def is_connect(spark: SparkSession) -> bool:
    """Whether the session is one of Spark Connect: its driver is another process, maybe elsewhere.

    Databricks' serverless sessions and those of its standard clusters are.
    """
    return type(spark).__module__.startswith("pyspark.sql.connect")


def setting(spark: SparkSession, key: str) -> str | None:
    """A setting's value; None where it is not set, or where the session does not return it."""
    try:
        return spark.conf.get(key, None)
    except Exception:  # each kind of session has its own
        return None


@contextmanager
def temporarily(
    spark: SparkSession, values: Mapping[str, str], before: Mapping[str, str | None] | None = None
) -> Iterator[None]:
    """Have settings while something works, as far as the session takes them; then what they were.

    `before` is what they were, by default what the session returns. A value that somebody else set
    meanwhile stays: a longer work may go on.
    """
    before = before or {key: setting(spark, key) for key in values}
    for key, value in values.items():
        with suppress(Exception):  # each kind of session has its own
            spark.conf.set(key, value)
    try:
        yield
    finally:
        ours = [key for key, value in values.items() if setting(spark, key) == value]
        _restore(spark, {key: before[key] for key in ours})


@contextmanager
def kept_settings(spark: SparkSession | None) -> Iterator[None]:
    """Sets what every stage relies on for a piece of work in a session that is somebody else's.

    `spark` is that session, by default the active one; where there is none, one that is started
    has the settings already. Afterwards its settings are what they were.

    Raises:
        SetupError: the session would print clinical text into logs and refuses to stop that.
    """
    spark = spark or SparkSession.getActiveSession()
    if spark is None:
        yield
        return
    session = _session_id(spark)
    with _LOCK:
        before = {key: setting(spark, key) for key in REQUIRED}
        count, first = _IN_USE.get(session, (0, before))
        _IN_USE[session] = (count + 1, first)
    try:
        require(spark)
        yield
    finally:
        with _LOCK:
            count, first = _IN_USE.pop(session)
            if count > 1:  # work in another thread goes on
                _IN_USE[session] = (count - 1, first)
            else:
                _restore(spark, first)


def require(spark: SparkSession) -> None:
    """Set what every stage relies on, as far as the session takes it.

    Raises:
        SetupError: the session would print clinical text into logs and refuses to stop that.
    """
    for key, value in REQUIRED.items():
        current = setting(spark, key)
        if current == value:
            continue
        try:
            spark.conf.set(key, value)
        except Exception as error:  # each kind of session has its own
            _refused(key, current, type(error).__name__)


def _refused(key: str, current: str | None, error: str) -> None:
    if key == LOCALS_IN_TRACEBACKS and current is not None:
        raise SetupError(
            f"the Spark session has {key} = {current} and refuses another value ({error}): "
            "tracebacks would print clinical text into executor logs; set it to false where the "
            "session is configured."
        ) from None
    if key == TIME_ZONE:
        _say_once(
            f"the Spark session refuses {key} ({error}), which is {current or 'not reported'}: "
            "times in tables are read in that zone, and their rows are other data than where it is "
            "UTC."
        )


@cache
def _say_once(line: str) -> None:
    LOG.warning(line)


def _session_id(spark: SparkSession) -> object:
    """An id that is equal for two Python objects of one session."""
    try:
        return str(spark._jsparkSession.sessionUUID())
    except Exception:  # a session without a JVM raises what its own library has for it
        return getattr(spark, "session_id", id(spark))


def _restore(spark: SparkSession, before: Mapping[str, str | None]) -> None:
    with suppress(Exception):  # the session may have been stopped meanwhile
        for key, value in before.items():
            if value == setting(spark, key):
                continue
            if value is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, value)
