"""A check of a jury by Spark asks the same requests and comes to the same lines as in process."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.unit.judge_checks.ward import Ward


def lines_of(check: Any) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = json.loads(check.render("json"))["lines"]
    return lines


def test_spark_asks_what_this_process_asks(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_spark = Ward(tmp_path / "spark", "obeys").run().rate()
    spark_check = by_spark.check(items=20)
    assert {row["spark_version"] for row in by_spark.rows("runs")} == {spark.version}
    monkeypatch.delenv("MEDHELM_SPARK_SMALL_RUN_REQUESTS")
    for module in ("pipeline.in_process", "workspace.workspace"):
        monkeypatch.setattr(f"medhelm_spark.{module}.is_started", lambda: False)
    in_process = Ward(tmp_path / "here", "obeys").run().rate()
    assert lines_of(in_process.check(items=20)) == lines_of(spark_check)
    assert len(in_process.asked) == len(by_spark.asked) == len(set(by_spark.asked))
