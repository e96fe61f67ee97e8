"""Boards of runs: cells with paired differences and notes, and the table of robustness."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from medhelm_spark.board.common import common_of
from medhelm_spark.board.pairs import paired
from medhelm_spark.board.runs import BoardRun, load_runs
from medhelm_spark.board.skipped import skipped_in, skipped_notes
from medhelm_spark.board.sources import choose, reader_of
from medhelm_spark.domain.pluralize import counted, first_of
from medhelm_spark.domain.run import ExtractionMethod
from medhelm_spark.domain.skipped import LeftOut
from medhelm_spark.lake.reader import Reader
from medhelm_spark.statistics.board import Leaderboard, build_board
from medhelm_spark.statistics.robustness import RobustnessRow, ordered, with_numbers


def board_of(
    reader: Reader,
    runs: Sequence[BoardRun],
    left_out: Sequence[LeftOut] = (),
    *,
    coverage_floor: float,
) -> Leaderboard:
    """The board of these runs without paired differences; `left_out` is what it lacks.

    `reader` has the scores behind them: of a release, the frozen ones.
    """
    cells = (run.cell for run in runs if run.cell)
    absent = skipped_notes(left_out, (run.run_spec.scenario_name for run in runs))
    common = common_of(reader, runs)
    return build_board(cells, (*absent, *_notes(runs)), common, coverage_floor=coverage_floor)


def load_board(
    reader: Reader, suite: str | None = None, release: str | None = None, *, coverage_floor: float
) -> Leaderboard:
    """The board of a suite or release, with the paired differences of its models.

    `coverage_floor` is the policy's: the share of a cell's answers that must have a score.
    """
    source = choose(reader, suite, release)
    runs = load_runs(reader, source)
    frozen = reader_of(reader, source)
    board = board_of(frozen, runs, skipped_in(reader, source), coverage_floor=coverage_floor)
    return replace(board, pairs=paired(frozen, runs, board.rows))


_DEFAULT_READINGS = {
    "all references are yes, no or maybe": ExtractionMethod.YES_NO,
    "all references are letters": ExtractionMethod.CHOICE,
    "its metrics declare all labels": ExtractionMethod.CHOICE,
}
"""Which methods are the default, and why."""


def _why(run: BoardRun) -> str:
    """The reason of a run's default reading."""
    words, letters, labels = _DEFAULT_READINGS
    if run.run_spec.reading == ExtractionMethod.YES_NO:
        return words
    how = run.run_spec.answer_extraction
    return labels if how and how.options else letters


def _notes(runs: Sequence[BoardRun]) -> Iterator[str]:
    """Notes about runs that their cells do not show."""
    if any(run.changes for run in runs):
        yield "Copies, other prompts or repeats were asked too: see the table of robustness."
    by_default = [run for run in runs if run.planned.is_reading_default]
    for why, reading in _DEFAULT_READINGS.items():
        if names := {run.run_spec.scenario_name for run in by_default if _why(run) == why}:
            yield (
                f"Answers are read by {reading}, for {why} and answer_extraction is not stated: "
                f"{first_of(sorted(names))}."
            )
    if superseded := sum(run.is_superseded for run in runs):
        yield f"Planned anew in its suite since: {counted(superseded, 'run')} of this release."
    if waiting := sorted(run.run_spec.name for run in runs if not run.is_summarized):
        yield f"Planned, and not summarised yet: {first_of(waiting)}."
    if lost := lost_note(runs):
        yield lost
    if unknown := sorted({run.run_spec.main_metric for run in runs if run.cell and not run.info}):
        yield (
            f"Not known here, so without direction and win rate: {', '.join(unknown)}; "
            "name their plug-in by --plugins."
        )


def lost_note(runs: Iterable[BoardRun]) -> str:
    """A note on stats that were made and are missing now; empty where none are."""
    lost = sorted(run.run_spec.name for run in runs if run.is_lost)
    if not lost:
        return ""
    return (
        f"The stats of these runs were made and are gone: restore table 'stats'. {first_of(lost)}."
    )


def robustness_of(runs: Iterable[BoardRun]) -> tuple[RobustnessRow, ...]:
    """A row for each perturbation, prompt variant and collection of them, of each run."""
    return ordered(row for run in runs for row in _robustness_rows(run))


def _robustness_rows(run: BoardRun) -> Iterable[RobustnessRow]:
    if run.cell is None:
        return ()
    template = RobustnessRow(
        model_deployment=run.cell.model_deployment,
        scenario_name=run.cell.scenario_name,
        display_name=run.cell.display_name,
        main_metric=run.cell.main_metric,
        lower_is_better=run.cell.lower_is_better,
    )
    return with_numbers(template, run.changes, run.originals.get(run.run_spec.main_metric))
