"""This process has in memory what it reads, and reads the rows of its own requests alone."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import Prompt, RequestResult
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.in_process import LocalFrame
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.session import Session
from medhelm_spark.stages import context
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.states import prompts_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OWN = LocalFrame(pa.table({"request_id": ["r1", "r3", None], "prompt_id": ["p1", "p3", "p3"]}))


def never() -> SparkSession:
    raise AssertionError("Spark was started")


def result(number: int) -> RequestResult:
    return RequestResult(
        request_id=f"r{number}",
        model_deployment="m",
        access_level=AccessLevel.PRIVATE,
        completed_at=NOW,
        engine_fingerprint="e",
        completions=(),
    )


def prompt(number: int) -> Prompt:
    return Prompt(
        prompt_id=f"p{number}",
        render_id="x",
        subject_id=f"i{number}",
        perturbation="",
        train_trial_index=0,
        access_level=AccessLevel.PRIVATE,
        text="note",
        num_characters=4,
        num_train_instances=0,
    )


@pytest.fixture
def ctx(tmp_path: Path) -> Context:
    lake = Lake(Session(never, "local"), str(tmp_path / "lake")).in_process()
    lake.append_rows("request_results", map(result, range(5)), "w")
    lake.append_rows("prompts", map(prompt, range(5)), "w")
    return Context(lake=lake, suite="s")


@pytest.fixture
def rows_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each reading of a table brought into memory."""
    numbers, read = [], FileTables.read

    def counted(self: FileTables, *arguments: Any) -> pa.Table:
        rows = read(self, *arguments)
        numbers.append(rows.num_rows)
        return rows

    monkeypatch.setattr(FileTables, "read", counted)
    return numbers


def ids(frame: object, column: str) -> list[str]:
    assert isinstance(frame, LocalFrame)
    return sorted(frame.rows[column].to_pylist())


@pytest.mark.parametrize(("most", "read"), [(3, 2), (2, 5)])
def test_results_and_prompts_of_other_requests_are_not_read(
    ctx: Context, rows_read: list[int], monkeypatch: pytest.MonkeyPatch, most: int, read: int
) -> None:
    monkeypatch.setattr(context, "MOST_IDS", most)
    assert ids(ctx.tried(["m"], OWN), "request_id") == ["r1", "r3"]
    assert ids(prompts_of(ctx, OWN, None), "prompt_id") == ["p1", "p3"]
    assert rows_read == [read, read]
