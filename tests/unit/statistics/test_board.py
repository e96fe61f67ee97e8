"""The board: its columns, rows and notes, from cells in any order."""

import itertools
from dataclasses import replace

from medhelm_spark.domain.jury_evidence import JuryEvidence, mark_note
from tests.unit.statistics.cells import CELL, NOTE, OTHER, board_of

MARK_NOTE = mark_note([JuryEvidence.NOT_VALIDATED])


def test_arrangement_is_the_same_for_any_order_of_the_cells():
    boards = [board_of(cells) for cells in itertools.permutations([CELL, OTHER, NOTE])]
    assert all(board == boards[0] for board in boards)
    board = boards[0]
    assert [column.display_name for column in board.columns] == ["ACI-Bench", "PubMedQA"]
    assert [row.model_deployment for row in board.rows] == ["imported/always_yes", "local/smollm2"]
    assert [row.mean_win_rate for row in board.rows] == [1.0, 0.0]
    assert [cell and cell.mean for cell in board.rows[0].cells] == [None, 0.55]


def test_two_metrics_of_a_scenario_are_never_compared():
    board = board_of([CELL, replace(OTHER, main_metric="f1_score")])
    assert len(board.columns) == 2
    assert [row.mean_win_rate for row in board.rows] == [None, None]


def test_numbers_in_names_of_benchmarks_count_by_their_value():
    cells = [replace(CELL, scenario_name=f"ward-{n}", display_name="") for n in (10, 2, 1)]
    names = [column.display_name for column in board_of(cells).columns]
    assert names == ["ward-1", "ward-2", "ward-10"]


def test_lower_is_better_turns_the_order():
    board = board_of([replace(cell, lower_is_better=True) for cell in (CELL, OTHER)])
    assert board.rows[0].model_deployment == "local/smollm2"


def test_notes_that_are_given_come_last():
    notes = board_of([CELL, NOTE], notes=["More elsewhere."]).notes
    assert notes[-1] == "More elsewhere."
    assert MARK_NOTE in notes
