"""A board prints which requested parts its suite lacks."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from medhelm_spark.board import load_board
from medhelm_spark.domain.skipped import LeftOut
from medhelm_spark.lake.reader import Reader, open_reader
from tests.unit.board.planted import ALPHA, START, append, plant

ROW = LeftOut(
    suite="s1",
    name="med_qa:model=alpha_large",
    scenario_name="med_qa",
    reason="med_qa/test.jsonl: no such file.",
    left_out_at=START,
    is_listed=True,
)
TITLE = "LEFT OUT, because the data could not be had: "


@pytest.fixture
def own(tmp_path: Path) -> tuple[Path, Reader]:
    return plant(tmp_path), open_reader(str(tmp_path))


def notes(reader: Reader, **source: str) -> list[str]:
    board = load_board(reader, coverage_floor=0.95, **source)
    return [note for note in board.notes if "LEFT OUT" in note or "suite file lists" in note]


def test_a_board_names_what_was_left_out(own: tuple[Path, Reader]) -> None:
    lake, reader = own
    assert notes(reader, suite="s1") == []
    other = replace(ROW, name="med_qa:model=beta_medium")
    unlisted = replace(ROW, name="own:model=alpha_large", scenario_name="own", is_listed=None)
    append(lake, "left_out", [ROW, other, unlisted], "w")
    assert notes(reader, suite="s1") == [
        f"{TITLE}med_qa, own.",
        "The suite file lists med_qa: ranks and win rates are made without.",
    ]
    assert notes(reader, suite="s0") == []


def test_what_was_run_since_is_left_out_no_more(own: tuple[Path, Reader]) -> None:
    lake, reader = own
    (name,) = {
        row["name"]
        for row in reader.query("SELECT name, run_spec FROM {run_specs}").to_pylist()
        if row["run_spec"]["model_deployment"] == ALPHA
        and row["run_spec"]["scenario_name"] == "discharge_note"
    }
    append(lake, "left_out", [replace(ROW, name=name, scenario_name="discharge_note")], "w")
    assert notes(reader, suite="s1") == []
    lacking = replace(ROW, name="discharge_note:model=x", scenario_name="discharge_note")
    append(lake, "left_out", [lacking], "x")
    assert notes(reader, suite="s1")[0] == f"{TITLE}discharge_note:model=x."


def test_a_release_says_what_was_left_out_before_it_was_made(own: tuple[Path, Reader]) -> None:
    lake, reader = own
    later = replace(ROW, scenario_name="later", name="later", left_out_at=START + timedelta(days=9))
    append(lake, "left_out", [replace(ROW, left_out_at=START - timedelta(days=1)), later], "w")
    assert notes(reader, release="R1")[0] == f"{TITLE}med_qa."
