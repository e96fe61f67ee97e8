"""This process has in memory what it reads, and reads the rows of its own requests alone."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.request import Prompt, RequestResult
from medhelm_spark.domain.scenario import HashedText, Instance
from medhelm_spark.domain.split import Split
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.in_process import LocalFrame
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.session import Session
from medhelm_spark.stages import context
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.stored_levels import stored_stricter
from medhelm_spark.stages.states import prompts_of
from tests.unit.governance.test_disclosures import version

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
def tables_read(monkeypatch: pytest.MonkeyPatch) -> list[pa.Table]:
    """What each reading of a table brought into memory."""
    tables, read = [], FileTables.read

    def noted(self: FileTables, *arguments: Any) -> pa.Table:
        tables.append(read(self, *arguments))
        return tables[-1]

    monkeypatch.setattr(FileTables, "read", noted)
    return tables


def ids(frame: object, column: str) -> list[str]:
    assert isinstance(frame, LocalFrame)
    return sorted(frame.rows[column].to_pylist())


@pytest.mark.parametrize(("most", "whole", "read"), [(3, 0, 2), (2, 0, 5), (3, 1 << 20, 5)])
def test_results_and_prompts_of_other_requests_are_not_read_of_large_tables(
    ctx: Context,
    tables_read: list[pa.Table],
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    whole: int,
    read: int,
) -> None:
    monkeypatch.setattr(context, "MOST_IDS", most)
    monkeypatch.setattr(context, "READ_WHOLE", whole)
    assert ids(ctx.tried(["m"], OWN), "request_id") == ["r1", "r3"]
    assert ids(prompts_of(ctx, OWN, None), "prompt_id") == ["p1", "p3"]
    assert [table.num_rows for table in tables_read] == [read, read]


def test_hashes_of_stricter_text_are_read_without_the_text(
    ctx: Context, tables_read: list[pa.Table]
) -> None:
    note = Instance(
        scenario_name="notes",
        data_version="v",
        instance_id="i",
        source_index=0,
        source_id="i",
        split=Split.TEST,
        input="a note",
        references=(),
        access_level=AccessLevel.PRIVATE,
        text_hashes=(7,),
    )
    ctx.lake.append_rows("instances", [note], "w")
    ctx.lake.append_rows("scenarios", [version("v", AccessLevel.PRIVATE)], "w")
    same = HashedText(
        scenario_name="public",
        file=0,
        row=0,
        access_level=AccessLevel.PUBLIC,
        text_hashes=(7,),
    )
    found = stored_stricter(ctx, AccessLevel.PUBLIC, lambda: ctx.lake.frame([same], HashedText))
    assert [(row.scenario_name, row.access_level) for row in found] == [("public", "private")]
    assert [set(table.column_names) & {"input", "messages"} for table in tables_read] == [set()]


def test_which_prompts_are_known_is_read_without_their_text(
    ctx: Context, tables_read: list[pa.Table]
) -> None:
    assert ids(ctx.prompts(["x"]), "prompt_id") == [f"p{number}" for number in range(5)]
    assert [set(table.column_names) & {"text", "messages"} for table in tables_read] == [set()]
