"""One answer as Instances shows it: all that is stored of it, and other models beside it."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from answer_markup import (
    GONE,
    answer_html,
    data_html,
    main_score,
    references_html,
    request_details,
    request_facts,
    request_html,
    scores_html,
    verdicts_html,
)
from page_context import PageContext
from page_markup import chip, note, section, text
from records import recorded
from streamlit.delta_generator import DeltaGenerator

from medhelm_spark.board import (
    BoardRun,
    InstanceDetail,
    InstanceKey,
    InstanceScore,
    decoding_is_known,
    instance_details,
)
from medhelm_spark.domain.natural_order import in_natural_order

MAX_BESIDE = 3


def show_detail(run: BoardRun, chosen: InstanceScore, detail: InstanceDetail) -> DeltaGenerator:
    """All that is stored of an answer; returns the container for a note, below the answer."""
    title = run.cell.display_name if run.cell else run.run_spec.scenario_name
    if not decoding_is_known(run.cell):
        detail = replace(detail, request=None)  # its settings are the benchmark's, not the answer's
    facts = request_facts(detail.request, detail.result)
    st.html(
        f'<div class="ms-title"><h2>{text(title)} · #{chosen.number}</h2>'
        f"{chip(run.run_spec.access_level)}{''.join(chip(fact, 'fact') for fact in facts)}</div>"
    )
    left, right = st.columns(2, gap="medium")
    if detail.gone:
        st.html(note(f"{GONE}: {', '.join(detail.gone)}. The scores are kept.", "warning"))
    imported = run.cell.imported if run.cell else ""
    left.html(request_html(detail.prompt, detail.instance, imported) + request_details(detail))
    right.html(answer_html(run, detail))
    noted = right.container()
    right.html(scores_html(run, detail.stats))
    right.html(references_html(detail.instance))
    if detail.instance:  # a release keeps scores whose instances may be gone
        right.html(data_html(detail.instance))
    if detail.annotations:
        right.html(verdicts_html(detail.annotations, detail.instance))
    return noted


def pick_beside(run: BoardRun, runs: Sequence[BoardRun]) -> list[BoardRun]:
    """Runs of other models on the same data; the address keeps their names."""
    spec = run.run_spec
    same = [
        other
        for other in runs
        if other.run_spec.data_version == spec.data_version
        and other.run_spec.scenario_name == spec.scenario_name
        and other.run_spec.model_deployment != spec.model_deployment
    ]
    models = [other.run_spec.model_deployment for other in same]
    named = {
        model if models.count(model) == 1 else f"{model}: {other.run_spec.name}": other
        for model, other in zip(models, same, strict=True)
    }
    if not named:
        return []
    picked = st.multiselect(
        "Beside it, the answers of",
        sorted(named, key=in_natural_order),
        key="beside",
        bind="query-params",
        max_selections=MAX_BESIDE,
    )
    return [named[name] for name in picked if name in named]


def show_beside(context: PageContext, runs: Sequence[BoardRun], key: InstanceKey) -> None:
    """The answers of several runs to one instance in columns, with main score and verdicts."""
    cells = []
    for run in runs:
        details = instance_details(context.reader, run.run_spec, [key], viewer=context.viewer)
        detail = details.get(key)
        if detail and not recorded(context, run, {key: detail}):
            return
        if detail is None:
            empty = '<p class="ms-empty">this run does not have the instance</p>'
            cells.append(section("Answer", empty, aside=run.run_spec.model_deployment))
            continue
        parts = [answer_html(run, detail), main_score(run, detail.stats)]
        if detail.annotations:
            parts.append(verdicts_html(detail.annotations, detail.instance))
        cells.append(f"<div>{''.join(parts)}</div>")
    st.html(section("Side by side", f'<div class="ms-columns">{"".join(cells)}</div>'))
