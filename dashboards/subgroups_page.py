"""Subgroups: what models score by groups of patients, and which of two is worse in one."""

from collections.abc import Iterable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import streamlit as st
from page_context import PageContext, nothing
from page_markup import chip, note, table, text
from records import download

from medhelm_spark.board.render.charts import DARK, LIGHT
from medhelm_spark.features import part
from medhelm_spark.render.table import TextTable

ABOUT = (
    "Each row of the plot is a group of patients, each mark a model's score with its 95 % "
    "interval, each tick its score over all patients. The first sentences are about all models, "
    "benchmarks and columns that are shown. A group is worse where its score is lower than that of "
    "all other groups of its column and chance is an unlikely reason. Of two models two questions "
    "are apart: whether the first is worse in a group, and whether its advantage there is another "
    "than among other patients. Of gated and private rows, groups of fewer patients than the "
    "policy's minimum, 11 unless it says otherwise, are hidden; of public rows no group is."
)
NONE = (
    "Nothing that is shown has groups. Name columns of the data as `groups` in a benchmark's file, "
    "or add them by `medhelm-spark run --by COLUMN`, which asks no model."
)
GONE = "This installation is without the feature 'subgroups'."
ALONE = "none"


def show(context: PageContext) -> None:
    """Pickers, the plot, and the numbers behind it."""
    view = part("subgroups", "view")
    if view is None:
        st.info(GONE)
        return
    if not any(run.cell for run in context.runs):
        st.info(nothing(context))
        return
    groups = view.groups_of_runs(context.reader, context.runs)
    if not groups:
        st.info(NONE)
        return
    st.html(_lines(view.watched(view.shortened(groups)), "ms-lead"))
    picked = _pick(groups)
    pairs = _pairs(view, context, picked)
    picked = view.shortened(picked)
    st.html(_lines([*view.lead(picked), *view.pair_sentences(pairs)], "ms-said"))
    _plot(view, picked)
    for one in view.tables(picked, pairs):
        _table(one)
    st.html(f'<div class="ms-notes">{_lines(view.notes_of(picked))}</div>')
    banner = context.source.banner
    files = [("Download as CSV", partial(view.as_csv, groups, banner=banner), "subgroups.csv")]
    if pairs:
        make = partial(view.pairs_as_csv, pairs)
        files.append(("Download the two models as CSV", make, "subgroup-pairs.csv"))
    for label, make, name in files:
        download(context, context.runs, label, make, name, "text/csv")


def _lines(sentences: Iterable[str], kind: str = "") -> str:
    """Sentences, a paragraph each."""
    return "".join(f'<p class="{kind}">{text(line)}</p>' for line in sentences)


def _pick(groups: Sequence[Any]) -> list[Any]:
    """One benchmark and column, with the model and the one beside it.

    A reader begins with a group that is shown to be worse, where there is one.
    """
    titles = list(dict.fromkeys(each.display_name for each in groups))
    left, middle, right, last = st.columns([1.6, 1, 1.4, 1.4], vertical_alignment="bottom")
    with left:
        at = titles.index(_watched(groups).display_name)
        title = st.selectbox("Benchmark", titles, at, key="benchmark", bind="query-params")
    of_benchmark = [each for each in groups if each.display_name == title]
    columns = list(dict.fromkeys(each.group_column for each in of_benchmark))
    with middle:
        at = columns.index(_watched(of_benchmark).group_column)
        column = st.selectbox("By", columns, at, key="by", bind="query-params")
    by_model = {each.model_deployment: each for each in of_benchmark if each.group_column == column}
    with right:
        at = list(by_model.values()).index(_watched(list(by_model.values())))
        first = st.selectbox("Model", list(by_model), at, key="first", bind="query-params")
    others = [name for name in by_model if name != first]
    with last:
        second = st.selectbox("Compared with", [*others, ALONE], key="second", bind="query-params")
    return [by_model[name] for name in (first, second) if name in by_model]


def _watched(groups: Sequence[Any]) -> Any:
    """The first with a group that is shown to be worse, else the first."""
    return next((each for each in groups if each.worse), groups[0])


def _pairs(view: ModuleType, context: PageContext, picked: Sequence[Any]) -> list[Any]:
    """The two models in each group of all columns; none where one is shown alone."""
    if len(picked) < 2:
        return []
    ids = {each.run_spec_id for each in picked}
    runs = [run for run in context.runs if run.run_spec.run_spec_id in ids]
    pairs = view.pairs_of_runs(
        context.reader,
        runs,
        picked[0].model_deployment,
        minimum=context.smallest_group,
        coverage_floor=context.coverage_floor,
    )
    return list(view.shortened_pairs(pairs))


def _plot(view: ModuleType, picked: Sequence[Any]) -> None:
    palette = DARK if st.context.theme.type == "dark" else LIGHT
    spec = view.group_plot(picked, palette)
    if spec is None:
        st.html(note("Every group is hidden: each has too few patients to be shown."))
        return
    st.vega_lite_chart(spec, theme=None, width="content")


def _table(block: TextTable) -> None:
    rows = [list(map(_cell, row)) for row in block.rows]
    label = f'tabindex="0" role="region" aria-label="{text(block.title or "Compared")}"'
    body = table(block.header, rows, "ms-groups")
    title = f'<h3 class="ms-lead">{text(block.title)}</h3>' if block.title else ""
    st.html(f'{title}<div class="ms-scroll ms-padded" {label}>{body}</div>')


def _cell(cell: str) -> str:
    """A cell's text; a verdict of worse or better is marked by colour beside its word."""
    kinds = {"worse": "decision-worse", "better": "decision-better"}
    return chip(cell, kinds[cell]) if cell in kinds else text(cell)
