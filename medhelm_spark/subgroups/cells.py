"""The worst group of patients in each cell of a board (`features`)."""

from collections.abc import Sequence
from dataclasses import replace

from medhelm_spark.board import BoardRun
from medhelm_spark.lake.reader import Reader
from medhelm_spark.subgroups.model_groups import group_label, groups_of_runs
from medhelm_spark.subgroups.tables import GroupStat


def with_cells(reader: Reader, runs: Sequence[BoardRun]) -> list[BoardRun]:
    """The runs, in their cells the group that is shown to be worse by the largest difference."""
    named: dict[str, GroupStat] = {}
    for model in groups_of_runs(reader, runs):
        for stat in model.worse[:1]:
            worst = named.get(model.run_spec_id)
            if worst is None or abs(stat.difference or 0) > abs(worst.difference or 0):
                named[model.run_spec_id] = stat
    return [_with_cell(run, named.get(run.run_spec.run_spec_id)) for run in runs]


def _with_cell(run: BoardRun, stat: GroupStat | None) -> BoardRun:
    if stat is None or run.cell is None:
        return run
    name = f"{stat.group_column}: {group_label(stat.group_value)}"
    return replace(run, cell=replace(run.cell, worst_group=name, worst_group_mean=stat.mean))
