"""Subgroups: what models score by groups of patients, and whether one widens a gap."""

from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

import streamlit as st
from page_markup import chip, note, table, text
from records import download
from shown import Shown, nothing

from medhelm_spark.board.render.charts import DARK, LIGHT
from medhelm_spark.features import part
from medhelm_spark.render.table import TextTable

ABOUT = (
    "Each row of the plot is a group of patients, each mark a model's score with its 95 % "
    "interval, each tick its score over all patients. The worst group and its gap are named only "
    "where chance is an unlikely reason. The first model falls behind the second in a group where "
    "it loses more there than everywhere else. Groups of few patients are hidden."
)
NONE = (
    "Nothing that is shown has groups. Name columns of the data as `groups` in a benchmark's file, "
    "or add them by `medhelm-spark run --by COLUMN`, which asks no model."
)
GONE = "This installation is without the feature 'subgroups'."
ALONE = "none"


def show(shown: Shown) -> None:
    """Pickers, the plot, and the numbers behind it."""
    view = part("subgroups", "view")
    if view is None:
        st.info(GONE)
        return
    if not any(run.cell for run in shown.runs):
        st.info(nothing(shown))
        return
    groups = view.groups_of_runs(shown.reader, shown.runs)
    if not groups:
        st.info(NONE)
        return
    picked = _pick(groups)
    pairs = _pairs(view, shown, picked)
    lines = [*view.lead(picked)]
    if pairs:
        lines.append(view.verdict(pairs, picked[0].model_deployment, picked[1].model_deployment))
    st.html("".join(f'<p class="ms-lead">{text(line)}</p>' for line in lines))
    _plot(view, picked)
    for one in view.tables(picked, pairs):
        _table(one)
    notes = "".join(f"<p>{text(line)}</p>" for line in view.notes_of(picked))
    st.html(f'<div class="ms-notes">{notes}</div>')
    make = partial(view.as_csv, groups, banner=shown.source.banner)
    download(shown, shown.runs, "Download as CSV", make, "subgroups.csv", "text/csv")


def _pick(groups: Sequence[Any]) -> list[Any]:
    """One benchmark and column, with the model and the one beside it."""
    titles = list(dict.fromkeys(each.display_name for each in groups))
    left, middle, right, last = st.columns([1.6, 1, 1.4, 1.4], vertical_alignment="bottom")
    with left:
        title = st.selectbox("Benchmark", titles, key="benchmark", bind="query-params")
    of_benchmark = [each for each in groups if each.display_name == title]
    columns = list(dict.fromkeys(each.group_column for each in of_benchmark))
    with middle:
        column = st.selectbox("By", columns, key="by", bind="query-params")
    held = {each.model_deployment: each for each in of_benchmark if each.group_column == column}
    with right:
        first = st.selectbox("Model", list(held), key="first", bind="query-params")
    others = [name for name in held if name != first]
    with last:
        second = st.selectbox("Compared with", [*others, ALONE], key="second", bind="query-params")
    return [held[name] for name in (first, second) if name in held]


def _pairs(view: ModuleType, shown: Shown, picked: Sequence[Any]) -> list[Any]:
    """The two models in each group; none where one is shown alone, and none of twins."""
    if len(picked) < 2 or view.is_twins(picked[0].group_column):
        return []
    ids = {each.run_spec_id for each in picked}
    runs = [run for run in shown.runs if run.run_spec.run_spec_id in ids]
    minimum = max(stat.minimum for each in picked for stat in each.stats)
    pairs: list[Any] = view.compared_pairs(
        shown.reader,
        runs,
        picked[0].model_deployment,
        picked[0].group_column,
        minimum=minimum,
        coverage_floor=shown.coverage_floor,
    )
    return pairs


def _plot(view: ModuleType, picked: Sequence[Any]) -> None:
    palette = DARK if st.context.theme.type == "dark" else LIGHT
    spec = view.group_plot(picked, palette)
    if spec is None:
        st.html(note("Every group is hidden: each has too few patients to be shown."))
        return
    st.vega_lite_chart(spec, theme=None, width="content")


def _table(held: TextTable) -> None:
    rows = [list(map(_cell, row)) for row in held.rows]
    label = f'tabindex="0" role="region" aria-label="{text(held.title or "Compared")}"'
    body = table(held.header, rows, "ms-pairs")
    st.html(f'<div class="ms-scroll ms-padded" {label}>{body}</div>')


def _cell(cell: str) -> str:
    """A cell's text; what a group loses or wins is marked by colour beside its words."""
    kinds = {"falls behind": "decision-worse", "catches up": "decision-better"}
    return chip(cell, kinds[cell]) if cell in kinds else text(cell)
