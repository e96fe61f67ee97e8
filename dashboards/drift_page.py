"""Drift: what looks at a release found since it was published."""

from functools import partial
from typing import Any

import streamlit as st
from page_context import PageContext
from page_markup import chip, note, table, text
from records import download

from medhelm_spark.board import Kind
from medhelm_spark.board.render.charts import DARK, LIGHT
from medhelm_spark.features import part
from medhelm_spark.render.table import TextTable

ABOUT = (
    "Each point is a look: the release's prompts were asked again. Its bar is the 95 % interval of "
    "the difference to the release, dashed lines are the margin. A look says that something moved "
    "only where chance over all looks together is an unlikely reason."
)
SUITE = "Looks are at releases. Choose a release above."
NONE = (
    "Nobody has looked at this release yet: `medhelm-spark release watch NAME --margin 0.02` asks "
    "its prompts again."
)
GONE = "This installation is without the feature 'watch'."
KINDS = {"moved": "decision-worse", "not moved": "decision-better"}


def show(context: PageContext) -> None:
    """The newest look, the plot of all, and the numbers behind them."""
    view = part("watch", "view")
    if view is None:
        st.info(GONE)
        return
    if context.source.kind is not Kind.RELEASE:
        st.info(SUITE)
        return
    units = {run.run_spec.run_spec_id for run in context.runs}
    looks = view.looks_at(context.reader, context.source.name, units)
    if not looks:
        st.info(NONE)
        return
    st.html("".join(f'<p class="ms-lead">{text(line)}</p>' for line in view.lead(looks)))
    _plot(view.drift_plot(looks, DARK if st.context.theme.type == "dark" else LIGHT))
    for one in view.tables(looks):
        _table(one)
    make = partial(view.as_csv, looks)
    download(context, context.runs, "Download as CSV", make, "looks.csv", "text/csv")


def _plot(spec: dict[str, Any] | None) -> None:
    if spec is None:
        st.html(note("No score could be compared."))
        return
    st.vega_lite_chart(spec, theme=None, width="content")


def _table(block: TextTable) -> None:
    rows = [[_cell(cell) for cell in row] for row in block.rows]
    label = f'tabindex="0" role="region" aria-label="{text(block.title)}"'
    body = table(block.header, rows, "ms-pairs")
    notes = "".join(f"<p>{text(line)}</p>" for line in (" ".join(block.notes),) if line)
    st.html(
        f'<p class="ms-lead">{text(block.title)}</p>'
        f'<div class="ms-scroll ms-padded" {label}>{body}</div><div class="ms-notes">{notes}</div>'
    )


def _cell(cell: str) -> str:
    """A cell's text; a verdict is marked by colour beside its words."""
    return chip(cell, KINDS[cell]) if cell in KINDS else text(cell)
