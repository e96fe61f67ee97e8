"""The board as text, Markdown, HTML, CSV and JSON."""

import csv
import io
import json
from dataclasses import replace

import pytest

from medhelm_spark.board.render import comparison
from medhelm_spark.board.render.board import NO_BETTER, render
from medhelm_spark.board.render.charts import share_of_scale
from medhelm_spark.domain.jury_evidence import JuryEvidence, mark_note
from medhelm_spark.errors import UnknownNameError
from medhelm_spark.render.table import WIDTH
from tests.unit.statistics.cells import CELL, NOTE, OTHER, PAIR, board_of

MARK_NOTE = mark_note([JuryEvidence.NOT_VALIDATED])


def test_text_table():
    text = render(board_of([CELL, OTHER, NOTE], [PAIR]), "table")
    lines = text.splitlines()
    assert lines[0].split() == ["Model", "Win", "rate", "ACI-Bench", "PubMedQA"]
    assert lines[1].split() == ["aci_bench_accuracy", "exact_match"]
    assert " ".join(lines[3].split()) == "imported/always_yes 1.000 - 0.550 [0.38, 0.45] n=100"
    assert (
        "3.250* [3.00, 3.50] n=9/10 cov 0.50 under the floor  0.412 [0.38, 0.45] n=100" in lines[4]
    )
    assert MARK_NOTE in lines
    assert "n=a/b: a of b answers are scored." in lines
    start = lines.index("Paired differences on the same instances")
    assert " ".join(lines[start + 4].split()) == (
        "PubMedQA: exact_match local/smollm2 imported/always_yes -0.111 [-0.206, -0.011] "
        "90, 10 dropped 5/70/15 0.027 worse"
    )
    assert text.endswith("\n")


def test_columns_of_the_text_table_are_aligned():
    lines = render(board_of([CELL, OTHER, NOTE]), "table").splitlines()
    starts = [index for index, char in enumerate(lines[2]) if char == "-"]
    columns = [i for i in starts if i == 0 or lines[2][i - 1] == " "]
    for line in (lines[0], *lines[3:5]):
        assert all(line[i - 1] == " " for i in columns[1:])
        assert all(line[i] != " " for i in columns)


def test_marks_and_notes_only_where_they_apply():
    text = render(board_of([CELL, OTHER]), "table")
    assert "*" not in text
    assert "cov" not in text
    assert "/100" not in text
    assert "No win rate" in render(board_of([CELL]), "table")


def test_a_wide_board_is_cut_into_blocks_that_repeat_the_models():
    cells = [replace(CELL, scenario_name=f"s{i:02}", display_name=f"S{i:02}") for i in range(46)]
    lines = render(board_of(cells), "table").splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert sum(line.count("0.412") for line in lines) == 46
    assert sum("local/smollm2" in line for line in lines) == sum("Model" in line for line in lines)


def test_a_column_wider_than_the_page_still_appears():
    board = board_of([replace(CELL, display_name="x" * 200)])
    assert "x" * 200 in render(board, "table")


def test_unscored_cell_and_empty_board():
    unscored = replace(CELL, count=0, num_unscored=12, mean=None, ci_low=None, ci_high=None)
    assert "unscored n=0/12" in render(board_of([unscored]), "table")
    assert "empty" in render(board_of([]), "table")
    assert json.loads(render(board_of([]), "json"))["cells"] == []
    assert render(board_of([]), "csv").startswith("record,mean_win_rate,model,")
    assert render(board_of([]), "md").startswith("| Model |")


def test_csv_has_every_number_in_long_form():
    rows = list(csv.DictReader(io.StringIO(render(board_of([CELL, OTHER, NOTE], [PAIR]), "csv"))))
    assert [row["record"] for row in rows] == ["cell", "cell", "cell", "pair"]
    jury = next(row for row in rows if row["scenario_name"] == "aci_bench")
    assert (jury["mean"], jury["count"], jury["num_unscored"]) == ("3.25", "9", "1")
    assert (jury["jury_evidence"], jury["jury_coverage"], jury["p_value"]) == (
        "not validated",
        "0.5",
        "",
    )
    pair = rows[-1]
    assert (pair["first"], pair["n"], pair["num_dropped"]) == ("local/smollm2", "90", "10")
    assert float(pair["mean_difference"]) == pytest.approx(-10 / 90)


def test_json_has_every_number():
    content = json.loads(render(board_of([CELL, NOTE], [PAIR]), "json"))
    assert {cell["mean"] for cell in content["cells"]} == {0.412, 3.25}
    assert content["pairs"][0]["p_value"] == pytest.approx(PAIR.difference.p_value)
    assert MARK_NOTE in content["notes"]


def test_markdown_keeps_bars_and_stars_literal():
    board = board_of([replace(NOTE, display_name="A|B")], [PAIR])
    lines = render(board, "md").splitlines()
    assert lines[0] == r"| Model | Win rate | A\|B (aci_bench_accuracy) |"
    assert lines[1] == "| --- | --- | --- |"
    assert (
        lines[2] == r"| local/smollm2 | - | 3.250\* [3.00, 3.50] n=9/10 cov 0.50 under the floor |"
    )
    assert any(line.startswith(r"\* scored by a judge without evidence") for line in lines)
    assert any(line.startswith("| PubMedQA: exact_match | local/smollm2 |") for line in lines)


def test_html_is_one_plain_table_after_another_with_every_text_escaped():
    board = board_of([replace(NOTE, display_name="A<B"), CELL, OTHER], [PAIR])
    text = render(board, "html")
    assert text.count("<table>") == 2
    assert "<th>A&lt;B (aci_bench_accuracy)</th>" in text
    assert "<tr><td>local/smollm2</td><td>0.000</td><td>3.250* [3.00, 3.50] n=9/10" in text
    assert f"<p>{MARK_NOTE}</p>" in text
    assert "<caption>Paired differences on the same instances</caption>" in text
    assert render(board_of([]), "html") == "<p>The board is empty: no run has a summary.</p>\n"


def test_unknown_format_is_refused():
    with pytest.raises(UnknownNameError, match="board format 'pdf'"):
        render(board_of([]), "pdf")


def test_unreadable_answers_are_told_where_there_are_any():
    some = replace(CELL, unreadable=0.25)
    text = render(board_of([some, OTHER]), "table")
    assert "0.412 [0.38, 0.45] n=100 unread 0.25" in text
    assert "unread: the share of all answers in which no single answer could be read." in text
    assert "unread" not in render(board_of([replace(CELL, unreadable=0.0), OTHER]), "table")
    (record,) = json.loads(render(board_of([some]), "json"))["cells"]
    assert record["unreadable"] == 0.25
    parts = [
        replace(CELL, part=name, unreadable=share) for name, share in [("a", 0.25), ("b", 0.75)]
    ]
    (row,) = board_of([*parts, replace(CELL, part="c")]).rows
    assert row.cells[0].unreadable == 0.5, "parts that read nothing out of answers do not count"


def test_the_primary_endpoint_stands_first_under_its_own_heading_and_is_marked():
    main = replace(CELL, is_primary=True)
    board = board_of([main, OTHER, NOTE, replace(NOTE, category="", scenario_name="own")])
    assert [column.is_primary for column in board.columns] == [True, False, False]
    headings = [column.heading for column in board.columns]
    assert headings == ["Primary endpoint", "Other", "Clinical Note Generation"]
    assert "exact_match (primary endpoint)" in render(board, "table")
    lower = board_of([replace(main, lower_is_better=True)])
    assert "exact_match (primary endpoint, lower is better)" in render(lower, "md")
    assert "primary" not in render(board_of([CELL]), "table")


def test_the_margin_is_shown_with_the_primary_endpoint():
    main = replace(CELL, is_primary=True, margin=0.02)
    other = replace(main, model_deployment="other", margin=None, is_primary=False)
    board = board_of([main, other])
    assert "exact_match (primary endpoint, margin 0.02)" in render(board, "md")
    assert any(note.startswith("margin: ") for note in board.notes)
    both = board_of([main, replace(main, margin=0.05)])
    assert [column.margin for column in both.columns] == [0.02], "the stricter of two suites"
    plain = board_of([CELL])
    assert "margin" not in render(plain, "md")


def test_a_share_of_a_part_of_the_answers_says_of_how_many():
    planted = replace(CELL, main_metric="sensitivity", count=300, denominator=90)
    board = board_of([planted, replace(OTHER, main_metric="sensitivity", count=300)])
    text = render(board, "table")
    assert "0.412 [0.38, 0.45] n=90 of 300" in text
    assert "0.550 [0.38, 0.45] n=300\n" in text, "of a share of all answers nothing is added"
    unread = render(board_of([replace(planted, unreadable=0.03)]), "table")
    assert "n=90 of 300 unread 0.03 of 300" in unread, "the share is of all answers"
    cells = json.loads(render(board, "json"))["cells"]
    assert [cell["denominator"] for cell in cells] == [None, 90]
    records = csv.DictReader(io.StringIO(render(board, "csv")))
    assert [(row["count"], row["denominator"]) for row in records] == [("300", ""), ("300", "90")]


def test_clusters_of_uneven_size_say_how_many_equal_ones_they_come_to():
    uneven = replace(CELL, num_clusters=10, num_effective_clusters=2.9)
    assert "n=100 in 10 clusters (counts as 2.9)" in render(board_of([uneven]), "table")
    assert any(note.startswith("counts as: some patients") for note in board_of([uneven]).notes)
    even = replace(CELL, num_clusters=10, num_effective_clusters=9.8)
    assert "n=100 in 10 clusters\n" in render(board_of([even]), "table")


def test_a_comparison_marks_what_a_jury_without_evidence_scored() -> None:
    judged = comparison.render([replace(PAIR, jury_evidence=JuryEvidence.NOT_VALIDATED)], "table")
    assert "PubMedQA: exact_match*" in judged
    assert MARK_NOTE in judged
    plain = comparison.render([PAIR], "table")
    assert "exact_match*" not in plain
    assert MARK_NOTE not in plain


def test_a_comparison_says_what_is_unknown_of_imported_answers() -> None:
    text = comparison.render([replace(PAIR, imported="the prompt is not on record")], "table")
    assert "PubMedQA: exact_match (imported)" in text
    assert "were made elsewhere; the prompt is not on record." in " ".join(text.split())


def test_a_model_that_answers_every_case_alike_is_no_better_than_chance():
    sensitive = replace(
        CELL,
        main_metric="sensitivity",
        traded_metric="specificity",
        minimum=0.0,
        maximum=1.0,
        lower_is_better=False,
    )
    alarmist = replace(sensitive, model="a", model_deployment="a", mean=1.0, traded_mean=0.0)
    careful = replace(sensitive, model="b", model_deployment="b", mean=0.95, traded_mean=0.9)
    board = board_of([alarmist, careful])
    assert f"specificity 0.000 n=100 ({NO_BETTER})" in render(board, "table")
    assert render(board, "table").count(NO_BETTER) == 1
    assert share_of_scale(alarmist) is None
    assert share_of_scale(careful) == pytest.approx(0.95)
    unknown = replace(alarmist, traded_mean=None)
    assert not unknown.is_no_better_than_chance
    assert not replace(alarmist, traded_metric="npv").is_no_better_than_chance
