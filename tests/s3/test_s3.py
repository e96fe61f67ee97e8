"""A lake in a bucket: the same numbers as in a folder, and one driver at a time."""

import time
from pathlib import Path

import pytest

from tests.lakes import stats
from tests.s3.conftest import Bucket, Store
from tests.spark.conftest import calls, questions

pytestmark = pytest.mark.timeout(1800)
"""A commit to the server, which is Python on this machine, takes a second."""


def test_the_demo_in_a_bucket_gives_the_same_stats(
    bucket: Bucket, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = bucket.run("demo", "-o", bucket.lake, "--no-tracking")
    assert "60 model calls" in output
    bucket.run("demo", "-o", "lake", "--no-tracking")
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    assert stats(bucket.lake) == stats(bucket.site.folder / "lake")
    # The board of a bucket needs neither Spark nor Java.
    board = bucket.run("leaderboard", "--suite", "demo", "-o", bucket.lake, JAVA_HOME="/nowhere")
    assert "TRIAGE-CHOICE" in board and "0.417" in board


def test_slots_pull_by_a_staging_folder_and_a_killed_driver_loses_what_was_in_flight(
    bucket: Bucket, tmp_path: Path
) -> None:
    log, staging = tmp_path / "calls.log", tmp_path / "shared"
    model = bucket.site.deploy("acme/slow", text="yes", log_file=str(log), delay=0.5)
    entry = f"{bucket.site.benchmark('bench', questions(40))},model={model}"
    run = ("run", "-r", entry, "-o", bucket.lake, "--no-tracking", "--suite", "s")
    variables = {
        "MEDHELM_SPARK_STAGING_FOLDER": str(staging),
        "MEDHELM_SPARK_CHUNK_REQUESTS": "4",
        "MEDHELM_SPARK_SLOTS": "2",
    }
    first = bucket.start(*run, **variables)
    while not list(staging.glob("*/staged_*/answers/[!.]*.parquet")):
        assert first.poll() is None, first.communicate()[0][-4000:]
        time.sleep(0.2)
    first.kill()
    first.communicate()
    output = bucket.run(*run, **variables)
    assert "of an interrupted run committed" in output
    assert len(set(calls(log))) == 40
    assert len(calls(log)) <= 40 + 2 * (4 + 4), "in flight, and one chunk, for each slot"
    assert not list(staging.glob("*/staged_*"))
    assert "0 model calls" in bucket.run(*run, **variables)


def test_a_second_driver_is_refused_while_the_first_runs(bucket: Bucket, tmp_path: Path) -> None:
    """Whatever its suite: two could overwrite each other's commits to any table."""
    log = tmp_path / "calls.log"
    model = bucket.site.deploy("acme/slow", text="yes", log_file=str(log), delay=1.0)
    entry = f"{bucket.site.benchmark('bench', questions(20))},model={model}"
    run = ("run", "-r", entry, "-o", bucket.lake, "--no-tracking")
    first = bucket.start(*run, "--suite", "first", MEDHELM_SPARK_CHUNK_REQUESTS="4")
    while not log.exists():
        assert first.poll() is None, first.communicate()[0][-4000:]
        time.sleep(0.2)
    refused = bucket.run(*run, "--suite", "second", ends=1)
    assert "one driver at a time" in refused
    output, _ = first.communicate(timeout=500)
    assert first.returncode == 0, output[-4000:]
    assert len(calls(log)) == 20
    assert "0 model calls" in bucket.run(*run, "--suite", "second")
