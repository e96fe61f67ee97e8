"""The table of robustness: what perturbed copies and other prompts do to the runs of a board."""

from collections.abc import Iterable

from medhelm_spark.leaderboard.runs import BoardRun
from medhelm_spark.statistics.robustness import RobustnessRow, ordered, with_numbers


def robustness_of(runs: Iterable[BoardRun]) -> tuple[RobustnessRow, ...]:
    """A row for each perturbation, prompt variant and collection of them, of each run."""
    return ordered(row for run in runs for row in _rows(run))


def _rows(run: BoardRun) -> Iterable[RobustnessRow]:
    if run.cell is None:
        return ()
    named = RobustnessRow(
        model_deployment=run.cell.model_deployment,
        scenario_name=run.cell.scenario_name,
        display_name=run.cell.display_name,
        main_metric=run.cell.main_metric,
        lower_is_better=run.cell.lower_is_better,
    )
    return with_numbers(named, run.changes, run.cell.mean)
