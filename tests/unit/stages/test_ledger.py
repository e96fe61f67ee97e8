"""The ledger of finished work reads the records of the units that are asked for."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.stages import INFER, SCORE, SUMMARIZE
from medhelm_spark.errors import NewerLakeError
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.session import Session
from medhelm_spark.lake.tables import SCHEMA_VERSION
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ledger import Ledger
from tests.ledger import scored

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def never() -> SparkSession:
    raise AssertionError("Spark was started")


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    made = Lake(Session(never, "local"), str(tmp_path / "lake"))
    for number in range(3):
        scored(made, "a", f"a{number}", NOW + timedelta(days=number))
    scored(made, "b", "b0", NOW)
    return made


def written(ledger: Ledger, *units: str) -> dict[str, str]:
    return {unit: record.write_id for unit, record in ledger.of(SCORE, units).items()}


def test_of_the_units_that_are_asked_for_the_newest_record_is_read_once(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    rows = Lake.rows

    def noted(self: Lake, sql: str, row_type: Any) -> list[Any]:
        found = rows(self, sql, row_type)
        read.append(len(found) if row_type is RunRecord else 0)
        return found

    monkeypatch.setattr(Lake, "rows", noted)
    ledger = Ledger(lake)
    assert written(ledger, "a", "absent") == {"a": "a2"}
    assert written(ledger, "a", "absent") == {"a": "a2"}
    assert ledger.of(SUMMARIZE, ["a"]) == {}
    assert sum(read) == 1
    assert written(ledger, "b", "a") == {"a": "a2", "b": "b0"}
    assert sum(read) == 2
    assert set(ledger.all()) == {(SCORE.name, "a"), (SCORE.name, "b")}


def test_what_this_driver_recorded_is_current_whatever_is_read_later(lake: Lake) -> None:
    ctx = Context(lake=lake, suite="s")
    ctx.record(SCORE, {"b": "mine"}, "b1", NOW)
    scored(lake, "b", "b2", datetime.now(UTC) + timedelta(days=1))
    assert ctx.finished(SCORE, ["b"])["b"].write_id == "b1"
    assert {key: row.write_id for key, row in ctx.ledger.all().items()} == {
        (SCORE.name, "a"): "a2",
        (SCORE.name, "b"): "b1",
    }
    assert written(Ledger(lake), "b") == {"b": "b2"}, "another driver reads the other's"


def test_a_unit_whose_name_needs_escaping_is_found_too(lake: Lake) -> None:
    scored(lake, "it's / one", "w", NOW)
    assert written(Ledger(lake), "it's / one", "a") == {"a": "a2", "it's / one": "w"}


def test_the_jobs_of_inference_of_a_suite_are_read(lake: Lake) -> None:
    for number in range(3):
        scored(lake, f"acme/m|x|w{number}", f"w{number}", NOW, stage=INFER.name)
    ledger = Ledger(lake)
    assert {record.write_id for record in ledger.inference_records("s")} == {"w0", "w1", "w2"}
    assert ledger.inference_records("other") == []


def test_a_lake_of_a_newer_schema_is_refused_whatever_is_asked_for(lake: Lake) -> None:
    (newest,) = Ledger(lake).of(SCORE, ["b"]).values()
    newer = replace(newest, unit_id="c", schema_version=SCHEMA_VERSION + 1)
    lake.append_rows("runs", [newer], "c0")
    for ask in (Ledger(lake).check, Ledger(lake).all, lambda: Ledger(lake).of(SCORE, ["a"])):
        with pytest.raises(NewerLakeError):
            ask()
