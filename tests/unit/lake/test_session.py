"""When a session starts, and what one that is somebody else's keeps; no JVM is started."""

import logging
import signal
import threading
from types import SimpleNamespace
from typing import Any, cast

import pyspark
import pytest
from pyspark.sql import SparkSession

from medhelm_spark.errors import SetupError
from medhelm_spark.lake import session as sessions
from medhelm_spark.lake.file_permissions import Permissions
from medhelm_spark.lake.interrupts import CANCELLER, PY4J_MESSAGES
from medhelm_spark.lake.session import Session, check_spark, makes_secret
from medhelm_spark.lake.settings import (
    LOCALS_IN_TRACEBACKS,
    REQUIRED,
    _say_once,
    kept_settings,
    setting,
    temporarily,
)

ZONE = "spark.sql.session.timeZone"


class Conf:
    def __init__(self, refused: str | None = None) -> None:
        self.settings: dict[str, str] = {ZONE: "America/New_York"}
        self._refused = refused

    def get(self, key: str, default: str | None = None) -> str | None:
        return self.settings.get(key, default)

    def set(self, key: str, value: str) -> None:
        if key == self._refused:
            raise RuntimeError("CONFIG_NOT_AVAILABLE")
        self.settings[key] = value

    def unset(self, key: str) -> None:
        self.settings.pop(key, None)


class Held:
    def __init__(self, refused: str | None = None) -> None:
        self.conf = Conf(refused)
        self.session_id = object()


def session(refused: str | None = None) -> tuple[SparkSession, dict[str, str]]:
    made: Any = Held(refused)
    return cast(SparkSession, made), made.conf.settings


def test_settings_hold_while_something_works_and_are_put_back() -> None:
    spark, settings = session()
    before = dict(settings)
    with pytest.raises(ValueError, match="x"), kept_settings(spark):
        assert settings == REQUIRED
        with kept_settings(spark):
            assert settings == REQUIRED
        assert settings == REQUIRED, "work goes on"
        raise ValueError("x")
    assert settings == before


def test_work_that_ends_leaves_other_work_in_the_session_alone() -> None:
    spark, settings = session()
    first, second = kept_settings(spark), kept_settings(spark)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert settings == REQUIRED
    second.__exit__(None, None, None)
    assert settings == {ZONE: "America/New_York"}


def test_a_refused_time_zone_is_said_once_and_ends_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    _say_once.cache_clear()
    spark, settings = session(refused=ZONE)
    before = dict(settings)
    for _ in range(2):
        with kept_settings(spark):
            assert settings == REQUIRED | {ZONE: "America/New_York"}, "the others are set"
    assert settings == before
    (line,) = caplog.messages
    assert line.startswith(f"the Spark session refuses {ZONE} (RuntimeError), which is America/New")


def test_a_session_that_neither_tells_nor_takes_a_setting_works() -> None:
    spark, settings = session(refused=None)

    def refuse(*_: object) -> None:
        raise RuntimeError("CONFIG_NOT_AVAILABLE")

    conf: Any = spark.conf
    conf.get = conf.set = conf.unset = refuse
    with kept_settings(spark), temporarily(spark, {"spark.sql.ansi.enabled": "true"}):
        assert setting(spark, ZONE) is None
    assert settings == {ZONE: "America/New_York"}


def test_a_session_that_keeps_printing_local_variables_is_refused() -> None:
    spark, settings = session(refused=LOCALS_IN_TRACEBACKS)
    with kept_settings(spark):
        pass
    settings[LOCALS_IN_TRACEBACKS] = "true"
    with pytest.raises(SetupError, match="clinical text into executor logs"), kept_settings(spark):
        pass


def test_a_setting_for_a_while_is_put_back() -> None:
    spark, settings = session()
    with temporarily(spark, {ZONE: "UTC"}), temporarily(spark, {"a": "b", "c": "d"}):
        assert settings == {ZONE: "UTC", "a": "b", "c": "d"}
    assert settings == {ZONE: "America/New_York"}


def test_a_value_that_somebody_else_set_meanwhile_stays() -> None:
    spark, settings = session()
    with temporarily(spark, {ZONE: "UTC", "a": "b"}):
        settings["a"] = "theirs"
    assert settings == {ZONE: "America/New_York", "a": "theirs"}


@pytest.mark.parametrize("version", ["3.5.6", "2.4.8"])
def test_a_spark_that_is_too_old_is_refused_in_one_sentence(version: str) -> None:
    with pytest.raises(SetupError, match=rf"^Spark {version} is too old; allowed: 4.0 to 4.2, .*"):
        check_spark(version)


def test_supported_and_newer_sparks_are_taken() -> None:
    for version in ("4.0.0", "4.0.2-amzn-0", "4.2.0", "4.3.0", "10.1"):
        check_spark(version)


@pytest.mark.parametrize(
    ("master", "makes"),
    [
        ("local", True),
        ("local[*,4]", True),
        ("yarn", True),
        ("k8s://https://host:6443", True),
        ("spark://host:7077", False),
        ("local-cluster[2,1,1024]", False),
    ],
)
def test_spark_makes_the_secret_of_its_ports_except_on_a_standalone_cluster(
    master: str, makes: bool
) -> None:
    assert makes_secret(master) is makes


def test_a_session_is_started_by_its_first_use_and_not_before() -> None:
    def start() -> SparkSession:
        raise SetupError("started")

    session = Session(start, "local[2]")
    session.expect_rows(1_000_000)
    assert session.master == "local[2]"
    assert session.version == pyspark.__version__
    with pytest.raises(SetupError, match="started"):
        _ = session.spark
    with pytest.raises(SetupError, match="started"):
        Session(start)  # only the session has its master


@pytest.mark.usefixtures("as_in_a_terminal")
def test_a_submitted_job_is_interrupted_as_one_of_ours(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """PySpark's own handler asks the JVM on the connection that the interrupted call waits on."""
    calls: list[str] = []
    failed: list[threading.ExceptHookArgs] = []

    def cancel() -> None:
        calls.append("cancel")
        raise ConnectionError("the JVM ends by the same signal")

    spark = SimpleNamespace(sparkContext=SimpleNamespace(cancelAllJobs=cancel))
    builder = SimpleNamespace(getOrCreate=lambda: spark)
    monkeypatch.setattr(sessions, "_configured", lambda *_: builder)
    monkeypatch.setattr(threading, "excepthook", failed.append)
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    started = sessions._start({}, "a", Permissions.PRIVATE, is_encrypted=True, log_file=None)
    assert cast(Any, started) is spark
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    for thread in threading.enumerate():
        if thread.name == CANCELLER:
            thread.join(10)
    assert calls == ["cancel"] and not failed
    for message in PY4J_MESSAGES:
        logging.exception(message)
    logging.error("something else")
    assert [record.msg for record in caplog.records] == ["something else"]


def test_a_session_that_does_not_start_is_told_by_javas_innermost_reason() -> None:
    inner = SimpleNamespace(toString=lambda: "Could not parse\n\tat x", getCause=lambda: None)
    outer = SimpleNamespace(toString=lambda: "outer", getCause=lambda: inner)
    error = RuntimeError()
    error.java_exception = outer  # type: ignore[attr-defined]
    reason = str(sessions._not_started("sparks://ward:7077", error))
    assert "spark.master 'sparks://ward:7077' (Could not parse); allowed: local" in reason
    assert "(ValueError)" in str(sessions._not_started("local", ValueError("x")))
