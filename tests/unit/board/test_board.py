"""Boards of suites and releases: what counts, what does not, and every number of it."""

from dataclasses import replace
from pathlib import Path

import pytest

from medhelm_spark.board import (
    BoardSource,
    Kind,
    board_of,
    choose,
    list_releases,
    list_suites,
    load_board as load_board_of,
    load_runs,
    robustness_of,
    text_levels,
)
from medhelm_spark.board.pairs import with_all, with_all_of_few
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.policy import ComparisonRules
from medhelm_spark.domain.run import AnswerExtraction, ExtractionMethod, MetricSpec
from medhelm_spark.errors import ConfigError, LakeError
from medhelm_spark.lake.reader import Reader, open_reader
from medhelm_spark.statistics.board import Leaderboard
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.paired import PairedDifference
from tests.unit.board.changes import plant_changes
from tests.unit.board.planted import (
    ALPHA,
    BETA,
    GAMMA,
    append,
    finish,
    planned,
    plant,
    run_spec,
    stat,
    unit,
    write_stats,
)

FLOOR = ComparisonRules().coverage_floor


def load_board(reader: Reader, suite: str | None = None, release: str | None = None):
    return load_board_of(reader, suite, release, coverage_floor=FLOOR)


def cell(board: Leaderboard, model: str, scenario: str) -> BoardCell | None:
    (row,) = (row for row in board.rows if row.model_deployment == model)
    (index,) = (i for i, column in enumerate(board.columns) if column.scenario_name == scenario)
    return row.cells[index]


def test_the_board_of_a_suite_has_the_planted_means_and_counts(reader: Reader) -> None:
    board = load_board(reader, suite="s1")
    board_cell = {
        (shown_cell.model_deployment, shown_cell.scenario_name): (
            shown_cell.mean,
            shown_cell.count,
            shown_cell.num_unscored,
        )
        for row in board.rows
        for shown_cell in row.cells
        if shown_cell
    }
    assert board_cell == {
        (ALPHA, "triage_choice"): (0.75, 4, 0),
        (BETA, "triage_choice"): (0.75, 4, 0),
        (GAMMA, "triage_choice"): (0.25, 4, 0),
        (ALPHA, "medcalc_bench"): (0.5, 2, 1),
        (BETA, "medcalc_bench"): (1.0, 3, 0),
        (ALPHA, "discharge_note"): (3.25, 2, 0),
    }
    assert cell(board, GAMMA, "medcalc_bench") is None
    assert cell(board, BETA, "discharge_note") is None


def test_a_model_that_lacks_a_benchmark_is_told_and_not_ranked(reader: Reader) -> None:
    board = load_board(reader, "s1")
    assert [(row.model_deployment, row.rank, row.mean_win_rate) for row in board.rows] == [
        (BETA, 1, 0.75),
        (ALPHA, None, None),
        (GAMMA, None, None),
    ]
    assert [row.lacks for row in board.rows] == [
        (),
        ("MedCalc-Bench (2 of 3 answers scored)",),
        ("MedCalc-Bench (not run)",),
    ]
    rates = {row.model_deployment: row.medhelm_mean_win_rate for row in board.rows}
    assert rates == {ALPHA: (0.75 + 0) / 2, BETA: (0.75 + 1) / 2, GAMMA: 0.0}


def test_a_cell_carries_its_interval_metric_and_locality(reader: Reader) -> None:
    board_cell = cell(load_board(reader, "s1"), ALPHA, "triage_choice")
    assert board_cell
    assert (board_cell.ci_low, board_cell.ci_high) == pytest.approx((0.300642, 0.954413), abs=1e-6)
    assert (board_cell.main_metric, board_cell.lower_is_better, board_cell.split) == (
        "exact_match",
        False,
        "test",
    )
    assert (board_cell.display_name, board_cell.category) == (
        "Triage choice",
        "Clinical Decision Support",
    )
    assert (board_cell.locality, board_cell.access_level) == ("local", "public")


def test_only_a_jury_nobody_validated_marks_a_cell(reader: Reader) -> None:
    board = load_board(reader, "s1")
    judged, other = cell(board, ALPHA, "discharge_note"), cell(board, ALPHA, "triage_choice")
    assert judged and (judged.jury_evidence, judged.jury_coverage) == ("not validated", 0.75)
    assert other and (other.jury_evidence, other.jury_coverage) == ("", None)


def test_paired_differences_are_of_all_pairs_of_few_models(reader: Reader) -> None:
    def pairs_of(floor: float) -> dict[tuple[str, str, str], PairedDifference]:
        board = load_board_of(reader, "s1", coverage_floor=floor)
        return {(p.scenario_name, p.first, p.second): p.difference for p in board.pairs}

    assert ("medcalc_bench", BETA, ALPHA) not in pairs_of(0.95), "it is under the floor"
    pairs = pairs_of(0.5)
    assert set(pairs) == {
        ("medcalc_bench", BETA, ALPHA),
        ("triage_choice", BETA, ALPHA),
        ("triage_choice", BETA, GAMMA),
        ("triage_choice", ALPHA, GAMMA),
    }
    tie = pairs["triage_choice", BETA, ALPHA]
    assert (tie.n, tie.mean_difference, tie.p_value) == (4, 0.0, 1.0)
    calc = pairs["medcalc_bench", BETA, ALPHA]
    assert (calc.n, calc.num_dropped, calc.mean_difference) == (2, 1, 0.5)
    assert list(with_all_of_few(range(6))) == list(with_all(range(6)))
    assert list(with_all_of_few(range(7))) == [(0, other) for other in range(1, 7)]


def test_runs_tell_what_is_still_to_be_summarised(reader: Reader) -> None:
    runs = load_runs(reader, choose(reader, "s1"))
    assert [run.run_spec.run_spec_id for run in runs if not run.is_summarized] == [
        unit(GAMMA, "medcalc_bench")
    ]
    assert all(run.is_current for run in runs if run.is_summarized)


def test_a_board_of_fewer_runs_ranks_anew(reader: Reader) -> None:
    runs = [
        r for r in load_runs(reader, choose(reader, "s1")) if r.run_spec.access_level == "public"
    ]
    rates = {
        row.model_deployment: row.mean_win_rate
        for row in board_of(reader, runs, coverage_floor=FLOOR).rows
    }
    assert rates == {ALPHA: 0.75, BETA: 0.75, GAMMA: 0.0}


def test_a_release_keeps_the_stats_it_pinned(reader: Reader) -> None:
    board = load_board(reader, release="R1")
    board_cell = cell(board, ALPHA, "triage_choice")
    assert board_cell and (board_cell.mean, board_cell.count) == (0.5, 2)
    assert len(board.rows) == 1
    (run,) = load_runs(reader, choose(reader, release="R1"))
    assert not run.is_current


def test_lists_name_the_newest_first(reader: Reader) -> None:
    assert list_suites(reader) == ["s1", "s0"]
    assert list_releases(reader) == [BoardSource(kind=Kind.RELEASE, name="R1", status="draft")]


def test_without_a_name_the_suite_planned_last_is_chosen(reader: Reader) -> None:
    assert choose(reader) == BoardSource(kind=Kind.SUITE, name="s1")


def test_a_suite_without_any_stats_is_an_empty_board(reader: Reader) -> None:
    assert load_board(reader, "s0").rows == ()


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ({"suite": "s2"}, "no suite 's2'; the lake has 's0', 's1'"),
        ({"suite": "it's"}, 'no suite "it\'s"'),
        ({"release": "R2"}, "no release 'R2'; the lake has 'R1'"),
    ],
)
def test_an_unknown_name_is_answered_by_the_known_ones(reader: Reader, source, sentence) -> None:
    with pytest.raises(LakeError, match=sentence):
        load_board(reader, **source)


def test_a_suite_and_a_release_at_once_are_refused(reader: Reader) -> None:
    with pytest.raises(ConfigError, match="not both"):
        load_board(reader, suite="s1", release="R1")


def test_an_empty_folder_holds_no_suite(tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="no suite was run"):
        load_board(open_reader(str(tmp_path)))


def test_the_levels_of_all_text_are_found(reader: Reader, tmp_path: Path) -> None:
    assert text_levels(reader) == set(AccessLevel)
    assert text_levels(open_reader(str(tmp_path))) == set()


def test_scores_made_again_show_once_their_write_is_finished(tmp_path: Path) -> None:
    reader, run = open_reader(str(plant(tmp_path))), unit(ALPHA, "triage_choice")
    write_stats(tmp_path, run, "triage_choice", (1, 1, 1, 1), "w-again")
    before = cell(load_board(reader, "s1"), ALPHA, "triage_choice")
    finish(tmp_path, "summarize", run, "w-again", minutes=9)
    after = cell(load_board(reader, "s1"), ALPHA, "triage_choice")
    assert before and after and (before.mean, after.mean) == (0.75, 1.0)


def test_a_run_scored_after_its_summary_is_not_paired(tmp_path: Path) -> None:
    reader = open_reader(str(plant(tmp_path)))
    finish(tmp_path, "score", unit(BETA, "medcalc_bench"), "w-beta-medcalc_bench", minutes=9)
    pairs = load_board(reader, "s1").pairs
    assert {pair.scenario_name for pair in pairs} == {"triage_choice"}


def test_unreadable_answers_and_the_primary_endpoint_stand_in_the_cell(tmp_path: Path) -> None:
    reader = open_reader(str(plant(tmp_path)))
    plant_changes(tmp_path)
    board = load_board(reader, "s1")
    board_cell, other = (cell(board, model, "triage_choice") for model in (ALPHA, BETA))
    assert board_cell and (board_cell.unreadable, board_cell.is_primary) == (0.25, True)
    assert other and (other.unreadable, other.is_primary) == (None, False)
    assert [column.scenario_name for column in board.columns if column.is_primary] == [
        "triage_choice"
    ]
    assert [column.margin for column in board.columns if column.is_primary] == [0.02]
    assert (board_cell.margin, other.margin) == (0.02, None)


def test_what_changes_do_is_a_table_of_its_own(tmp_path: Path) -> None:
    reader = open_reader(str(plant(tmp_path)))
    assert robustness_of(load_runs(reader, choose(reader, "s1"))) == ()
    before = load_board(reader, "s1")
    plant_changes(tmp_path)
    rows = robustness_of(load_runs(reader, choose(reader, "s1")))
    assert [row.perturbation for row in rows] == [
        "prompt_variants",
        "repeats",
        "robustness",
        "typos",
    ]
    prompts, repeats, robustness, typos = rows
    assert {(row.model_deployment, row.display_name, row.main_metric) for row in rows} == {
        (ALPHA, "Triage choice", "exact_match")
    }
    assert (typos.original, typos.changed, typos.worst) == pytest.approx((2 / 3, 1 / 3, 1 / 3))
    assert (typos.count, typos.lower_is_better) == (3, False)
    assert (robustness.original, robustness.worst) == (0.75, 0.5)
    assert (prompts.original, prompts.changed, prompts.spread) == (0.75, 0.625, 0.25)
    assert (repeats.changed, repeats.worst, repeats.spread) == (0.625, 0.5, 0.125)
    assert (repeats.original, repeats.count) == (0.75, 3)
    after = load_board(reader, "s1")
    means = [
        {
            (row.name, cell.scenario_name): cell.mean
            for row in board.rows
            for cell in row.cells
            if cell
        }
        for board in (before, after)
    ]
    assert means[0] == means[1], "a board shows what was computed on the instances as they are"
    assert any("see the table of robustness" in note for note in after.notes)


def test_a_metric_that_is_not_known_here_is_told(tmp_path: Path) -> None:
    reader = open_reader(str(plant(tmp_path)))
    spec = run_spec("alpha-own", ALPHA, "triage_choice")
    own = replace(spec, name="own", main_metric="greets", metrics=(MetricSpec(name="greets"),))
    append(tmp_path, "run_specs", [planned(own, suite="own")], "p-own")
    append(tmp_path, "stats", [stat("alpha-own", "greets", (1, 0))], "w-own")
    finish(tmp_path, "summarize", "alpha-own", "w-own")
    board = load_board(reader, "own")
    assert board.columns[0].lower_is_better is None
    assert "greets; name their plug-in by --plugins." in board.notes[-1]


def test_a_further_run_of_a_model_is_a_row_named_by_what_differs(tmp_path: Path) -> None:
    reader = open_reader(str(plant(tmp_path)))
    spec = run_spec("alpha-choice", ALPHA, "triage_choice")
    reading = AnswerExtraction(method=ExtractionMethod.CHOICE)
    spec = replace(spec, name="triage_choice:answer_extraction=choice", answer_extraction=reading)
    append(tmp_path, "run_specs", [planned(spec)], "p-choice")
    append(tmp_path, "stats", [stat("alpha-choice", "exact_match", (1, 1, 1, 1))], "w-choice")
    finish(tmp_path, "summarize", "alpha-choice", "w-choice", minutes=9)
    board = load_board(reader, "s1")
    means = {row.name: row.cells[1] and row.cells[1].mean for row in board.rows}
    assert means == {ALPHA: 0.75, BETA: 0.75, GAMMA: 0.25, f"{ALPHA} (choice)": 1.0}
    assert {pair.first for pair in board.pairs} | {pair.second for pair in board.pairs} == {
        ALPHA,
        BETA,
        GAMMA,
    }


def test_a_board_says_why_answers_are_read_where_nobody_stated_it(tmp_path: Path) -> None:
    kinds = {
        "words": AnswerExtraction(method=ExtractionMethod.YES_NO),
        "letters": AnswerExtraction(method=ExtractionMethod.CHOICE),
        "labels": AnswerExtraction(method=ExtractionMethod.CHOICE, options=("Y", "N")),
    }
    for kind, how in kinds.items():
        spec = run_spec(kind, ALPHA, "triage_choice")
        spec = replace(spec, name=kind, scenario_name=kind, answer_extraction=how)
        row = replace(planned(spec), is_reading_default=True)
        append(tmp_path, "run_specs", [row], f"p-{kind}")
    notes = load_board(open_reader(str(tmp_path)), "s1").notes
    for kind, why in {
        "words": "yes_no, for all references are yes, no or maybe",
        "letters": "choice, for all references are letters",
        "labels": "choice, for its metrics declare all labels",
    }.items():
        note = f"Answers are read by {why} and answer_extraction is not stated: {kind}."
        assert note in notes


def test_the_parts_of_a_scenario_are_one_column(tmp_path: Path) -> None:
    for part, values in {"x": (1, 1, 1, 0), "y": (0, 0, 1, 0)}.items():
        spec = run_spec(f"alpha-{part}", ALPHA, "triage_choice")
        spec = replace(spec, name=part, scenario_name=f"triage_choice:subject={part}")
        row = replace(planned(spec), part_of="triage_choice", is_disjoint=True)
        append(tmp_path, "run_specs", [row], f"p-{part}")
        append(tmp_path, "stats", [stat(spec.run_spec_id, "exact_match", values)], f"w-{part}")
        finish(tmp_path, "summarize", spec.run_spec_id, f"w-{part}")
    (row,) = load_board(open_reader(str(tmp_path)), "s1").rows
    (board_cell,) = row.cells
    assert board_cell and (board_cell.mean, board_cell.total, board_cell.ci_method) == (
        0.5,
        8,
        "mover",
    )
    assert [part.part for part in board_cell.parts] == ["subject=x", "subject=y"]


def test_scores_made_after_the_summary_leave_the_cell_out(tmp_path: Path) -> None:
    reader = open_reader(str(plant(tmp_path)))
    finish(tmp_path, "score", unit(BETA, "triage_choice"), "w-later", minutes=9)
    board_cell = cell(load_board(reader, "s1"), BETA, "triage_choice")
    assert board_cell and board_cell.differs == "scored again since, not summarised yet"
