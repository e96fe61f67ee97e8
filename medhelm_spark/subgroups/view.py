"""Sentences, tables and file of the dashboard's page *Subgroups*."""

from collections.abc import Iterator, Sequence

from medhelm_spark.board import BoardRun, board_of, paired, with_all
from medhelm_spark.lake.reader import Reader
from medhelm_spark.render.report import formatted
from medhelm_spark.render.table import TextTable
from medhelm_spark.subgroups.chart import group_plot
from medhelm_spark.subgroups.gaps import Gap
from medhelm_spark.subgroups.model_groups import ModelGroups, group_label, groups_of_runs
from medhelm_spark.subgroups.pairs import GroupDecision, GroupPair, group_pairs
from medhelm_spark.subgroups.render import (
    gap_text,
    groups_report,
    groups_table,
    notes,
    pairs_table,
)
from medhelm_spark.subgroups.twins import is_twins

__all__ = ["group_plot", "groups_of_runs", "is_twins"]

NO_FALL = "is not shown to fall behind in any group"


def compared_pairs(
    reader: Reader,
    runs: Sequence[BoardRun],
    first: str,
    column: str,
    *,
    minimum: int,
    coverage_floor: float,
) -> list[GroupPair]:
    """Two models' runs in each group of a column; each difference is `first` less the other."""
    rows = board_of(reader, runs, coverage_floor=coverage_floor).rows
    ordered = sorted(rows, key=lambda row: row.model_deployment != first)
    pairs = paired(reader, runs, ordered, pairs=with_all)
    return group_pairs(reader, runs, pairs, minimum=minimum, by=[column])


def lead(groups: Sequence[ModelGroups]) -> Iterator[str]:
    """A sentence for each model: its worst group and the gap between best and worst group."""
    for of in groups:
        if of.gap is None:
            yield f"{of.model_deployment}: no two groups can be shown."
        elif of.gap.low > 0:
            yield (
                f"{of.model_deployment} is worst for {_named(of, of.gap.worst)}: gap "
                f"{gap_text(of.gap)}."
            )
        else:
            yield (
                f"{of.model_deployment}: no group is shown to be worse; largest gap "
                f"{gap_text(of.gap)}{_of_worst(of.gap)}."
            )


def _of_worst(gap: Gap) -> str:
    """Which group has the lower score, where the two differ."""
    return f", of {group_label(gap.worst)}" if gap.value else ""


def _named(of: ModelGroups, group: str) -> str:
    """A group in a sentence; of twins with the perturbation that made the copies."""
    label = group_label(group)
    return f"the {label} questions of {of.group_column}" if is_twins(of.group_column) else label


def verdict(pairs: Sequence[GroupPair], first: str, second: str) -> str:
    """A sentence that names the groups where the first model widens a gap against the second."""
    behind = [pair for pair in pairs if pair.decision is GroupDecision.FALLS_BEHIND]
    if not behind:
        return f"Against {second}, {first} {NO_FALL}."
    named = ", ".join(dict.fromkeys(group_label(pair.group_value) for pair in behind))
    return f"Against {second}, {first} falls behind for {named}."


def tables(groups: Sequence[ModelGroups], pairs: Sequence[GroupPair]) -> list[TextTable]:
    """A table of scores by group, and a table of the pairs of models if there are any."""
    return [groups_table(groups), *([pairs_table(pairs)] if pairs else [])]


def notes_of(groups: Sequence[ModelGroups]) -> list[str]:
    """The notes that explain the numbers."""
    return list(notes(groups))


def as_csv(groups: Sequence[ModelGroups], *, banner: str = "") -> str:
    """The numbers as CSV; a number that the page hides is hidden here too."""
    return formatted(groups_report(groups, banner), "csv")
