"""A lake that grows old: the same numbers however much is read, and whoever reads it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from medhelm_spark import Evaluation
from medhelm_spark.lake import files, maintenance
from medhelm_spark.lake.condition import one_of
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.session import Session
from medhelm_spark.stages import states
from tests.ledger import scored
from tests.spark.conftest import Site, calls, questions

SHOWN = ("mean", "count", "num_unscored", "ci_low", "ci_high", "jury_evidence")
RUBRIC = '<rubric_criteria>{"clarity": ["score"]}</rubric_criteria>\n{RESPONSE} to {QUESTION}'


def by_spark_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is few: every join is made, and Spark reads every table."""
    monkeypatch.setattr(states, "FEW_ASKED", 0)
    for name in ("FEW_ROWS", "FEW_TEXTS", "PROBED_BYTES"):
        monkeypatch.setattr(files, name, 0)


def come_to(site: Site, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...]:
    """What two suites come to that ask a model and a judge, the first of them fewer questions."""
    monkeypatch.chdir(site.folder)
    log = site.folder / "calls.log"
    model = site.deploy("acme/m", mode="choice", choices=["yes", "no"], log_file=str(log))
    site.deploy("acme/kind", mode="judge", score=4, log_file=str(log))
    jury = {
        "name": "jury_score",
        "prompt_file": "judge.txt",
        "judges": [{"name": "acme/kind", "model_name": "acme/kind"}],
    }
    entry = site.benchmark(
        "bench", questions(8), metrics=["exact_match", jury], judge_prompt=RUBRIC
    )
    assert site.run("-r", f"{entry},max_eval_instances=3,model={model}", suite="before") == 0
    first = len(calls(log))
    for _ in range(2):
        assert site.run("-r", f"{entry},model={model}") == 0
    boards = [
        [{name: cell[name] for name in SHOWN} for cell in site.board(suite)]
        for suite in ("before", "s")
    ]
    stats = sorted(
        (row["name"], row["split"], row["count"], row["mean"]) for row in site.rows("stats")
    )
    kinds = sorted(
        (row["model_deployment"], row["failure"]) for row in site.rows("request_results")
    )
    return boards, stats, kinds, first, len(calls(log))


def test_it_comes_to_the_same_by_the_driver_and_by_spark_alone(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_driver = come_to(Site(tmp_path / "driver", spark), monkeypatch)
    assert by_driver[-2:] == (6, 16), "what an earlier suite was answered is not asked again"
    by_spark_alone(monkeypatch)
    assert come_to(Site(tmp_path / "spark", spark), monkeypatch) == by_driver


def test_small_files_are_merged_at_the_end_of_a_run_and_a_release_stays(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = site.deploy("acme/yes", text="yes")
    run = ("-r", f"{site.benchmark('bench', questions(4))},model={model}")
    assert site.run(*run) == 0
    evaluation = Evaluation(
        site.lake_path, site=site.folder / "prod_env", spark=site.spark, tracking=False
    )
    evaluation.releases.publish("r", "s")
    manifest, board = evaluation.releases.verify("r"), evaluation.board(release="r").render("json")
    rows = {table: len(site.rows(table)) for table in ("runs", "stats", "request_results")}
    monkeypatch.setattr(maintenance, "MANY_SMALL_FILES", 3)
    capsys.readouterr()
    assert site.run(*run) == 0
    stderr = capsys.readouterr().err
    assert "lake: merged" in stderr
    assert "\n0 model calls" in stderr
    assert maintenance.maintenance_of(site.lake).files("runs").count == 1
    assert {table: len(site.rows(table)) for table in rows} == rows
    assert evaluation.releases.verify("r") == manifest
    assert evaluation.board(release="r").render("json") == board


def test_code_is_generated_by_what_is_scanned(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected: list[int] = []
    monkeypatch.setattr(Session, "expect_rows", lambda self, rows: expected.append(rows))
    monkeypatch.setattr(files, "FEW_ROWS", 2)
    monkeypatch.setattr(files, "PROBED_BYTES", 0)
    lake = Lake(Session(lambda: spark, "local"), str(tmp_path / "lake"))
    for number in range(4):
        scored(lake, f"u{number}", f"w{number}", datetime(2026, 1, 1, tzinfo=UTC))
    assert lake.read("runs", one_of("write_id", ["w1"])).count() == 1
    assert expected == []
    assert lake.read("runs", one_of("write_id", ["w0", "w1", "w2"])).count() == 3
    assert lake.read("runs").count() == 4
    assert expected == [3, 4]
