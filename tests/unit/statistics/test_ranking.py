"""Win rates, and who is ranked: failures, further runs, missing and not comparable means."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from medhelm_spark.board.render.board import render
from medhelm_spark.domain.comparability import PARTS
from medhelm_spark.domain.policy import ComparisonRules
from medhelm_spark.statistics.board import Leaderboard, build_board
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.ranking import mean_win_rates

FLOOR = ComparisonRules().coverage_floor
KEY = dict.fromkeys(PARTS, "same") | {"origin": "native", "jury": ""}
CELL = BoardCell(
    model="a",
    model_deployment="a",
    locality="local",
    scenario_name="qa",
    display_name="QA",
    category="",
    subcategory="",
    access_level="public",
    main_metric="exact_match",
    lower_is_better=False,
    split="test",
    count=60,
    num_unscored=0,
    mean=40 / 60,
    ci_low=0.5,
    ci_high=0.8,
    ci_method="wilson",
    minimum=0.0,
    maximum=1.0,
    comparability=KEY,
    configuration={"extraction": "choice", "adapter.max_tokens": "16"},
    made_at=datetime(2026, 3, 1, tzinfo=UTC),
)


def cell_of(name: str, **changes) -> BoardCell:
    """The cell of a model, changed."""
    return replace(CELL, model=name, model_deployment=name, **changes)


def board_of(*cells: BoardCell) -> Leaderboard:
    return build_board(cells, coverage_floor=FLOOR)


def ranks(board: Leaderboard) -> list[tuple[str, int | None, float | None]]:
    return [(row.name, row.rank, row.mean_win_rate) for row in board.rows]


FAILING = cell_of("failing", count=30, num_unscored=30, mean=23 / 30)
LUCKY = cell_of("lucky", count=1, num_unscored=999, mean=1.0)


def test_failing_does_not_win() -> None:
    """23 of 30 against 40 of 60: every second request failed, and the answers are the same."""
    board = board_of(FAILING, cell_of("whole"))
    assert ranks(board) == [("whole", None, None), ("failing", None, None)]
    assert board.columns[0].is_ranked, "a model is unranked, not the column"
    assert [row.lacks for row in board.rows] == [(), ("QA (30 of 60 answers scored)",)]
    cell = board.rows[1].cells[0]
    assert cell and cell.mean == pytest.approx(0.767, abs=1e-3), "it keeps its value"
    assert cell.bounds == pytest.approx((23 / 60, 53 / 60))
    assert "n=30/60 under the floor: 0.38 to 0.88" in render(board, "table")
    assert [row.medhelm_mean_win_rate for row in board.rows] == [0.0, 1.0]


def test_one_answer_of_a_thousand_does_not_win() -> None:
    whole = {"count": 1000, "num_unscored": 0}
    board = board_of(LUCKY, cell_of("good", **whole), cell_of("poor", mean=0.25, **whole))
    assert ranks(board) == [("good", 1, 1.0), ("poor", 2, 0.0), ("lucky", None, None)]


def test_the_floor_is_the_share_that_must_be_scored() -> None:
    at, below = cell_of("at", count=57, num_unscored=3), cell_of("below", count=56, num_unscored=4)
    rows = {row.name: row for row in board_of(at, below, cell_of("whole")).rows}
    assert (rows["at"].rank, rows["below"].rank) == (1, None)
    assert build_board([below, CELL], coverage_floor=0.9).rows[1].lacks == ()


def test_answers_that_nothing_can_be_scored_by_are_no_failures() -> None:
    cells = [cell_of(name, count=40, num_unscored=20, num_unscorable=20) for name in "ab"]
    assert [row.rank for row in board_of(*cells).rows] == [1, 1]


def test_failed_answers_are_weighed_against_those_that_a_share_rests_on() -> None:
    """45 of 50 positives are found; the 30 failed answers may be positives too."""
    cell = cell_of("a", count=300, num_unscored=30, denominator=50, mean=0.9)
    assert cell.bounds == pytest.approx((45 / 80, 75 / 80))
    of_run = replace(cell, is_of_run=True)
    assert of_run.bounds == cell.bounds, "a share of answers, whatever computed it"
    macro = replace(of_run, denominator=None)
    assert macro.bounds is None, "macro F1 is no mean over answers"
    assert "under the floor" in render(board_of(macro, CELL), "table")


def test_what_the_model_itself_caused_counts_as_wrong_in_a_second_value() -> None:
    windowed = cell_of("small", count=50, num_unscored=10, num_model_failures=6, mean=0.8)
    board = board_of(windowed, CELL)
    cell = board.rows[1].cells[0]
    assert cell and cell.mean_with_failures == pytest.approx(40 / 56)
    assert cell.bounds == pytest.approx((40 / 60, 50 / 60))
    assert "6 too long, 0.714 if wrong" in render(board, "table")
    lower = replace(windowed, lower_is_better=True)
    assert lower.mean_with_failures == pytest.approx(46 / 56), "the worst is the highest"
    assert replace(windowed, maximum=None, minimum=None).bounds is None


def test_runs_read_by_two_rules_are_two_rows() -> None:
    """Strict 0.000 and choice 0.667 are not one mean of 0.333 over 240 questions."""
    strict = cell_of(
        "a",
        count=120,
        mean=0.0,
        comparability=KEY | {"extraction": "strict"},
        configuration=CELL.configuration | {"extraction": "strict"},
    )
    choice, other = cell_of("a", count=120, mean=2 / 3), cell_of("b", count=120, mean=0.5)
    board = board_of(strict, choice, other)
    assert ranks(board) == [("a", 1, 1.0), ("b", 2, 0.0), ("a (strict)", None, None)]
    values = [cell.mean for row in board.rows for cell in row.cells if cell]
    assert values == pytest.approx([2 / 3, 0.5, 0.0])
    assert "(read by strict)" in render(board, "table")
    assert "a (strict)" in board.notes[-1]
    assert board.rows[0].medhelm_mean_win_rate == 0.0, "MedHELM's own mean of 0.333 loses"


def test_a_newer_rule_is_not_ranked_with_an_older_one() -> None:
    """0.750 by the new version, 0.000 by the old one: the cells of most models stay."""
    old = cell_of(
        "old",
        mean=0.0,
        comparability=KEY | {"metric": "old"},
        made_at=datetime(2025, 1, 1, tzinfo=UTC),
    )
    board = board_of(old, cell_of("a", mean=0.75), cell_of("b", mean=0.5))
    assert ranks(board) == [("a", 1, 1.0), ("b", 2, 0.0), ("old", None, None)]
    assert board.rows[2].lacks == ("QA (older metric version)",)
    pair = board_of(old, cell_of("a", mean=0.75))
    assert [row.cells[0].differs for row in pair.rows if row.cells[0]] == [
        "",
        "older metric version",
    ], "of as many models on both sides the newest stay"
    assert all(row.mean_win_rate is None for row in pair.rows)


@pytest.mark.parametrize("recorded", [KEY, None])
def test_other_instances_are_not_ranked_with_each_other(recorded) -> None:
    few = cell_of("few", count=3, mean=1.0, comparability=recorded and recorded | {"data": "x"})
    many = [cell_of(name, count=24, comparability=recorded) for name in "ab"]
    board = board_of(few, *many)
    assert ranks(board) == [("a", 1, 0.5), ("b", 1, 0.5), ("few", None, None)]
    cell = board.rows[2].cells[0]
    assert cell and "n=3" in cell.differs


@pytest.mark.parametrize(
    ("part", "changes", "words"),
    [
        ("prompt", {"adapter.max_tokens": "1"}, "asked otherwise: max_tokens 1, not 16"),
        ("prompt", {}, "other prompt or decoding"),
        ("extraction", {}, "read by other rules"),
        ("jury", {"jury": "strict_jury"}, "jury strict_jury"),
        ("data", {}, "other instances or labels"),
    ],
)
def test_a_cell_says_in_plain_words_what_differs(part, changes, words) -> None:
    one = cell_of(
        "one",
        comparability=KEY | {part: "other"},
        configuration={**CELL.configuration, **changes},
    )
    board = board_of(one, cell_of("a"), cell_of("b"))
    assert board.rows[-1].lacks == (f"QA ({words})",)


def test_further_runs_of_a_sweep_differ_in_how_they_were_asked_alone() -> None:
    def swept(value: str, **parts: str) -> BoardCell:
        return cell_of(
            "a",
            comparability=KEY | {"prompt": value} | parts,
            configuration={**CELL.configuration, "adapter.temperature": value},
            made_at=datetime(2026, 2, 1, tzinfo=UTC),
        )

    cells = [cell_of("a"), swept("0.7"), swept("1.0"), swept("1.5", extraction="strict")]
    board = board_of(*cells, cell_of("b"))
    assert ranks(board)[:2] == [("a", 1, 0.5), ("b", 1, 0.5)], "they move nobody's rank"
    by_variant = {row.variant: row.cells[0] for row in board.rows if row.variant}
    assert {name: cell.is_of_sweep for name, cell in by_variant.items() if cell} == {
        "temperature 0.7": True,
        "temperature 1.0": True,
        "temperature 1.5": False,
    }
    assert by_variant["temperature 0.7"].differs == "asked otherwise: temperature 0.7"
    assert any(note.startswith("(asked otherwise)") for note in board.notes)


def test_imported_answers_are_ranked_and_marked() -> None:
    known = {"imported": "the prompt is not on record"}
    elsewhere = cell_of("b", mean=0.9, comparability=KEY | {"origin": "imported"}, **known)
    board = board_of(cell_of("a"), elsewhere)
    assert ranks(board) == [("b", 1, 1.0), ("a", 2, 0.0)]
    assert "imported: answers of b were made elsewhere; the prompt is not on record." in board.notes
    assert "n=60 imported" in render(board, "table")
    other = replace(elsewhere, comparability=KEY | {"origin": "imported", "prompt": "other"})
    assert ranks(board_of(cell_of("a"), cell_of("c"), other))[-1] == ("b", None, None)


def test_a_models_answers_that_were_asked_for_here_stand_before_imported_ones() -> None:
    newer = datetime(2026, 4, 1, tzinfo=UTC)
    elsewhere = cell_of(
        "a", comparability=KEY | {"origin": "imported"}, imported="x", made_at=newer
    )
    board = board_of(cell_of("a"), elsewhere, cell_of("b"))
    assert {row.name for row in board.rows} == {"a", "a (imported)", "b"}


def test_a_run_scored_again_since_is_left_out() -> None:
    board = board_of(cell_of("again", is_current=False), cell_of("a"), cell_of("b", mean=0.1))
    assert board.rows[-1].lacks == ("QA (scored again since, not summarised yet)",)
    assert [row.rank for row in board.rows] == [1, 2, None]


def test_a_model_with_one_easy_benchmark_is_not_ranked_first() -> None:
    easy = [cell_of(name, scenario_name="easy", display_name="Easy", mean=0.9) for name in "ab"]
    only = cell_of("only", scenario_name="easy", display_name="Easy", mean=1.0)
    board = board_of(*easy, only, cell_of("a"), cell_of("b", mean=0.6))
    assert ranks(board) == [("a", 1, 0.625), ("b", 2, 0.125), ("only", None, None)]
    assert board.rows[2].lacks == ("QA (not run)",)
    assert board.rows[2].medhelm_mean_win_rate == 1.0
    assert "Not ranked: only has no mean that counts on QA (not run)." in board.notes


def test_ties_share_a_rank_whatever_the_scales() -> None:
    """Beta's means are higher on a scale of 1 to 5; nothing follows from it."""
    cells = [
        cell_of("beta", scenario_name="rated", mean=4.5),
        cell_of("beta", mean=0.1),
        cell_of("alpha", scenario_name="rated", mean=1.5),
        cell_of("alpha", mean=0.2),
    ]
    assert ranks(board_of(*cells)) == [("alpha", 1, 0.5), ("beta", 1, 0.5)]


def test_the_suite_files_list_is_what_models_are_ranked_on() -> None:
    listed = [
        cell_of(name, scenario_name="listed", display_name="Listed", is_listed=True) for name in "a"
    ]
    board = board_of(*listed, cell_of("a"), cell_of("b"), cell_of("c"))
    assert [(column.display_name, column.is_ranked) for column in board.columns] == [
        ("Listed", True),
        ("QA", False),
    ]
    assert [row.lacks for row in board.rows] == [(), ("Listed (not run)",), ("Listed (not run)",)]


def parts(name: str, means: dict[str, float], **changes) -> list[BoardCell]:
    return [
        cell_of(
            name,
            part=part,
            mean=mean,
            ci_low=mean - 0.1,
            ci_high=mean + 0.1,
            comparability=KEY | {"data": part},
            **changes,
        )
        for part, mean in means.items()
    ]


def test_the_parts_of_a_scenario_are_one_cell_and_a_missing_part_is_told() -> None:
    whole = {"x": 0.25, "y": 0.75}
    board = board_of(*parts("a", whole), *parts("b", whole), *parts("c", {"x": 1.0}))
    assert ranks(board) == [("a", 1, 0.5), ("b", 1, 0.5), ("c", None, None)]
    assert board.rows[2].lacks == ("QA (lacks y)",)
    cell = board.rows[0].cells[0]
    assert cell and (cell.mean, cell.total, cell.num_runs) == (0.5, 120, 2)
    assert (cell.ci_low, cell.ci_high) == pytest.approx((0.4, 0.6)), "errors may move together"
    (row,) = board_of(*parts("a", whole, is_disjoint=True)).rows
    assert row.cells[0] and row.cells[0].ci_low == pytest.approx(0.5 - 0.1 / 2**0.5), "MOVER"


def test_a_part_below_the_floor_is_a_cell_below_it() -> None:
    poor = replace(parts("a", {"y": 0.5})[0], count=50, num_unscored=10)
    (row,) = board_of(*parts("a", {"x": 0.5}), poor).rows
    cell = row.cells[0]
    assert cell and cell.is_below_floor
    assert cell.bounds == pytest.approx(((0.5 + 25 / 60) / 2, (0.5 + 35 / 60) / 2))


def test_a_part_whose_prompts_were_all_too_long_counts_as_wrong() -> None:
    long = replace(
        parts("a", {"y": 0.5}, is_disjoint=True)[0],
        count=0,
        num_unscored=60,
        num_model_failures=60,
        mean=None,
    )
    (row,) = board_of(*parts("a", {"x": 0.8}, is_disjoint=True), long).rows
    cell = row.cells[0]
    assert cell and (cell.mean, cell.mean_with_failures) == (0.8, 0.4)


def test_the_board_is_the_same_for_any_order_of_the_cells() -> None:
    cells = [
        cell_of("a"),
        cell_of("a", count=24),
        FAILING,
        LUCKY,
        cell_of("b"),
        *parts("c", {"x": 0.5, "y": 1}),
    ]
    assert board_of(*cells) == board_of(*reversed(cells))


def test_mean_win_rates_by_hand_with_ties_gaps_and_both_directions():
    columns = {
        # Worst to best: c, then a and b tied: a and b beat 1 and halve 1 of 2 others.
        "qa": {"a": 0.9, "b": 0.9, "c": 0.5},
        # Lower is better: b beats a; c has no value.
        "latency": {"a": 3.0, "b": 1.0, "c": None},
    }
    rates = mean_win_rates(columns, {"qa": False, "latency": True})
    assert rates == pytest.approx({"a": (0.75 + 0) / 2, "b": (0.75 + 1) / 2, "c": 0.0})


def test_columns_that_compare_nobody_are_skipped():
    columns = {
        "one value": {"a": 0.9, "b": None},
        "no direction": {"a": 1.0, "b": 2.0},
        "unlisted": {"a": 1.0, "b": 2.0},
        "compared": {"a": 0.1, "b": 0.2},
    }
    directions = {"one value": False, "no direction": None, "compared": False}
    assert mean_win_rates(columns, directions) == {"a": 0.0, "b": 1.0}
    assert mean_win_rates({"x": {"a": 1.0}}, {"x": False}) == {}


def test_all_tied_is_one_half():
    rates = mean_win_rates({"x": dict.fromkeys("abcd", 0.5)}, {"x": False})
    assert rates == dict.fromkeys("abcd", 0.5)


def test_equals_the_win_rates_medhelm_wrote(real_data: Path):
    folder = real_data / "helm_output_sample" / "releases" / "sample-release" / "groups" / "json"
    compared = 0
    for file in sorted(folder.glob("*.json")):
        table = json.loads(file.read_text("utf-8"))
        titles = [cell["value"] for cell in table["header"]]
        if "Mean win rate" not in titles:
            continue
        where = titles.index("Mean win rate")
        columns, directions = {}, {}
        for index, cell in enumerate(table["header"]):
            if index not in (0, where):
                columns[index] = {row[0]["value"]: row[index].get("value") for row in table["rows"]}
                directions[index] = cell.get("lower_is_better")
        rates = mean_win_rates(columns, directions)
        for row in table["rows"]:
            assert rates.get(row[0]["value"]) == row[where].get("value")
            compared += 1
    assert compared > 0
