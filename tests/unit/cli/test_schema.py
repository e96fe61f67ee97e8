"""`--schema`: its run groups are shown as it defines them, what it hides and lacks is printed."""

import json
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.cli import main
from tests.unit.board.planted import plant

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


def schema_board(
    lake: Path, schema: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> tuple[dict[str, Any], list[str]]:
    """The board's JSON and the lines of standard error."""
    path = folder / "schema.yaml"
    path.write_text(schema)
    (folder / "site").mkdir(exist_ok=True)
    words = ["leaderboard", "--suite", "s1", "--format", "json", "-o", str(lake)]
    assert main([*words, "--local-path", str(folder / "site"), "--schema", str(path)]) == 0
    printed = capsys.readouterr()
    return json.loads(printed.out), printed.err.splitlines()


def test_only_runs_of_its_groups_are_shown_and_compared(
    lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    board, notes = schema_board(lake, SCHEMA, tmp_path, capsys)
    means = {cell["model"]: cell["mean"] for cell in board["cells"]}
    assert means == {"alpha/large": 0.75, "beta/medium": 0.75, "gamma/small": 0.25}
    # On this one benchmark alpha and beta tie and both beat gamma: (1 + 1/2) / 2 each.
    rates = {cell["model"]: cell["mean_win_rate"] for cell in board["cells"]}
    assert rates == {"alpha/large": 0.75, "beta/medium": 0.75, "gamma/small": 0.0}
    assert {pair["scenario_name"] for pair in board["pairs"]} == {"triage_choice"}
    assert notes == [
        "schema: 3 of 7 runs shown",
        "schema: 1 run group without a scenario here: stroke",
        "schema: 2 metrics not computed here: toxic_frac, num_train_trials",
    ]
    (note,) = [note for note in board["notes"] if "schema file" in note]
    assert note.startswith("Not shown by the schema file (in no run group of the file): ")
    assert "discharge_note" in note
    assert {cell["category"] for cell in board["cells"]} == {"all"}


def test_a_run_without_the_metric_that_is_asked_for_is_hidden_with_the_reason(
    lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = SCHEMA.replace("{main_name: exact_match", "{main_name: f1_score", 1)
    board, notes = schema_board(lake, schema, tmp_path, capsys)
    assert board["cells"] == []
    assert notes[0] == "schema: 0 of 7 runs shown"
    assert any("(it has no f1_score on test): triage_choice" in note for note in board["notes"])


def test_names_and_direction_are_the_files(
    lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = SCHEMA.replace("{name: exact_match}", "{name: exact_match, lower_is_better: true}")
    schema = schema.replace(
        "- name: triage_choice\n", "- name: triage_choice\n    display_name: T\n"
    )
    board, _ = schema_board(lake, schema, tmp_path, capsys)
    assert {cell["display_name"] for cell in board["cells"]} == {"T"}
    assert {cell["lower_is_better"] for cell in board["cells"]} == {True}
    rates = {cell["model"]: cell["mean_win_rate"] for cell in board["cells"]}
    assert rates["gamma/small"] == 1.0, "the least is the best now"


def test_a_file_that_shows_nothing_and_names_much(
    lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    groups = ", ".join(f"{{name: g{number}}}" for number in range(8))
    board, notes = schema_board(lake, f"run_groups: [{groups}]", tmp_path, capsys)
    assert board["cells"] == []
    assert notes[0] == "schema: 0 of 7 runs shown"
    assert notes[1] == "schema: 8 run groups without a scenario here: g0, g1, g2, g3, g4 and 3 more"


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
