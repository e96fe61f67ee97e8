"""`--schema`: the runs of its run groups are shown, and what else it asks for is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.cli import main
from tests.unit.leaderboard.planted import plant

SCHEMA = """
metrics: [{name: exact_match}, {name: f1_score}, {name: toxic_frac}, {name: num_train_trials}]
metric_groups: [{name: accuracy, metrics: [{name: "${main_name}", split: "${main_split}"}]}]
run_groups:
  - {name: all, subgroups: [triage_choice, stroke, pubmed_qa]}
  - name: triage_choice
    metric_groups: [accuracy]
    environment: {main_name: exact_match, main_split: test}
  - {name: stroke, metric_groups: [accuracy], environment: {main_name: f1_score, main_split: test}}
  - {name: pubmed_qa}
"""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("lake"))


def shown(
    lake: Path, schema: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[dict[str, Any], list[str]]:
    """The board's json and what was said beside it."""
    path = folder / "schema.yaml"
    path.write_text(schema)
    (folder / "site").mkdir(exist_ok=True)
    words = ["leaderboard", "--suite", "s1", "--format", "json", "-o", str(lake)]
    assert main([*words, "--local-path", str(folder / "site"), "--schema", str(path)]) == 0
    told = capsys.readouterr()
    return json.loads(told.out), told.err.splitlines()


def test_only_runs_of_its_groups_are_shown_and_compared(
    lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board, said = shown(lake, SCHEMA, tmp_path, capsys)
    means = {cell["model"]: cell["mean"] for cell in board["cells"]}
    assert means == {"alpha/large": 0.75, "beta/medium": 0.75, "gamma/small": 0.25}
    # On this one benchmark alpha and beta tie and both beat gamma: (1 + 1/2) / 2 each.
    rates = {cell["model"]: cell["mean_win_rate"] for cell in board["cells"]}
    assert rates == {"alpha/large": 0.75, "beta/medium": 0.75, "gamma/small": 0.0}
    assert {pair["scenario_name"] for pair in board["pairs"]} == {"triage_choice"}
    assert said == [
        "schema: 3 of 7 runs shown",
        "schema: not shown by this file: discharge_note, medcalc_bench",
        "schema: 1 run group without a scenario here: stroke",
        "schema: 2 metrics not computed here: toxic_frac, num_train_trials",
    ]


def test_another_main_metric_is_told_once_and_the_cards_is_shown(
    lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = SCHEMA.replace("{main_name: exact_match", "{main_name: f1_score", 1)
    board, said = shown(lake, asked, tmp_path, capsys)
    assert {cell["main_metric"] for cell in board["cells"]} == {"exact_match"}
    assert said[-1] == (
        "schema: triage_choice is shown by exact_match on test, the file asks for f1_score on test"
    )


def test_a_file_that_shows_nothing_and_names_much(
    lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = ", ".join(f"{{name: g{number}}}" for number in range(8))
    board, said = shown(lake, f"run_groups: [{groups}]", tmp_path, capsys)
    assert board["cells"] == []
    assert said[0] == "schema: 0 of 7 runs shown"
    assert said[2] == "schema: 8 run groups without a scenario here: g0, g1, g2, g3, g4 and 3 more"


@pytest.mark.parametrize("command", ["leaderboard", "summarize"])
def test_a_mistake_is_told_before_the_lake_is_touched(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA.replace("[triage_choice, stroke", "[triage_choise, stroke"))
    lake = tmp_path / "none"
    assert main([command, "--suite", "s1", "-o", str(lake), "--schema-path", str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"medhelm-spark: {path}: run_groups[all].subgroups: unknown run group")
    assert "Did you mean 'triage_choice'?" in line
    assert not lake.exists()
