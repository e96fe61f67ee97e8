"""Board, MLflow and exports show one number, to the last digit: that of the table `stats`."""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pyarrow.parquet as files
import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from medhelm_spark import Evaluation
from medhelm_spark.board.render.board import board_report
from medhelm_spark.board.render.fields import FIELD_KINDS
from medhelm_spark.board.sources import choose
from medhelm_spark.config.resources import resource
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.run import MetricSpec, RunSpec
from medhelm_spark.domain.stats import IntervalMethod, Stat
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.render.report import ROUNDED, parquet
from medhelm_spark.tracking.records import original_name
from medhelm_spark.tracking.tracked import tracked_of
from tests.unit.board.planted import (
    ALPHA,
    BETA,
    GAMMA,
    append,
    finish,
    planned,
    plant,
    run_spec,
    unit,
)
from tests.unit.board.planted_releases import plant_release

NUMBERS = ("mean", "ci_low", "ci_high", "count", "num_unscored")
Shown = dict[tuple[str, str], tuple[Any, ...]]
"""By row and benchmark: the NUMBERS of a cell."""

TAKEN_OVER = "medcalc_bench_accuracy@medhelm-0.8"
METRICS = {"thirds": "exact_match", "taken": TAKEN_OVER, "calibrated": "ece_10_bin"}
MEANS: Mapping[tuple[str, str], float | None] = {
    (ALPHA, "thirds"): 1 / 3,
    (BETA, "thirds"): 2 / 7,
    (GAMMA, "thirds"): 0.1 + 0.2,
    (ALPHA, "taken"): 216 / 1047,
    (BETA, "taken"): 0.49999999999999994,
    (GAMMA, "taken"): None,
    (ALPHA, "calibrated"): 1 / 14,
    (BETA, "calibrated"): 5e-324,
}
"""Gamma has no `calibrated`: less of it is better, and no single answer has it."""
PARTS = {"audit:subject=icu": 1 / 3, "audit:subject=ward": 2 / 7}
"""Alpha's alone; the benchmark `audit` is their mean, which no run has."""
WHOLE = math.fsum(PARTS.values()) / 2


def _spec(model: str, scenario: str, metric: str, **changes: Any) -> RunSpec:
    name = f"{scenario},model={model.replace('/', '_')}{changes.pop('more', '')}"
    kind = "calibration" if metric == "ece_10_bin" else metric.partition("@")[0]
    return replace(
        run_spec(content_id(name), model, "triage_choice"),
        name=name,
        scenario_name=scenario,
        data_version=f"{scenario}-v1",
        main_metric=metric,
        metrics=(MetricSpec(name=kind),),
        **changes,
    )


def _stat(spec: RunSpec, mean: float | None) -> Stat:
    low, high = (None, None) if mean is None else (mean / 3, mean + (1 - mean) / 7)
    return Stat(
        run_spec_id=spec.run_spec_id,
        name=spec.main_metric,
        split="test",
        perturbation="",
        count=0 if mean is None else 21,
        num_unscored=21 if mean is None else 0,
        mean=mean,
        stddev=mean,
        minimum=mean,
        maximum=mean,
        ci_low=low,
        ci_high=high,
        ci_method=IntervalMethod.NONE if mean is None else IntervalMethod.CLUSTERED,
        num_clusters=7,
    )


def _plant(lake: Path, spec: RunSpec, mean: float | None, part_of: str = "") -> None:
    append(lake, "run_specs", [replace(planned(spec), part_of=part_of or None)], spec.name)
    append(lake, "stats", [_stat(spec, mean)], spec.name)
    for stage in ("plan", "score", "summarize"):
        finish(lake, stage, spec.run_spec_id, spec.name)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("awkward")
    for (model, scenario), mean in MEANS.items():
        _plant(folder, _spec(model, scenario, METRICS[scenario]), mean)
    for scenario, mean in PARTS.items():
        _plant(folder, _spec(ALPHA, scenario, "exact_match"), mean, "audit")
    first = _spec(ALPHA, "thirds", "exact_match")
    again = replace(first.adapter_spec, max_tokens=99)
    longer = _spec(ALPHA, "thirds", "exact_match", more=",long", adapter_spec=again)
    _plant(folder, longer, 2 / 3)
    return str(folder)


def evaluation(lake: str, tracking: str | bool = False) -> Evaluation:
    return Evaluation(lake, site=None, tracking=tracking)


def of_json(text: str) -> Shown:
    cells = json.loads(text)["cells"]
    return {_key(cell): tuple(cell[name] for name in NUMBERS) for cell in cells}


def _key(cell: Mapping[str, Any]) -> tuple[str, str]:
    variant = f" ({cell['variant']})" if cell["variant"] else ""
    return f"{cell['model_deployment']}{variant}", cell["scenario_name"]


def of_csv(text: str) -> Shown:
    rows = [row for row in csv.DictReader(io.StringIO(text)) if row["record"] == "cell"]
    numbers = {_key(row): [row[name] for name in NUMBERS] for row in rows}
    return {key: tuple(float(n) if n else None for n in row) for key, row in numbers.items()}


def of_parquet(data: bytes) -> Shown:
    rows = files.read_table(io.BytesIO(data)).to_pylist()
    cells = [row for row in rows if row["record"] == "cell"]
    return {_key(cell): tuple(cell[name] for name in NUMBERS) for cell in cells}


def of_report(text: str) -> Shown:
    """The table that ends a report, with all digits; `num_counted` is after the numbers."""
    _, _, exact = text.partition("<h2>Exact numbers</h2>")
    rows = (re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", exact))
    cells = [list(map(unescape, row)) for row in rows if len(row) == 3 + len(NUMBERS)]
    return {
        (row[0], row[1].partition(" (")[0]): tuple(float(n) if n else None for n in row[2:-1])
        for row in cells
    }


def of_table(lake: str) -> Iterator[Stat]:
    yield from open_reader(lake).rows("SELECT * FROM {stats}", Stat)


def shown_by_dashboard(lake: str, **address: str) -> str:
    """The HTML of a page."""
    streamlit.cache_data.clear()
    streamlit.cache_resource.clear()
    page = AppTest.from_file(str(resource("dashboards", "app.py")), default_timeout=60)
    for name, value in address.items():
        page.query_params[name] = value
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEDHELM_SPARK_OUTPUT_PATH", lake)
        page.run()
    assert not page.exception
    return " ".join(str(each.proto.body) for each in page.get("html"))


def test_all_exports_hold_the_numbers_of_the_table(lake: str) -> None:
    stored = {stat.run_spec_id: tuple(getattr(stat, n) for n in NUMBERS) for stat in of_table(lake)}
    board = evaluation(lake).board("s1")
    numbers = of_json(board.render("json"))
    for model, scenario in MEANS:
        spec = _spec(model, scenario, METRICS[scenario])
        assert numbers[model, scenario] == stored[spec.run_spec_id], spec.name
        assert numbers[model, scenario][0] == MEANS[model, scenario]
    assert numbers[ALPHA, "audit"][0] == WHOLE
    variants = [key for key in numbers if key[0].startswith(f"{ALPHA} (")]
    assert [numbers[key][0] for key in variants] == [2 / 3]
    assert (GAMMA, "calibrated") not in numbers
    report = board_report(board.leaderboard)
    assert of_csv(board.render("csv")) == numbers
    assert of_parquet(parquet(report, FIELD_KINDS)) == numbers
    assert of_report(evaluation(lake).report("s1").html) == numbers
    models = json.loads(board.render("json"))["models"]
    assert [row["mean_win_rate"] for row in models] == [
        row.mean_win_rate for row in board.leaderboard.rows
    ]


def test_what_rounds_says_so_and_all_round_alike(lake: str) -> None:
    board = evaluation(lake).board("s1")
    markdown, html = board.render("md"), evaluation(lake).report("s1").html
    assert markdown.rstrip().endswith(ROUNDED)
    assert "rounded for reading" in html
    pages = {"text": board.render("table"), "Markdown": markdown, "report": html}
    dashboard = shown_by_dashboard(lake, suite="s1")
    assert "unscored" in dashboard
    for mean in filter(None, MEANS.values()):
        assert f'title="{mean}. Open the answers' in dashboard
        for where, text in {**pages, "dashboard": dashboard}.items():
            assert f"{mean:.3f}" in text, where


def test_mlflow_has_the_same_numbers_and_links_both_ways(
    lake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow import MlflowClient

    monkeypatch.setenv("MEDHELM_SPARK_DASHBOARD_ADDRESS", "https://boards.example.org/med")
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    site = evaluation(lake, uri)
    site.tracking.log(suite="s1")
    rows = tracked_of(open_reader(lake), choose(open_reader(lake), "s1"))
    client = MlflowClient(uri)
    parents = {
        row.model_deployment: client.get_run(row.mlflow_run_id)
        for row in rows
        if not row.run_spec_id
    }
    board = site.board("s1")
    checked = 0
    for row in board.leaderboard.rows:
        logged = parents[row.model_deployment].data.metrics
        metrics = {original_name(key): value for key, value in logged.items()}
        for cell in filter(None, row.cells):
            name = f"{cell.scenario_name}@{cell.variant}" if cell.variant else cell.scenario_name
            assert metrics.get(f"0_scores/{name}") == cell.mean
            metric = f"{name}/{cell.main_metric}"
            assert metrics.get(metric) == cell.mean
            assert metrics.get(f"{metric}_ci_low") == cell.ci_low
            assert metrics.get(f"{metric}_ci_high") == cell.ci_high
            assert metrics[f"{name}/n"] == cell.count
            checked += 1
        assert row.variant or metrics.get("mean_win_rate") == row.mean_win_rate
    assert checked == len(MEANS) + 2, "a further run and the mean over parts too"
    columns = {key for key in parents[ALPHA].data.metrics if key.startswith("0_scores/")}
    assert not any("subject" in name for name in columns), "a part is no column of the board"
    tags = parents[ALPHA].data.tags
    assert tags["medhelm_spark.page"] == "https://boards.example.org/med/?suite=s1"
    assert "[dashboard](<https://boards.example.org/med/?suite=s1>)" in tags["mlflow.note.content"]
    child = next(row for row in rows if row.run_spec_id)
    page = client.get_run(child.mlflow_run_id).data.tags["medhelm_spark.page"]
    assert page.endswith(f"?suite=s1&view=Instances&run={child.run_spec_id}")
    assert child.address.endswith(f"/runs/{child.mlflow_run_id}")
    assert child.served_by.endswith(f"{tmp_path / 'mlflow.db'} --workers 1")
    board_page = shown_by_dashboard(lake, suite="s1")
    (alpha,) = (row for row in rows if row.model_deployment == ALPHA and not row.run_spec_id)
    assert f'<a href="{alpha.address}">{ALPHA}</a>' in board_page
    assert "mlflow server --host 127.0.0.1" in board_page
    site.tracking.log(suite="s1")
    assert tracked_of(open_reader(lake), choose(open_reader(lake), "s1")) == rows


def test_a_release_has_its_own_numbers_in_all_places(tmp_path: Path) -> None:
    from mlflow import MlflowClient

    plant_release(plant(tmp_path / "lake"))
    lake, uri = str(tmp_path / "lake"), f"sqlite:///{tmp_path / 'mlflow.db'}"
    site = evaluation(lake, uri)
    site.tracking.log(release="R2")
    numbers = of_json(site.board(release="R2").render("json"))
    assert of_csv(site.board(release="R2").render("csv")) == numbers
    assert of_report(site.report(release="R2").html) == numbers
    (row,) = tracked_of(open_reader(lake), choose(open_reader(lake), release="R2"))
    logged = MlflowClient(uri).get_run(row.mlflow_run_id).data
    assert logged.metrics["0_scores/triage_choice"] == numbers[ALPHA, "triage_choice"][0] == 0.75
    command = f"medhelm-spark serve --output-path {lake} --release R2"
    assert logged.tags["medhelm_spark.page"] == command
    assert logged.tags["mlflow.note.content"].endswith(f"`{command}`")


def test_the_answers_of_a_run_lead_to_its_own_record(tmp_path: Path) -> None:
    lake = str(plant(tmp_path / "lake"))
    evaluation(lake, f"sqlite:///{tmp_path / 'mlflow.db'}").tracking.log(suite="s1")
    rows = tracked_of(open_reader(lake), choose(open_reader(lake), "s1"))
    child = next(row for row in rows if row.run_spec_id == unit(ALPHA, "triage_choice"))
    answers = shown_by_dashboard(lake, suite="s1", view="Instances", run=child.run_spec_id)
    assert [row.address for row in rows if row.address in answers] == [child.address]
