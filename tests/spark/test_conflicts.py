"""Another writer changes a table while slots ask: every answer is stored, none is asked twice."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import functions as F

from medhelm_spark.cli import main
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import RequestResult
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.lake.staging import staged_name
from tests.spark.conftest import Site, calls, questions
from tests.spark.test_lost_lease import once, slow, way

__all__ = ["way"]

COUNT = 60
RESULTS = "request_results"
CHANGED = {"delta.logRetentionDuration": "interval 40 days"}


def results(site: Site) -> DeltaTable:
    return DeltaTable(str(site.lake_path / RESULTS))


def staged(site: Site) -> list[str]:
    folder = site.lake_path / "_staged"
    return [path.name for path in folder.iterdir()] if folder.is_dir() else []


@pytest.mark.long
def test_alter_table_and_optimize_while_slots_ask_cost_no_answer(
    site: Site, way: str, tmp_path: Path
) -> None:
    log = tmp_path / "calls.log"
    before = site.deploy("acme/before", text="yes")
    for number in range(2):  # two files to be made one
        bench = site.benchmark(f"before{number}", questions(4)[2 * number :][:2])
        assert site.run("-r", f"{bench},model={before}") == 0

    def alter_and_optimize() -> None:
        results(site).alter.set_table_properties(CHANGED)
        results(site).optimize.compact()

    with once(log, 5, alter_and_optimize):
        assert site.run("-r", slow(site, log)) == 0
    assert len(site.rows(RESULTS)) == COUNT + 4
    assert len(calls(log)) == COUNT
    operations = [commit["operation"] for commit in results(site).history()]
    assert {"SET TBLPROPERTIES", "OPTIMIZE"} <= set(operations)
    assert not staged(site)


@pytest.mark.long
def test_answers_that_cannot_be_committed_are_kept_and_committed_by_the_next_run(
    site: Site, way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "calls.log"
    entry = slow(site, log)

    def forbid() -> None:
        results(site).alter.add_constraint({"nobody": "write_id = 'nobody'"})

    with once(log, 5, forbid):
        assert site.run("-r", entry) == 1
    stderr = capsys.readouterr().err
    assert "rows for 'request_results' could not be committed" in stderr
    (name,) = staged(site)
    assert f"are kept in {site.lake_path}/_staged/{name}/commit-" in stderr
    assert "; cure that, and the same command" in stderr
    assert not site.rows(RESULTS)
    assert main(["gc", "-o", str(site.lake_path)]) == 0
    assert "gc: suite 's': answers of 1 staged write" in capsys.readouterr().err
    assert staged(site) == [name]
    results(site).alter.drop_constraint("nobody")
    assert site.run("-r", entry) == 0
    assert f"infer: {COUNT} results of an interrupted run committed" in capsys.readouterr().err
    assert len(calls(log)) == COUNT, "nobody was asked again"
    assert len(site.rows(RESULTS)) == COUNT
    assert not staged(site)


class Altering:
    """Rows as they are; signals that a commit has begun, and waits for another writer's."""

    def __init__(self, folder: Path) -> None:
        self.begun, self.done = folder / "begun", folder / "done"

    def __call__(self, rows):
        self.begun.touch()
        while not self.done.exists():
            threading.Event().wait(0.05)
        yield from rows


def while_committing(altering: Altering, act: Callable[[], None]) -> threading.Thread:
    def wait() -> None:
        while not altering.begun.exists():
            threading.Event().wait(0.05)
        act()
        altering.done.touch()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_commit_that_met_another_writers_is_made_again(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    lake: Lake = site.lake
    lake.ensure(RESULTS)
    row = RequestResult(
        request_id="r1",
        model_deployment="m",
        access_level=AccessLevel.PUBLIC,
        completed_at=datetime(2026, 1, 1, tzinfo=UTC),
        engine_fingerprint="{}",
    )
    altering = Altering(tmp_path)
    full = lake.frame([row], RequestResult)
    slowly = map_rows(full, altering, RequestResult, RequestResult)
    thread = while_committing(altering, lambda: results(site).alter.set_table_properties(CHANGED))
    assert lake.append(RESULTS, slowly, "w", txn=("once", 1))
    thread.join()
    assert [one["request_id"] for one in site.rows(RESULTS)] == ["r1"]
    operations = [commit["operation"] for commit in results(site).history()]
    assert operations[:2] == ["WRITE", "SET TBLPROPERTIES"]
    assert lake.append(RESULTS, full, "w", txn=("once", 1)), "skipped by Delta"
    assert len(site.rows(RESULTS)) == 1


def test_what_a_killed_driver_staged_is_committed_and_a_living_ones_is_left(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "calls.log"
    model = site.deploy("acme/yes", text="yes", log_file=str(log))
    entry = f"{site.benchmark('bench', questions(3))},model={model}"
    assert site.run("-r", entry) == 0
    rows = site.lake.read(RESULTS)
    before = len(calls(log))
    for suite, holder in (("s", "gone:1:x"), ("other", "gone:1:x")):
        name = staged_name(suite, holder, f"write{suite}")
        site.lake.staging.write(name, rows.withColumn("write_id", F.lit(f"write{suite}")))
    more = f"{site.benchmark('more', questions(5))},model={model}"
    assert site.run("-r", more) == 0
    assert len(calls(log)) == before + 2, "three of the five questions are the same"
    assert staged(site) == [staged_name("other", "gone:1:x", "writeother")]
    assert len(site.rows(RESULTS)) == 3 + 3 + 2
