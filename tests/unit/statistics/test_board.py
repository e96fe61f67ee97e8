"""The board and its text forms."""

import csv
import io
import itertools
import json
from dataclasses import replace

import pytest

from medhelm_spark.errors import UnknownNameError
from medhelm_spark.statistics.board import DEMO_JUDGE_NOTE, BoardCell, BoardPair, build_board
from medhelm_spark.statistics.formats import WIDTH, render
from medhelm_spark.statistics.paired import paired_from_counts

CELL = BoardCell(
    model="smollm2",
    model_deployment="local/smollm2",
    locality="local",
    scenario_name="pubmed_qa",
    display_name="PubMedQA",
    category="Medical Research Assistance",
    subcategory="Conducting Literature Research",
    access_level="public",
    main_metric="exact_match",
    lower_is_better=False,
    split="test",
    count=100,
    num_unscored=0,
    mean=0.412,
    ci_low=0.38,
    ci_high=0.45,
)
OTHER = replace(CELL, model="always_yes", model_deployment="imported/always_yes", mean=0.55)
NOTE = replace(
    CELL,
    scenario_name="aci_bench",
    display_name="ACI-Bench",
    category="Clinical Note Generation",
    main_metric="aci_bench_accuracy",
    count=9,
    num_unscored=1,
    mean=3.25,
    ci_low=3.0,
    ci_high=3.5,
    demo_judge=True,
    jury_coverage=0.5,
)
PAIR = BoardPair(
    scenario_name="pubmed_qa",
    display_name="PubMedQA",
    main_metric="exact_match",
    first="local/smollm2",
    second="imported/always_yes",
    difference=paired_from_counts([(1, 0, 5), (0, 1, 15), (1, 1, 70)], 10),
)


def test_arrangement_is_the_same_for_any_order_of_the_cells():
    boards = [build_board(cells) for cells in itertools.permutations([CELL, OTHER, NOTE])]
    assert all(board == boards[0] for board in boards)
    board = boards[0]
    assert [column.display_name for column in board.columns] == ["ACI-Bench", "PubMedQA"]
    assert [row.model_deployment for row in board.rows] == ["imported/always_yes", "local/smollm2"]
    assert [row.mean_win_rate for row in board.rows] == [1.0, 0.0]
    assert [cell and cell.mean for cell in board.rows[0].cells] == [None, 0.55]


def test_ties_are_broken_by_the_mean_then_by_name():
    tied = [
        replace(CELL, model_deployment=name, scenario_name=scenario, mean=mean)
        for name, scenario, mean in [
            ("b", "x", 0.9),
            ("b", "y", 0.1),
            ("a", "x", 0.2),
            ("a", "y", 0.2),
            ("c", "z", 0.7),
            ("d", "z", 0.7),
        ]
    ]
    board = build_board(tied)
    assert [row.mean_win_rate for row in board.rows] == [0.5] * 4
    assert [row.model_deployment for row in board.rows] == ["c", "d", "b", "a"]


def test_runs_of_one_scenario_are_merged_as_medhelm_does():
    runs = [
        replace(CELL, count=10, num_unscored=2, mean=0.2, ci_low=0.1, ci_high=0.4),
        replace(CELL, count=90, mean=0.6, ci_low=0.6, ci_high=0.6),
    ]
    (cell,) = build_board(runs).rows[0].cells
    assert (cell.count, cell.num_unscored, cell.num_runs) == (100, 2, 2)
    assert cell.mean == pytest.approx(0.4)  # means of runs, whatever their size
    assert (cell.ci_low, cell.ci_high) == pytest.approx((0.35, 0.5))
    assert build_board([*runs, replace(CELL, mean=None, ci_low=None, ci_high=None)]).rows[0].cells[
        0
    ].mean == pytest.approx(0.4)
    without = build_board([runs[0], replace(CELL, ci_low=None, ci_high=None)]).rows[0].cells[0]
    assert without.ci_low is None


def test_two_metrics_of_a_scenario_are_never_compared():
    board = build_board([CELL, replace(OTHER, main_metric="f1_score")])
    assert len(board.columns) == 2
    assert [row.mean_win_rate for row in board.rows] == [None, None]


def test_lower_is_better_turns_the_order():
    board = build_board([replace(cell, lower_is_better=True) for cell in (CELL, OTHER)])
    assert board.rows[0].model_deployment == "local/smollm2"


def test_text_table():
    text = render(build_board([CELL, OTHER, NOTE], [PAIR]), "table")
    lines = text.splitlines()
    assert lines[0].split() == ["Model", "Win", "rate", "ACI-Bench", "PubMedQA"]
    assert lines[1].split() == ["aci_bench_accuracy", "exact_match"]
    assert " ".join(lines[3].split()) == "imported/always_yes 1.000 - 0.550 [0.38, 0.45] n=100"
    assert "3.250* [3.00, 3.50] n=9/10 cov 0.50  0.412 [0.38, 0.45] n=100" in lines[4]
    assert DEMO_JUDGE_NOTE in lines
    assert "n=a/b: a of b answers are scored." in lines
    start = lines.index("Paired differences on the same instances")
    assert " ".join(lines[start + 4].split()) == (
        "PubMedQA: exact_match local/smollm2 imported/always_yes -0.111 [-0.21, -0.01] 90 10 0.041"
    )
    assert text.endswith("\n")


def test_columns_of_the_text_table_are_aligned():
    lines = render(build_board([CELL, OTHER, NOTE]), "table").splitlines()
    starts = [index for index, char in enumerate(lines[2]) if char == "-"]
    columns = [i for i in starts if i == 0 or lines[2][i - 1] == " "]
    for line in (lines[0], *lines[3:5]):
        assert all(line[i - 1] == " " for i in columns[1:])
        assert all(line[i] != " " for i in columns)


def test_marks_and_notes_only_where_they_apply():
    text = render(build_board([CELL, OTHER]), "table")
    assert "*" not in text
    assert "cov" not in text
    assert "/100" not in text
    assert "No win rate" in render(build_board([CELL]), "table")


def test_a_wide_board_is_cut_into_blocks_that_repeat_the_models():
    cells = [replace(CELL, scenario_name=f"s{i:02}", display_name=f"S{i:02}") for i in range(46)]
    lines = render(build_board(cells), "table").splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert sum(line.count("0.412") for line in lines) == 46
    assert sum("local/smollm2" in line for line in lines) == sum("Model" in line for line in lines)


def test_a_column_wider_than_the_page_still_appears():
    board = build_board([replace(CELL, display_name="x" * 200)])
    assert "x" * 200 in render(board, "table")


def test_unscored_cell_and_empty_board():
    unscored = replace(CELL, count=0, num_unscored=12, mean=None, ci_low=None, ci_high=None)
    assert "unscored n=0/12" in render(build_board([unscored]), "table")
    assert "empty" in render(build_board([]), "table")
    assert json.loads(render(build_board([]), "json"))["cells"] == []
    assert render(build_board([]), "csv").startswith("record,mean_win_rate,model,")
    assert render(build_board([]), "md").startswith("| Model |")


def test_csv_has_every_number_in_long_form():
    rows = list(
        csv.DictReader(io.StringIO(render(build_board([CELL, OTHER, NOTE], [PAIR]), "csv")))
    )
    assert [row["record"] for row in rows] == ["cell", "cell", "cell", "pair"]
    jury = next(row for row in rows if row["scenario_name"] == "aci_bench")
    assert (jury["mean"], jury["count"], jury["num_unscored"]) == ("3.25", "9", "1")
    assert (jury["demo_judge"], jury["jury_coverage"], jury["p_value"]) == ("True", "0.5", "")
    pair = rows[-1]
    assert (pair["first"], pair["n"], pair["num_dropped"]) == ("local/smollm2", "90", "10")
    assert float(pair["mean_difference"]) == pytest.approx(-10 / 90)


def test_json_has_every_number():
    content = json.loads(render(build_board([CELL, NOTE], [PAIR]), "json"))
    assert {cell["mean"] for cell in content["cells"]} == {0.412, 3.25}
    assert content["pairs"][0]["p_value"] == pytest.approx(PAIR.difference.p_value)
    assert DEMO_JUDGE_NOTE in content["notes"]


def test_markdown_keeps_bars_and_stars_literal():
    board = build_board([replace(NOTE, display_name="A|B")], [PAIR])
    lines = render(board, "md").splitlines()
    assert lines[0] == r"| Model | Win rate | A\|B (aci_bench_accuracy) |"
    assert lines[1] == "| --- | --- | --- |"
    assert lines[2] == r"| local/smollm2 | - | 3.250\* [3.00, 3.50] n=9/10 cov 0.50 |"
    assert any(line.startswith(r"\* scored by a demo judge") for line in lines)
    assert any(line.startswith("| PubMedQA: exact_match | local/smollm2 |") for line in lines)


def test_unknown_format_is_refused():
    with pytest.raises(UnknownNameError, match="board format 'html'"):
        render(build_board([]), "html")


def test_unreadable_answers_are_told_where_there_are_any():
    some = replace(CELL, unreadable=0.25)
    text = render(build_board([some, OTHER]), "table")
    assert "0.412 [0.38, 0.45] n=100 unread 0.25" in text
    assert "unread: the share of answers in which no single answer could be read." in text
    assert "unread" not in render(build_board([replace(CELL, unreadable=0.0), OTHER]), "table")
    (record,) = json.loads(render(build_board([some]), "json"))["cells"]
    assert record["unreadable"] == 0.25
    (row,) = build_board([some, replace(CELL, unreadable=0.75), CELL]).rows
    assert row.cells[0].unreadable == 0.5, "runs that read nothing out of answers do not count"


def test_the_primary_endpoint_is_marked_in_its_column():
    main = replace(CELL, is_primary=True)
    board = build_board([main, OTHER, NOTE])
    assert [column.is_primary for column in board.columns] == [False, True]
    assert "exact_match (primary endpoint)" in render(board, "table")
    lower = build_board([replace(main, lower_is_better=True)])
    assert "exact_match (primary endpoint, lower is better)" in render(lower, "md")
    assert "primary" not in render(build_board([CELL]), "table")


def test_the_margin_stands_beside_the_primary_endpoint():
    main = replace(CELL, is_primary=True, margin=0.02)
    other = replace(main, model_deployment="other", margin=None, is_primary=False)
    board = build_board([main, other])
    assert "exact_match (primary endpoint, margin 0.02)" in render(board, "md")
    assert any(note.startswith("margin: ") for note in board.notes)
    both = build_board([main, replace(main, margin=0.05)])
    assert [column.margin for column in both.columns] == [0.02], "the stricter of two suites"
    plain = build_board([CELL])
    assert "margin" not in render(plain, "md")


def test_notes_that_are_given_come_last():
    notes = build_board([CELL, NOTE], notes=["More elsewhere."]).notes
    assert notes[-1] == "More elsewhere."
    assert DEMO_JUDGE_NOTE in notes
