"""The section of a report on groups of patients."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from medhelm_spark.board.render.charts import Palette, Spec
from medhelm_spark.board.render.report_file import Figure, Reported, Section, Sentences
from medhelm_spark.render.table import TextTable
from medhelm_spark.subgroups.chart import group_plot
from medhelm_spark.subgroups.model_groups import ModelGroups, groups_of_runs
from medhelm_spark.subgroups.pairs import group_pairs
from medhelm_spark.subgroups.render import groups_table, notes, watched
from medhelm_spark.subgroups.render_pairs import pair_sentences, pairs_table

HEADING = "Groups of patients"


def sections(report: Reported) -> Iterator[Section]:
    """What is shown over all groups, each benchmark by each column, and the pairs of models."""
    groups = groups_of_runs(report.reader, report.runs)
    if not groups:
        return
    by_table: dict[tuple[str, str], list[ModelGroups]] = {}
    for model in groups:
        by_table.setdefault((model.display_name, model.group_column), []).append(model)
    parts: list[str | Sentences | TextTable | Figure] = [Sentences(lines=list(watched(groups)))]
    for number, ((name, column), alike) in enumerate(by_table.items(), start=1):
        parts.append(f"{name} by {column}")
        if group_plot(alike):
            label = f"{name} by {column}: scores with 95 % intervals"
            parts.append(Figure(label=label, drawn_in=_drawn(alike)))
        table = replace(groups_table(alike), title="")
        parts.append(
            replace(table, notes=list(notes(groups))) if number == len(by_table) else table
        )
    if compared := group_pairs(
        report.reader, report.runs, report.pairs, minimum=report.smallest_group
    ):
        sentences = Sentences(lines=list(pair_sentences(compared)))
        parts += ["Two models in each group", sentences, pairs_table(compared)]
    yield Section(heading=HEADING, parts=parts)


def _drawn(groups: Sequence[ModelGroups]) -> Callable[[Palette], Spec]:
    return lambda palette: group_plot(groups, palette) or {}
