"""Metrics: of one benchmark all models side by side, with what its main metric leaves out."""

from collections.abc import Mapping, Sequence
from functools import partial

import prevalence
import reference
import streamlit as st
from loaded import known_prices, metrics_for
from page_context import PageContext, nothing
from page_markup import note, paragraphs, table, text
from records import download

from medhelm_spark.board import TECHNICAL, StatRow, stat_rows
from medhelm_spark.board.benchmark_metrics import (
    BenchmarkMetrics,
    BenchmarkRuns,
    RunMetrics,
    benchmarks_of,
    most_to_say,
)
from medhelm_spark.board.filters import filters_text
from medhelm_spark.board.render.charts import CURVE_NOTE, DARK, LIGHT, calibration_plots
from medhelm_spark.board.render.meanings import meaning_of
from medhelm_spark.board.render.metric_records import render_metrics
from medhelm_spark.board.render.metrics import (
    calibration_table,
    classes_table,
    confusion_table,
    criteria_table,
    has_tables,
    rates_table,
    took_table,
)
from medhelm_spark.board.render.risk import lead, prevalence_of
from medhelm_spark.board.render.risk_tables import counts_of, difference_table, risk_table
from medhelm_spark.board.render.stats import size_text
from medhelm_spark.board.render.trade_off import TRADE_OFF_NOTE, trade_off_plot
from medhelm_spark.board.titles import distinct_titles
from medhelm_spark.board.trade_off import trade_offs
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.stated_prevalence import Stated
from medhelm_spark.render.table import TextTable, interval_text, number_text, strong_html

ABOUT = (
    "All models on one benchmark: whom they miss, how many false alarms they raise, what their "
    "errors and their answers cost, and how many cases say so. State how common a positive case is "
    "where the model is to be used. The rows always positive and always negative are no models: "
    "every case gets the same answer, and a model has to cost less."
)


def show(context: PageContext) -> None:
    """Pickers, then the tables that apply."""
    if not any(run.cell for run in context.runs):
        st.info(nothing(context))
        return
    benchmark = _pick(benchmarks_of(context.runs))
    metrics = metrics_for(context.reader.location, context.source, context.reader, benchmark)
    stated = prevalence.stated()
    prices = known_prices(context.site)
    if prices is None:
        st.html(note("The file of the models' prices cannot be read, so that no prices are known."))
    _risk(metrics, stated, prices or {})
    _evidence(metrics)
    _curves(metrics)
    _table(took_table(metrics, prices or {}))
    _trade_offs(metrics, prices or {})
    _download(context, metrics, stated, prices or {})
    _every_stat(benchmark)


def _pick(benchmarks: Sequence[BenchmarkRuns]) -> BenchmarkRuns:
    """The benchmark; the page opens with the one that has most to say."""
    left, right = st.columns([2.4, 1], vertical_alignment="bottom")
    names = distinct_titles((each.title, each.scenario_name) for each in benchmarks)
    titles = dict(zip(names, benchmarks, strict=True))
    with left:
        title = st.selectbox(
            "Benchmark",
            list(titles),
            index=most_to_say(benchmarks),
            key="benchmark",
            bind="query-params",
        )
    if titles[title].positive:
        with right:
            prevalence.pick(titles[title].scenario_name)
    return titles[title]


def _risk(metrics: BenchmarkMetrics, stated: Stated, prices: Mapping[str, Prices]) -> None:
    at = prevalence_of(metrics, stated)
    if at is None:
        if criteria_table(metrics).rows:
            return
        if not has_tables(metrics):
            st.html(
                note(
                    "This benchmark has neither classes nor log-probabilities, and no prevalence. "
                    "Another benchmark may have them."
                )
            )
        elif not any(run.answers for run in metrics.runs):
            st.html(note("No class is declared as positive, so that nothing is missed or alarmed."))
        return
    st.html(paragraphs(lead(metrics, at, prices)))
    _table(risk_table(metrics, at))
    names = [run.name for run in metrics.runs if run.answers]
    if len(names) > 1:
        left, _ = st.columns([1.4, 3])
        with left:
            beside = reference.pick(names)
        _table(difference_table(metrics, at, beside))


def _evidence(metrics: BenchmarkMetrics) -> None:
    """What was answered, and the rates that it gives."""
    grids = "".join(_grid(run) for run in metrics.runs if run.answers)
    if grids:
        positive = metrics.benchmark.positive.replace("|", ", ")
        st.html(
            f'<h3 class="ms-lead">Answers; positive: {text(positive)}</h3>'
            f'<div class="ms-grids">{grids}</div>'
        )
    for each in (
        rates_table(metrics),
        classes_table(metrics),
        confusion_table(metrics),
        criteria_table(metrics),
        calibration_table(metrics),
    ):
        if each.rows:
            _table(each)


def _grid(run: RunMetrics) -> str:
    """A two-by-two table, with those without an answer."""
    counts = [f"{count:,}" for count in counts_of(run)]
    rows = [
        [f"<b>{kind}</b>", *counts[start : start + 3]]
        for kind, start in (("positive", 0), ("negative", 3))
    ]
    header = ("Case", "answered positive", "answered negative", "neither")
    return f"<figure><figcaption>{text(run.name)}</figcaption>{table(header, rows)}</figure>"


def _table(block: TextTable) -> None:
    """A table that scrolls by itself, its first column staying, with its notes."""
    rows = [[_folded(strong_html(cell, block.strong)) for cell in row] for row in block.rows]
    label = f'tabindex="0" role="region" aria-label="{text(block.title)}"'
    body = table(block.header, rows, "ms-measures")
    notes = "".join(f"<p>{strong_html(line, block.strong)}</p>" for line in block.notes)
    st.html(
        f'<h3 class="ms-lead">{text(block.title)}</h3>'
        f'<div class="ms-scroll ms-padded" {label}>{body}</div>'
        f'<div class="ms-notes">{notes}</div>'
    )


def _folded(cell: str) -> str:
    """An interval below its number, a verdict's parts below each other: half as wide."""
    return cell.replace(" [", "<br>[", 1).replace("; ", "<br>").replace(", up to ", ",<br>up to ")


def _curves(metrics: BenchmarkMetrics) -> None:
    curves = {run.name: run.curve for run in metrics.runs if run.curve}
    if curves:
        palette = DARK if st.context.theme.type == "dark" else LIGHT
        st.html(
            '<h3 class="ms-lead">Calibration curves</h3>'
            f'<div class="ms-notes"><p>{text(CURVE_NOTE)}</p></div>'
        )
        st.vega_lite_chart(spec=calibration_plots(curves, palette), theme=None, width="content")


def _trade_offs(metrics: BenchmarkMetrics, prices: Mapping[str, Prices]) -> None:
    """Quality against money, tokens and seconds."""
    if found := trade_offs(metrics, prices):
        palette = DARK if st.context.theme.type == "dark" else LIGHT
        metric = next(run.run.cell.main_metric for run in metrics.runs if run.run.cell)
        st.html(
            '<h3 class="ms-lead">Quality against cost</h3>'
            f'<div class="ms-notes"><p>{text(TRADE_OFF_NOTE)}</p></div>'
        )
        st.vega_lite_chart(spec=trade_off_plot(found, metric, palette), theme=None, width="content")


def _download(
    context: PageContext, metrics: BenchmarkMetrics, stated: Stated, prices: Mapping[str, Prices]
) -> None:
    make = partial(
        render_metrics,
        [metrics],
        "csv",
        stated=stated,
        prices=prices,
        banner=context.source.banner,
        filters=filters_text(context.filters),
    )
    runs = [each.run for each in metrics.runs]
    download(context, runs, "Download as CSV", make, "metrics.csv", "text/csv")


def _every_stat(benchmark: BenchmarkRuns) -> None:
    """Every other stat of these runs, of the instances as they are."""
    with st.expander("Every stat"):
        rows = [
            row
            for row in stat_rows(benchmark.runs)
            if row.split == benchmark.split and not row.perturbation
        ]
        for name, are_technical in (("Every stat", False), ("Of the requests", True)):
            selected = [row for row in rows if (row.metric in TECHNICAL) is are_technical]
            cells = (_stat_cells(row, benchmark) for row in selected)
            body = table(("Metric", "Model", "Mean", "n"), cells, "ms-measures")
            label = f'tabindex="0" role="region" aria-label="{name}"'
            scrolled = f'<div class="ms-scroll ms-tall ms-padded" {label}>{body}</div>'
            if selected:
                summary = f"<summary>{name}</summary>"
                st.html(f"<details>{summary}{scrolled}</details>" if are_technical else scrolled)


def _stat_cells(row: StatRow, benchmark: BenchmarkRuns) -> tuple[str, ...]:
    main = " (main)" if row.is_main else ""
    meaning = meaning_of(row.metric, benchmark.runs[0].run_spec.metrics)
    return (
        f'<span title="{text(meaning)}">{text(row.metric + main)}</span>',
        text(row.model_deployment),
        number_text(row.mean) + interval_text(row.ci_low, row.ci_high),
        text(size_text(row)),
    )
