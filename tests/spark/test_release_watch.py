"""A look by Spark at a published release returns what a look by this process returns."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from medhelm_spark.cli.exit_codes import NO_GO
from tests.unit.watch.served import RELEASE, SUITE, Served

NAMES = ("part", "name", "group_value", "verdict", "n", "before", "now", "low", "p_value")


def lines_of(ward: Served) -> list[tuple[Any, ...]]:
    rows = ward.rows("watch_results")
    return sorted(tuple(map(str, (row[name] for name in NAMES))) for row in rows)


def test_spark_finds_what_this_process_finds(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wards = []
    for name in ("spark", "here"):
        folder = tmp_path / name
        folder.mkdir()
        wards.append(Served(folder, 90, groups=["sex"]))
    by_spark, in_process = wards
    try:
        by_spark.evaluation.run(by_spark.entry, suite=SUITE)
        by_spark.evaluation.releases.publish(RELEASE, SUITE)
        by_spark.lost = in_process.lost = lambda index: index % 3 == 0
        assert by_spark.watch("--margin", "0.05", "--sample", "60") == NO_GO
        assert by_spark.command("verify", RELEASE) == 0
        assert {row["spark_version"] for row in by_spark.rows("runs")} == {spark.version}
        monkeypatch.delenv("MEDHELM_SPARK_SMALL_RUN_REQUESTS", raising=False)
        for module in ("pipeline.in_process", "workspace.workspace"):
            monkeypatch.setattr(f"medhelm_spark.{module}.is_started", lambda: False)
        lost, in_process.lost = in_process.lost, lambda index: False
        in_process.released()
        in_process.lost = lost
        assert in_process.watch("--margin", "0.05", "--sample", "60") == NO_GO
        assert lines_of(in_process) == lines_of(by_spark)
    finally:
        for ward in wards:
            ward.close()
