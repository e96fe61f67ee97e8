"""The section of a report on groups of patients."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from medhelm_spark.board import BoardRun
from medhelm_spark.board.render.charts import Palette, Spec
from medhelm_spark.board.render.report_file import Figure, Section
from medhelm_spark.lake.reader import Reader
from medhelm_spark.render.table import TextTable
from medhelm_spark.subgroups.chart import group_plot
from medhelm_spark.subgroups.model_groups import ModelGroups, groups_of_runs
from medhelm_spark.subgroups.render import groups_table, notes

HEADING = "Groups of patients"


def sections(reader: Reader, runs: Sequence[BoardRun]) -> Iterator[Section]:
    """Below a heading each benchmark by each column; nothing where there are no groups."""
    groups = groups_of_runs(reader, runs)
    by_place: dict[tuple[str, str], list[ModelGroups]] = {}
    for of in groups:
        by_place.setdefault((of.display_name, of.group_column), []).append(of)
    parts: list[str | TextTable | Figure] = []
    for number, ((name, column), alike) in enumerate(by_place.items(), start=1):
        parts.append(f"{name} by {column}")
        if group_plot(alike):
            label = f"{name} by {column}: scores with 95 % intervals"
            parts.append(Figure(label=label, drawn_in=_drawn(alike)))
        table = replace(groups_table(alike), title="")
        parts.append(
            replace(table, notes=list(notes(groups))) if number == len(by_place) else table
        )
    if parts:
        yield Section(heading=HEADING, parts=parts)


def _drawn(groups: Sequence[ModelGroups]) -> Callable[[Palette], Spec]:
    return lambda palette: group_plot(groups, palette) or {}
