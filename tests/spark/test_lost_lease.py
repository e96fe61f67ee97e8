"""Orders that take longer than a lease, and a driver that another one has taken over from."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from medhelm_spark.lake import lease
from medhelm_spark.lake.driver_files import HadoopFiles
from medhelm_spark.lake.lease import LeaseTimes
from medhelm_spark.lake.lease_store import lease_store
from medhelm_spark.lake.tables import Lease
from tests.spark.conftest import Site, calls, questions

COUNT = 60
DELAY = 0.25
"""Seconds that an answer takes."""
AS_ON_A_CLUSTER = "HADOOP_CONF_DIR"
"""Where it is set, a folder is taken for a cluster's: nothing goes past Spark."""


@pytest.fixture(params=["by files", "by Spark"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    if request.param == "by Spark":
        monkeypatch.setenv(AS_ON_A_CLUSTER, str(tmp_path))
    return str(request.param)


@contextmanager
def once(log: Path, count: int, act: Callable[[], None]) -> Iterator[None]:
    """Acts in another thread when so many calls were made."""
    stop = threading.Event()

    def wait() -> None:
        while len(calls(log)) < count:
            if stop.wait(0.05):
                return
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def final_call_count(log: Path) -> int:
    """The calls once none has come for many times what one takes, or all have.

    A Python worker of Spark has two seconds to end, and a busy machine takes longer to look.
    """
    previous = -1
    while previous != (now := len(calls(log))) and now < COUNT:
        previous = now
        threading.Event().wait(10 * DELAY)
    return now


def slow(site: Site, log: Path) -> str:
    """All cores are busy for some eight seconds, in one order."""
    model = site.deploy("acme/slow", text="yes", log_file=str(log), delay=DELAY, max_concurrency=2)
    return f"{site.benchmark('bench', questions(COUNT))},model={model}"


@pytest.mark.long
def test_an_order_longer_than_its_lease_keeps_it(
    site: Site, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "TIMES", LeaseTimes(lifetime=2.0, heartbeat=0.5, watched=1.0))
    log, lease_states = tmp_path / "calls.log", []
    entry = slow(site, log)

    def look() -> None:
        _, newest = lease_store(site.lake).newest("s")
        lease_states.append(newest["acme/slow"].expires_at > datetime.now(UTC))

    with once(log, COUNT - 10, look):
        assert site.run("-r", entry) == 0
    assert lease_states == [True], "it was renewed though no core was free"
    assert len(calls(log)) == COUNT


@pytest.mark.long
def test_a_driver_that_lost_its_lease_ends_its_order(
    site: Site,
    way: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(lease, "TIMES", LeaseTimes(lifetime=20.0, heartbeat=0.3, watched=1.0))
    log = tmp_path / "calls.log"
    entry = slow(site, log)

    def take_over() -> None:
        store, at = lease_store(site.lake), datetime.now(UTC)
        version, newest = store.newest("s")
        while newest["acme/slow"].holder != "elsewhere:1:x":  # a renewal may come first
            other = Lease(
                suite="s",
                version=version + 1,
                model_deployment="acme/slow",
                holder="elsewhere:1:x",
                claimed_at=at,
                expires_at=at + timedelta(seconds=2),
            )
            store.add("s", version + 1, {"acme/slow": other})
            version, newest = store.newest("s")

    with once(log, 6, take_over):
        assert site.run("-r", entry) == 1
    stderr = capsys.readouterr().err
    assert (
        "another driver (elsewhere:1:x) has taken 'acme/slow' over, so this one stopped" in stderr
    )
    assert "Traceback" not in stderr
    assert final_call_count(log) < COUNT - 10, "the rest of the order is not sent"
    assert site.run("-r", entry) == 0
    assert site.board()[0]["count"] == COUNT


def test_files_of_a_store_that_only_spark_reaches(spark: SparkSession, tmp_path: Path) -> None:
    files = HadoopFiles(spark, f"file:{tmp_path}/lake")
    assert files.is_local
    assert files.names("a") == []
    assert files.read("a/1") is None
    assert files.create("a/1", b"one")
    assert not files.create("a/1", b"two")
    assert files.create("a/2", b"")
    assert (files.read("a/1"), files.read("a/2")) == (b"one", b"")
    assert files.names("a") == ["1", "2"]
    files.remove("a/1")
    files.remove("a/1")
    assert files.names("a") == ["2"]
    files.remove("a")
    assert files.names("a") == []
