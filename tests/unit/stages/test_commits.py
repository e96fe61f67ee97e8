"""Answers in files become rows once, whatever ends between; a slot that ended asks the rest."""

import shutil
import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from medhelm_spark.domain.stages import INFER
from medhelm_spark.engines.outcome import answered, completion
from medhelm_spark.errors import LakeError
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.session import Session
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.commits import Commits
from medhelm_spark.stages.infer.dispatcher import Chunk
from medhelm_spark.stages.infer.order_folder import OrderFolder
from tests.unit.engines.nouns import request
from tests.unit.stages.test_pulling import order, ordered

WRITE = "w"


def never() -> SparkSession:
    raise AssertionError("Spark was started")


@pytest.fixture
def ctx(tmp_path: Path) -> Context:
    lake = Lake(Session(never, "local"), str(tmp_path / "lake"))
    return Context(lake=lake, suite="s").within(INFER)


@pytest.fixture
def folder(tmp_path: Path) -> OrderFolder:
    made = OrderFolder(str(tmp_path / "order"))
    made.make()
    return made


def answer(folder: OrderFolder, file: str, *names: str) -> None:
    results = [
        answered(request(name=name), (completion("yes", "stop"),), "{}", request_time=0.0)
        for name in names
    ]
    folder.write_answers(file, results)


def rows(ctx: Context) -> list[str]:
    table = ctx.lake._tables.few("request_results")
    assert table is not None
    return sorted(table["request_id"].to_pylist())


def test_a_commit_that_is_made_twice_is_one(
    ctx: Context, folder: OrderFolder, tmp_path: Path
) -> None:
    """As where a driver ends after its commit and before it removes what was committed."""
    commits = Commits(ctx, folder, WRITE)
    answer(folder, "0-0", "a", "b")
    (name,) = folder.take_answers()
    shutil.copytree(folder.commit(name), tmp_path / "kept")
    assert commits.commit() == 2
    shutil.copytree(tmp_path / "kept", folder.commit(name))
    answer(folder, "0-1", "c")
    Commits(ctx, folder, WRITE).commit()
    assert rows(ctx) == ["a", "b", "c"]
    assert not folder.commits()


def test_answers_of_each_group_are_committed_while_it_is_asked(
    ctx: Context, folder: OrderFolder
) -> None:
    commits = Commits(replace(ctx, commit_seconds=0.0), folder, WRITE)
    for group in range(2):
        with commits.under_way():
            answer(folder, f"{group}-0", f"a{group}")
            deadline = time.monotonic() + 30
            while folder.count_files() and time.monotonic() < deadline:
                time.sleep(0.1)
            assert not folder.count_files()
    assert rows(ctx) == ["a0", "a1"]


def test_many_answers_are_several_commits(
    ctx: Context, folder: OrderFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a driver with many uncommitted answers does not read all of them at once."""
    monkeypatch.setattr("medhelm_spark.stages.infer.order_folder.MOST_FILES", 2)
    for number in range(5):
        answer(folder, f"0-{number}", f"a{number}")
    assert Commits(ctx, folder, WRITE).commit() == 5
    assert rows(ctx) == ["a0", "a1", "a2", "a3", "a4"]
    assert ctx.lake.version("request_results") == 3  # made, and three commits
    assert not folder.commits()


def test_answers_that_cannot_be_committed_stay_and_count_as_kept(
    ctx: Context, folder: OrderFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits = Commits(ctx, folder, WRITE)
    answer(folder, "0-0", "a")

    def refuses(*_: object, **__: object) -> bool:
        raise OSError("no space")

    with monkeypatch.context() as patch:
        patch.setattr(ctx.lake._tables, "append", refuses)
        with pytest.raises(LakeError, match="could not be committed"):
            commits.commit()
    assert commits.stored == 1
    assert commits.commit() == 1
    assert commits.stored == 1
    assert rows(ctx) == ["a"]


def test_of_a_chunk_whose_slot_ended_what_has_no_answer_is_left(
    ctx: Context, folder: OrderFolder
) -> None:
    (chunk,) = order(folder, [ordered("m", n) for n in range(5)])
    assert isinstance(chunk, Chunk)
    commits = Commits(ctx, folder, WRITE)
    answer(folder, "0-0", "m-0", "m-3")
    commits.commit()
    answer(folder, "0-1", "m-1")
    (rest,) = commits.unanswered([chunk])
    assert [folder.request_ids(rest)[row] for row in rest.rows] == ["m-2", "m-4"]
    answer(folder, "0-2", "m-2", "m-4")
    assert commits.unanswered([chunk]) == []


def test_answers_that_another_driver_committed_meanwhile_are_no_error(
    ctx: Context, folder: OrderFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(folder, "0-0", "a")
    answer(folder, "0-1", "b")
    other = Commits(ctx, folder, WRITE)
    read = pq.read_table

    def late(path: Path, **options: object) -> pa.Table:
        monkeypatch.undo()
        assert other.commit() == 2
        return read(path, **options)

    monkeypatch.setattr(pq, "read_table", late)
    assert Commits(ctx, OrderFolder(folder.root), WRITE).commit() == 0
    assert rows(ctx) == ["a", "b"]


def test_a_folder_that_another_driver_removes_meanwhile_has_nothing_to_take(
    folder: OrderFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(folder, "0-0", "a")
    files = folder._answer_files()
    monkeypatch.setattr(OrderFolder, "_answer_files", lambda self: files)
    shutil.rmtree(folder.root)
    assert folder.take_answers() == []


def test_answers_of_a_version_that_lacked_a_column_are_committed(
    ctx: Context, folder: OrderFolder
) -> None:
    answer(folder, "0-0", "a")
    (path,) = Path(folder.root, "answers").glob("*.parquet")
    pq.write_table(pq.read_table(path).drop_columns(["reason"]), path)
    answer(folder, "0-1", "b")
    assert Commits(ctx, folder, WRITE).commit() == 2
    assert rows(ctx) == ["a", "b"]
