"""Which runs are compared on the instances that both have."""

from dataclasses import replace
from pathlib import Path

from medhelm_spark.board import BoardSource, Kind, load_runs
from medhelm_spark.board.common import common_of
from medhelm_spark.lake.reader import open_reader
from tests.unit.candidate_gate.planted import NEW, OLD, Answered, plant, plant_run


def test_runs_that_a_stat_applies_to_on_other_instances_are_compared_on_those_of_both(
    tmp_path: Path,
) -> None:
    """As the validity of queries: each model may give none to other questions."""
    right = [1] * 40
    answered = Answered(
        right=right, old=[None] * 10 + [0] * 10 + [1] * 20, new=[0] * 10 + [1] * 20 + [None] * 10
    )
    lake = plant(tmp_path / "lake", answered)
    plant_run(lake, OLD, "new", answered, answered.old)
    reader = open_reader(str(lake))
    runs = [
        replace(run, cell=replace(run.cell, num_unscorable=run.cell.num_unscored))
        for run in load_runs(reader, BoardSource(kind=Kind.SUITE, name="new"))
        if run.cell
    ]
    assert [(run.cell.count, run.cell.num_failed) for run in runs if run.cell] == [(30, 0)] * 2
    of_new, of_old = (
        (run.run_spec.run_spec_id,)
        for name in (NEW, OLD)
        for run in runs
        if run.run_spec.model_deployment == name
    )
    means = common_of(reader, runs)[of_new, of_old]
    assert (means.first, means.second) == (1.0, 0.5)
