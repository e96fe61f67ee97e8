"""`evaluation.groups(...)` and `evaluation.compare_groups(...)`."""

from collections.abc import Sequence

from medhelm_spark.board import BoardRun, as_of
from medhelm_spark.board.reading import compared
from medhelm_spark.lake.reader import Reader
from medhelm_spark.subgroups.model_groups import check_columns, groups_of_runs
from medhelm_spark.subgroups.pairs import group_pairs
from medhelm_spark.subgroups.results import GroupComparison, Groups
from medhelm_spark.workspace.entries import columns_named
from medhelm_spark.workspace.workspace import Workspace


def groups_of(
    workspace: Workspace,
    runs: Sequence[BoardRun],
    *,
    release: str | None = None,
    by: str | Sequence[str] = (),
    metric: str | None = None,
    banner: str = "",
) -> Groups:
    """What runs of a board score by group; see `Evaluation.groups`."""
    reader = as_of(workspace.reader, release)
    held = groups_of_runs(reader, runs, by=columns_named(by), metric=metric)
    return Groups(tuple(held), banner)


def compared_by_group(
    workspace: Workspace,
    runs: Sequence[BoardRun],
    models: Sequence[str],
    *,
    release: str | None = None,
    scenarios: Sequence[str] = (),
    by: str | Sequence[str] = (),
) -> GroupComparison:
    """Models of a board against each other in each group; see `Evaluation.compare_groups`."""
    reader: Reader = as_of(workspace.reader, release)
    columns = columns_named(by)
    floor = workspace.coverage_floor
    whole = compared(reader, runs, models, coverage_floor=floor, scenarios=scenarios)
    check_columns(reader, runs, columns)
    pairs = group_pairs(
        reader,
        runs,
        whole.pairs,
        minimum=workspace.registry.policy.small_cells.minimum,
        by=columns,
    )
    return GroupComparison(whole.models, tuple(pairs))
