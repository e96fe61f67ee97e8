"""When a session starts, and what one that is somebody else's keeps; no JVM is started."""

from typing import Any, cast

import pyspark
import pytest
from pyspark.sql import SparkSession

from medhelm_spark.errors import SetupError
from medhelm_spark.lake.session import REQUIRED, Session, kept_settings, makes_secret

ZONE = "spark.sql.session.timeZone"


class Conf:
    def __init__(self, refused: str | None = None) -> None:
        self.held: dict[str, str] = {ZONE: "America/New_York"}
        self._refused = refused

    def get(self, key: str, default: str | None = None) -> str | None:
        return self.held.get(key, default)

    def set(self, key: str, value: str) -> None:
        if key == self._refused:
            raise RuntimeError("CONFIG_NOT_AVAILABLE")
        self.held[key] = value

    def unset(self, key: str) -> None:
        self.held.pop(key, None)


class Held:
    def __init__(self, refused: str | None = None) -> None:
        self.conf = Conf(refused)
        self.session_id = object()


def session(refused: str | None = None) -> tuple[SparkSession, dict[str, str]]:
    made: Any = Held(refused)
    return cast(SparkSession, made), made.conf.held


def test_settings_hold_while_something_works_and_are_put_back() -> None:
    spark, held = session()
    before = dict(held)
    with pytest.raises(ValueError, match="x"), kept_settings(spark):
        assert held == REQUIRED
        with kept_settings(spark):
            assert held == REQUIRED
        assert held == REQUIRED, "work goes on"
        raise ValueError("x")
    assert held == before


def test_work_that_ends_leaves_other_work_in_the_session_alone() -> None:
    spark, held = session()
    first, second = kept_settings(spark), kept_settings(spark)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert held == REQUIRED
    second.__exit__(None, None, None)
    assert held == {ZONE: "America/New_York"}


def test_a_session_that_refuses_a_setting_is_one_sentence() -> None:
    spark, held = session(refused=ZONE)
    before = dict(held)
    with (
        pytest.raises(SetupError, match=f"refuses {ZONE} .RuntimeError.; set it to UTC where"),
        kept_settings(spark),
    ):
        pass
    assert held == before
    held.update(REQUIRED)
    with kept_settings(spark):
        assert held == REQUIRED, "what is there already need not be set"


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
        Session(start)  # only the session knows its master
