"""Two models on the same instances: a decision per benchmark, and the answers that differ."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import prevalence
import reference
import streamlit as st
from answer_markup import chosen_html
from loaded import board_for, known_prices, pairs_for
from page_context import PageContext
from page_markup import chip, note, paragraphs, section, table, text, view_note
from records import download, recorded

from medhelm_spark.board import (
    BoardRun,
    Disagreement,
    InstanceDetail,
    InstanceKey,
    board_of,
    chosen_option,
    disagreements,
    has_few_models,
    instance_details,
    paired,
    with_all,
)
from medhelm_spark.board.class_answers import has_positive
from medhelm_spark.board.filters import filters_text
from medhelm_spark.board.practical import PracticalDifference, practical_differences
from medhelm_spark.board.render import comparison
from medhelm_spark.board.render.practical import practical_table
from medhelm_spark.board.render.verdicts import is_more, regressions
from medhelm_spark.board.titles import distinct_titles
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.statistics.pairs import BoardPair, PairDecision, adjusted_as, regressions_first

ABOUT = (
    "Each row is one benchmark, on the instances that both models have a value for. The first "
    "model is called better or worse only where chance is an unlikely reason, all rows together. "
    "Open a benchmark below to read the answers on which the two differ."
)
DECISION = "First is"
PAGE_ROWS = 5
MAX_WORDS = 3000
SEPARATOR = "~"
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


def show(context: PageContext) -> None:
    """Pickers, the table of decisions, and the answers that differ on one benchmark."""
    reader = context.reader
    names = _by_rank(context)
    if len(names) < 2:
        few = "A comparison needs two models with results in this suite or release."
        st.info(
            few if context.runs == context.all_runs else f"{few} The filters left {len(names)}."
        )
        return
    first, second, margin, is_short = _pick(names, context.runs)
    runs = _of_models(context.runs, first, second)
    pairs = _pairs(context, runs, first, margin)
    if not pairs:
        st.html(note("The two have no comparable benchmark in common: see the board for why."))
        return
    listed = [pair for pair in pairs if pair.decision is PairDecision.WORSE or not is_short]
    _pick_prevalence(runs)
    headline = st.empty()
    headline.html(paragraphs(comparison.sentences(pairs, ())))
    if listed:
        st.html(_table(listed))
        notes = (*comparison.notes(pairs), *comparison.column_notes(pairs))
        lines = "".join(f"<p>{text(line)}</p>" for line in notes)
        st.html(f'<div class="ms-notes">{lines}</div>')
    # After the table, which is there at once: costs, tokens and seconds are read answer by answer.
    prices, stated = known_prices(context.site) or {}, prevalence.stated()
    practical = tuple(practical_differences(reader, runs, pairs, stated=stated, prices=prices))
    headline.html(paragraphs(comparison.sentences(pairs, practical)))
    if is_short:
        st.html(paragraphs(regressions(first, pairs, practical)))
    _practical([each for each in practical if is_more(each) or not is_short], prices)
    make = partial(
        comparison.render,
        pairs,
        "csv",
        practical=practical,
        prices=prices,
        banner=context.source.banner,
        filters=filters_text(context.filters),
    )
    download(context, runs, "Download as CSV", make, "comparison.csv", "text/csv")
    if context.viewer.text is not None:
        _differing(context, runs, [first, second], pairs)


def _by_rank(context: PageContext) -> list[str]:
    """The models in the order of the board, so that the page opens with the two first."""
    board = board_for(context.reader.location, context.source, context.runs, context.coverage_floor)
    return list(dict.fromkeys(row.model_deployment for row in board.rows))


def _of_models(runs: Sequence[BoardRun], *names: str) -> list[BoardRun]:
    return [run for run in runs if run.run_spec.model_deployment in names]


def _declared_margins(runs: Sequence[BoardRun]) -> list[float]:
    """The margins that suite files declared for these runs' benchmarks, the strictest first."""
    margins = {run.cell.margin for run in runs if run.cell}
    return sorted(margin for margin in margins if margin is not None)


def _pick(names: Sequence[str], runs: Sequence[BoardRun]) -> tuple[str, str, float | None, bool]:
    """Both models, the margin for all benchmarks, and whether regressions alone are listed.

    The page opens with the reference as the second model; who picks another one changes it.

    The box shows a declared margin; without a margin in it each benchmark keeps its own.
    """
    left, right, number, only = st.columns([1.4, 1.4, 0.8, 0.9], vertical_alignment="bottom")
    beside = reference.chosen(names)
    with left:
        ours = sorted(names, key=lambda name: name == beside)
        first = st.selectbox("First model", ours, key="first", bind="query-params")
    others = sorted((name for name in names if name != first), key=lambda name: name != beside)
    with right:
        second = st.selectbox(
            "Second model",
            others,
            key="second",
            bind="query-params",
            on_change=reference.keep,
            args=("second",),
        )
    declared = _declared_margins(_of_models(runs, first, second))
    with number:
        margin = st.number_input(
            "Margin",
            min_value=0.0,
            value=declared[0] if len(declared) == 1 else None,
            step=0.01,
            format="%g",
            placeholder=" and ".join(f"{each:g}" for each in declared) or "none declared",
            key="margin",
            bind="query-params",
            help="a difference too small to matter, in the metric's units; as it opens, what the "
            "suite file declares; another number counts for every benchmark",
        )
    with only:
        is_short = st.toggle("Regressions only", key="regressions", bind="query-params")
    return first, second, margin if margin and [margin] != declared else None, is_short


def _pairs(
    context: PageContext, runs: Sequence[BoardRun], first: str, margin: float | None
) -> list[BoardPair]:
    """The pairs of both models; p as on the board, which has all pairs of few models."""
    rows = board_of(context.reader, runs, coverage_floor=context.coverage_floor).rows
    ordered = sorted(rows, key=lambda row: row.model_deployment != first)
    pairs = paired(context.reader, runs, ordered, pairs=with_all)
    if has_few_models(context.runs):
        location = context.reader.location
        whole = pairs_for(location, context.source, context.runs, context.coverage_floor)
        pairs = adjusted_as(pairs, whole)
    if margin:
        pairs = tuple(replace(pair, margin=margin) for pair in pairs)
    return sorted(pairs, key=regressions_first)


def _pick_prevalence(runs: Sequence[BoardRun]) -> None:
    """The prevalence of the benchmarks that have a positive class, as the page Metrics has it."""
    scenarios = {
        run.cell.scenario_name: run.cell.display_name
        for run in runs
        if run.cell and has_positive(run.run_spec)
    }
    if not scenarios:
        return
    titles = distinct_titles((title, name) for name, title in scenarios.items())
    names = dict(zip(titles, scenarios, strict=True))
    left, right, _ = st.columns([1.4, 1, 2], vertical_alignment="bottom")
    with left:
        title = st.selectbox("Prevalence of", list(names), key="prevalence of")
    with right:
        prevalence.pick(names[title])


def _practical(practical: Sequence[PracticalDifference], prices: Mapping[str, Prices]) -> None:
    """What the two differ by beside the main metric."""
    block = practical_table(practical, prices)
    if block.rows:
        rows = [[text(cell) for cell in row] for row in block.rows]
        label = f'tabindex="0" role="region" aria-label="{text(block.title)}"'
        notes = "".join(f"<p>{text(line)}</p>" for line in block.notes)
        st.html(
            f'<h3 class="ms-lead">{text(block.title)}</h3>'
            f'<div class="ms-scroll ms-padded" {label}>'
            f"{table(block.header, rows, 'ms-pairs')}</div>"
            f'<div class="ms-notes">{notes}</div>'
        )


def _table(pairs: Sequence[BoardPair]) -> str:
    block = comparison.comparison_table(pairs)
    is_plain = len({(pair.first, pair.second) for pair in pairs}) == 1
    columns = [name for name in block.header if name not in ("First", "Second") or not is_plain]
    # The decision first: a narrow screen has room for two columns.
    names = sorted(columns, key=lambda name: name != DECISION)
    cells = (dict(zip(block.header, row, strict=True)) for row in block.rows)
    rows = [[_cell(name, row[name]) for name in names] for row in cells]
    label = 'tabindex="0" role="region" aria-label="Comparison"'
    return f'<div class="ms-scroll ms-padded" {label}>{table(names, rows, "ms-pairs")}</div>'


def _cell(name: str, cell: str) -> str:
    """A cell's text; a decision is marked by colour beside its word."""
    return chip(cell, f"decision-{cell.split()[0]}") if name == DECISION else text(cell)


def _title(pair: BoardPair, pairs: Sequence[BoardPair]) -> str:
    """The benchmark, with the rows' names where the models have several."""
    is_plain = len({(each.first, each.second) for each in pairs}) == 1
    return pair.display_name if is_plain else f"{pair.display_name}: {pair.first}, {pair.second}"


def _differing(
    context: PageContext,
    runs: Sequence[BoardRun],
    names: Sequence[str],
    pairs: Sequence[BoardPair],
) -> None:
    """One benchmark's answers on which the two have other values, where the first lost before."""
    titles = {SEPARATOR.join(pair.run_spec_ids): _title(pair, pairs) for pair in pairs}
    ids = st.selectbox(
        "Answers that differ on",
        list(titles),
        format_func=titles.__getitem__,
        key="pair",
        bind="query-params",
    )
    by_id = {run.run_spec.run_spec_id: run for run in runs}
    both = [by_id[name] for name in ids.split(SEPARATOR)]
    rows = disagreements(context.reader, *both)
    if not rows:
        st.html(
            note("No answers to list: their values are equal, or the metric is of the whole run.")
        )
        return
    pages = -(-len(rows) // PAGE_ROWS)
    page = st.number_input("Page", 1, pages, key=f"page-{ids}") if pages > 1 else 1
    listed = rows[(page - 1) * PAGE_ROWS : page * PAGE_ROWS]
    last = (page - 1) * PAGE_ROWS + len(listed)
    st.html(
        f'<p class="ms-count">{(page - 1) * PAGE_ROWS + 1} to {last} of {len(rows):,} instances, '
        "those that the first model lost first</p>"
    )
    keys = [InstanceKey(instance_id=row.instance_id) for row in listed]
    ours, theirs = (
        recorded(
            context,
            run,
            instance_details(context.reader, run.run_spec, keys, viewer=context.viewer),
        )
        for run in both
    )
    for row, key in zip(listed, keys, strict=True):
        if key in ours and key in theirs:
            pair = (ours[key], theirs[key])
            options = [
                chosen_option(run.run_spec, each) for run, each in zip(both, pair, strict=True)
            ]
            st.html(_side_by_side(row, pair, options, names))
    st.html(note(view_note(context.viewer)))


def _side_by_side(
    row: Disagreement,
    pair: tuple[InstanceDetail, InstanceDetail],
    options: Sequence[str | None],
    names: Sequence[str],
) -> str:
    """Question, references, and both answers with the words that only one of them has marked."""
    first, second = (detail.answer or "" for detail in pair)
    instance = pair[0].instance
    references = [each.text for each in instance.references if each.is_correct] if instance else []
    question = instance.input if instance else ""
    marked = word_difference(first, second)
    cells = [
        section(
            name,
            f'<pre class="ms-text ms-answer" dir="auto">{body}</pre>',
            chosen_html(option) if option else "",
            aside=f"{value:.3f}",
        )
        for name, body, option, value in zip(
            names, marked, options, (row.first, row.second), strict=True
        )
    ]
    end = text(question if len(question) <= 2000 else "… " + question[-2000:])
    expected = "; ".join(references) or "–"
    return (
        f'<article class="ms-pair"><details><summary>Input, {len(question):,} characters</summary>'
        f'<pre class="ms-text" dir="auto">{end}</pre></details>'
        f'<p class="ms-role">reference: {text(expected)}</p>'
        f'<div class="ms-columns">{"".join(cells)}</div></article>'
    )


def word_difference(first: str, second: str) -> tuple[str, str]:
    """Both texts as HTML, with a mark around the words that the other lacks."""
    ours, theirs = _WORDS.findall(first), _WORDS.findall(second)
    if max(len(ours), len(theirs)) > MAX_WORDS:  # the search grows with their product
        return text(first), text(second)
    sides: tuple[list[str], list[str]] = ([], [])
    for kind, *ends in difflib.SequenceMatcher(a=ours, b=theirs, autojunk=False).get_opcodes():
        spans = (ours[ends[0] : ends[1]], theirs[ends[2] : ends[3]])
        for side, words in zip(sides, spans, strict=True):
            body = text("".join(words))
            side.append(body if kind == "equal" or not body else f"<mark>{body}</mark>")
    return "".join(sides[0]), "".join(sides[1])
