"""The worst group of patients in each cell of a board (`features`)."""

from collections.abc import Sequence
from dataclasses import replace

from medhelm_spark.board import BoardRun
from medhelm_spark.lake.reader import Reader
from medhelm_spark.subgroups.model_groups import ModelGroups, group_label, groups_of_runs


def with_cells(reader: Reader, runs: Sequence[BoardRun]) -> list[BoardRun]:
    """The runs, in their cells the group with the largest gap, where its interval is above 0."""
    largest: dict[str, ModelGroups] = {}
    for of in groups_of_runs(reader, runs):
        if of.gap is None or of.gap.low <= 0:
            continue
        held = largest.get(of.run_spec_id)
        if held is None or held.gap is None or of.gap.value > held.gap.value:
            largest[of.run_spec_id] = of
    return [_with_cell(run, largest.get(run.run_spec.run_spec_id)) for run in runs]


def _with_cell(run: BoardRun, of: ModelGroups | None) -> BoardRun:
    if of is None or of.worst is None or run.cell is None:
        return run
    name = f"{of.group_column}: {group_label(of.worst.group_value)}"
    return replace(run, cell=replace(run.cell, worst_group=name, worst_group_mean=of.worst.mean))
