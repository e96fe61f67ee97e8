"""Robustness: each model's main metric on perturbed copies, other prompts and repeats."""

import streamlit as st
from page_context import PageContext, nothing
from page_markup import table, text

from medhelm_spark.board import robustness_of
from medhelm_spark.board.render.robustness import HEADER, NOTES, numbers
from medhelm_spark.render.table import interval_text
from medhelm_spark.statistics.robustness import RobustnessRow

ABOUT = (
    "Each row is a model on one benchmark, asked again with changed inputs, other prompts or "
    "several times. Original and changed are means of the main metric over the same instances. A "
    "model whose worst value is far below its original depends on how it is asked."
)
NONE = (
    "Not tested. Ask whoever ran the suite to ask each question again with changed wording, with "
    "other prompts, or several times."
)


def show(context: PageContext) -> None:
    """One table of the runs that pass the filters."""
    if not any(run.cell for run in context.runs):
        st.info(nothing(context))
        return
    rows = robustness_of(context.runs)
    if not rows:
        st.info(NONE)
        return
    body = table(HEADER, map(_cells, rows), "ms-numbers")
    label = 'tabindex="0" role="region" aria-label="Robustness"'
    st.html(f'<div class="ms-scroll ms-padded" {label}>{body}</div>')
    st.html(f'<div class="ms-notes">{"".join(f"<p>{text(note)}</p>" for note in NOTES)}</div>')


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _interval(low: float | None, high: float | None) -> str:
    return f" <span>{interval_text(low, high).strip()}</span>" if low is not None else ""


def _cells(row: RobustnessRow) -> tuple[str, ...]:
    direction = ", lower is better" if row.lower_is_better else ""
    name = text(row.perturbation)
    return (
        text(row.model_deployment),
        f"{text(row.display_name)} <span>{text(row.main_metric)}{direction}</span>",
        f"<b>{name}</b>" if row.is_collection else name,
        *(_number(value) + _interval(low, high) for value, low, high in numbers(row)),
        _number(row.spread),
        f"{row.count:,}",
    )
