"""A run's cell of the board."""

from dataclasses import replace

import pytest

from medhelm_spark.board.cells import StatsWrite, cell_of
from medhelm_spark.domain.run import MetricSpec
from tests.unit.board.planted import ALPHA, START, planned, run_spec, stat


@pytest.mark.parametrize(
    ("metric", "main", "is_of_run"),
    [
        ("exact_match", "exact_match", False),
        ("classification", "classification_macro_f1", True),
        ("not_installed_here", "not_installed_here", False),
    ],
)
def test_a_cell_names_whether_its_mean_is_of_the_whole_run(
    metric: str, main: str, is_of_run: bool
) -> None:
    spec = replace(
        run_spec("r", ALPHA, "triage_choice"),
        metrics=(MetricSpec(name=metric, args={"labels": "yes|no"}),),
        main_metric=main,
    )
    written = StatsWrite(made_at=START, is_current=True)
    cell = cell_of(planned(spec), [stat("r", main, (1.0, 0.0))], None, written)
    assert cell is not None
    assert cell.is_of_run is is_of_run
