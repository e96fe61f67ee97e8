"""A lake in a catalog whose settings name a staging folder: slots pull, leases are files there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from medhelm_spark.cli import main
from medhelm_spark.lake.lake import Lake
from medhelm_spark.stages.infer import pulled
from tests.spark.conftest import Site, calls, questions

NAME = "spark_catalog.staged_lake"


@pytest.fixture
def folder(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The staging folder; the catalog is there while the test runs."""
    site.spark.sql("CREATE DATABASE staged_lake")
    monkeypatch.setenv("MEDHELM_SPARK_STAGING_FOLDER", str(tmp_path / "shared"))
    yield tmp_path / "shared"
    site.spark.sql("DROP DATABASE staged_lake CASCADE")


def test_answers_that_wait_in_the_folder_are_committed_and_nothing_is_asked_twice(
    site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = site.folder / "calls.log"
    model = site.deploy("acme/yes", text="yes", log_file=str(log))
    entry = f"{site.benchmark('bench', questions(6))},model={model}"
    location_flags = ["-o", NAME, "--local-path", str(site.folder / "prod_env")]
    run = ["run", "-r", entry, "--suite", "s", "--no-tracking", *location_flags]

    with monkeypatch.context() as killed:
        killed.setattr(pulled.Commits, "commit", lambda self: 0)  # the driver ends before it
        assert main(run) != 0
    assert len(calls(log)) == 6
    waiting = list(folder.glob("*/staged_*/answers/*.parquet"))
    assert waiting and list(folder.glob("*/_leases/*/*"))

    assert main(run) == 0
    assert len(calls(log)) == 6, "answers of the killed run count"
    assert not list(folder.glob("*/staged_*"))
    lake = Lake(site.spark, NAME, str(folder))
    assert lake.staging.names() == []
    assert lake.read("request_results").count() == 6
