"""The board: models against benchmarks, with intervals, counts and win rates."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from urllib.parse import urlencode

import heat
import prevalence
import streamlit as st
from arrangement import (
    ALL,
    BY_RANK,
    Arrangement,
    arranged,
    column_names,
    of_category,
    of_column,
    pick_arrangement,
    pick_category,
    scenario_of,
)
from downloads import Exports, chart_of, charts, offer
from loaded import board_for
from page_context import PageContext, address_of, nothing
from page_markup import chip, note, text, view_note

from medhelm_spark.board import BoardRun, Viewer
from medhelm_spark.board.render.board import BELOW_FLOOR, counts, remarks, tiers_text, traded
from medhelm_spark.board.render.charts import share_of_scale
from medhelm_spark.render.table import interval_text, mean_text
from medhelm_spark.statistics.board import BoardColumn, BoardRow, Leaderboard
from medhelm_spark.statistics.cell import BoardCell

CellKey = tuple[str, str, str, str]
"""Deployment, scenario, metric and split of a cell."""
RATE = 'Win rate<span class="ms-metric">mean over benchmarks</span>'
TIER = 'Tier<span class="ms-metric">possible ranks</span>'

CHART = "chart"
"""What the address calls the benchmark whose means are drawn."""

ABOUT = (
    "Each row is a model, each column a benchmark with its main metric. A model of a lower tier is "
    "shown to be worse on these benchmarks than one above; tiers, ranks and win rates are computed "
    "over what is shown. Press a number to read the answers behind it, and chart to see a "
    "benchmark's means drawn."
)


def show(context: PageContext) -> None:
    """The board of the runs that pass the filters."""
    if not any(run.cell for run in context.runs):
        st.info(nothing(context))
        return
    # On a narrow screen the style sheet moves them below the board.
    with st.container(key="ms-controls"):
        category_column, form_column, download_column = st.columns(
            [1.2, 2.4, 0.6], vertical_alignment="bottom"
        )
    with category_column:
        category = pick_category(context.runs)
    runs = of_category(context.runs, category)
    location = context.reader.location
    board = board_for(location, context.source, runs, context.coverage_floor)
    with form_column:
        form = pick_arrangement(board)
    cut = "" if category == ALL else category
    exports = Exports(
        context=context,
        board=board,
        runs=runs,
        category=cut,
        sort=form.sort,
        stated=prevalence.stated(),
    )
    with download_column:
        offer(exports)
    whole = board_for(location, context.source, context.all_runs, context.coverage_floor)
    if hidden := _hidden(whole, board, category):
        st.html(note(hidden))
    st.html(f'<p class="ms-lead">{text(tiers_text(board))}</p>')
    _chart(arranged(board, form.sort), context)
    st.html(board_html(board, runs, address_of(context), form))
    st.html(_notes(board, runs, context.viewer))
    charts(context, arranged(board, form.sort))


def _chart(board: Leaderboard, context: PageContext) -> None:
    """The chart of the benchmark that the address names, above the board."""
    names, name = column_names(board), st.query_params.get(CHART)
    if name not in names:
        return
    chart_of(context, of_column(board, names.index(name)), name)
    address = urlencode(address_of(context), doseq=True)
    st.html(f'<p class="ms-links"><a href="?{text(address)}">Close the chart</a></p>')


def _hidden(whole: Leaderboard, board: Leaderboard, category: str) -> str:
    """What filters and category take away; empty where they take nothing."""
    columns = len(whole.columns) - len(board.columns)
    rows = len(whole.rows) - len(board.rows)
    if not columns and not rows:
        return ""
    lead = "Filtered" if category == ALL else f"Category {category} alone"
    return (
        f"{lead}: {columns} of {len(whole.columns)} benchmarks and {rows} of {len(whole.rows)} "
        "models are hidden. Win rates and order are computed again over what is shown."
    )


def _cell_key(run: BoardRun) -> CellKey:
    """The cell of a run, or the one that it will have once it has a value."""
    spec = run.run_spec
    return (spec.model_deployment, scenario_of(run), spec.main_metric, spec.main_split)


def board_html(
    board: Leaderboard,
    runs: Sequence[BoardRun],
    address: Mapping[str, Sequence[str]],
    form: Arrangement,
) -> str:
    """The table. `runs` are those behind it; a cell links to the answers of its run."""
    by_id = {run.run_spec.run_spec_id: run for run in runs}
    without_cell = {_cell_key(run): run for run in runs if not run.cell}
    board = arranged(board, form.sort)
    grid = [
        list(_cells(board, row, by_id, without_cell, address, is_compact=form.is_compact))
        for row in board.rows
    ]
    queries = (urlencode({**address, CHART: name}, doseq=True) for name in column_names(board))
    heads = [
        _column_head(column, "row" if form.is_transposed else "col", query)
        for column, query in zip(board.columns, queries, strict=True)
    ]
    arrange = _benchmarks_as_rows if form.is_transposed else _models_as_rows
    head, body = arrange(board, grid, heads)
    by_rank = " ms-by-rank" if form.sort == BY_RANK else ""
    return (
        '<div class="ms-scroll ms-tall" tabindex="0" role="region" aria-label="Leaderboard">'
        f'<table class="ms-board{by_rank}"><thead>{head}</thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _has_tiers(board: Leaderboard) -> bool:
    return any(row.standing for row in board.rows)


def _models_as_rows(
    board: Leaderboard, grid: Sequence[Sequence[str]], heads: Sequence[str]
) -> tuple[str, str]:
    """Header and body; `grid` are the cells of each row, `heads` those of the benchmarks."""
    has_tiers = _has_tiers(board)
    body = "".join(
        f"<tr{_unranked(row)}>{_row_head(row, 'row')}{_tier(row) if has_tiers else ''}{_rate(row)}"
        f"{''.join(cells)}</tr>"
        for row, cells in zip(board.rows, grid, strict=True)
    )
    return _head(board, heads, has_tiers=has_tiers), body


def _benchmarks_as_rows(
    board: Leaderboard, grid: Sequence[Sequence[str]], names: Sequence[str]
) -> tuple[str, str]:
    """The same turned: a model is a column, and a heading a row above its benchmarks."""
    heads = "".join(_row_head(row, "col") for row in board.rows)
    lines = [f'<tr><th scope="row">{RATE}</th>{"".join(map(_rate, board.rows))}</tr>']
    if _has_tiers(board):
        lines.insert(0, f'<tr><th scope="row">{TIER}</th>{"".join(map(_tier, board.rows))}</tr>')
    empty = f'<td colspan="{len(board.rows)}"></td>'
    columns = zip(board.columns, names, zip(*grid, strict=True), strict=True)
    for name, group in groupby(columns, key=lambda each: each[0].heading):
        title = text(name)
        lines.append(f'<tr class="ms-groups"><th scope="rowgroup">{title}</th>{empty}</tr>')
        lines += [f"<tr>{own}{''.join(cells)}</tr>" for _, own, cells in group]
    return f'<tr><th scope="col">Benchmark</th>{heads}</tr>', "".join(lines)


def _unranked(row: BoardRow) -> str:
    return ' class="ms-unranked"' if row.lacks else ""


def _head(board: Leaderboard, names: Sequence[str], *, has_tiers: bool) -> str:
    groups = "".join(
        f'<th scope="colgroup" colspan="{len(list(columns))}">{text(name)}</th>'
        for name, columns in groupby(board.columns, key=lambda column: column.heading)
    )
    heads = ["Model", *([TIER] if has_tiers else []), RATE]
    first = "".join(f'<th scope="col">{head}</th>' for head in heads)
    empty = "<th></th>" * len(heads)
    headings = {column.heading for column in board.columns}
    above = f'<tr class="ms-groups">{empty}{groups}</tr>' if len(headings) > 1 else ""
    return f"{above}<tr>{first}{''.join(names)}</tr>"


def _column_head(column: BoardColumn, scope: str, chart: str) -> str:
    """The benchmark's name, and a link to the address `chart`."""
    direction = ", lower is better" if column.lower_is_better else ""
    margin = "" if column.margin is None else f", margin {column.margin}"
    primary = " " + chip(f"primary endpoint{margin}", "primary") if column.is_primary else ""
    return (
        f'<th scope="{scope}">{text(column.display_name)}'
        f'<span class="ms-metric">{text(column.main_metric)}{direction}</span>'
        f"{chip(column.access_level)}{primary} "
        f'<a class="ms-chip ms-chart" href="?{text(chart)}" '
        f'aria-label="chart of {text(column.display_name)}">chart</a></th>'
    )


def _row_head(row: BoardRow, scope: str) -> str:
    """Name and locality; before them the rank by win rate of a row without a tier."""
    rank = "" if row.rank is None or row.standing else str(row.rank)
    return (
        f'<th scope="{scope}"><span class="ms-rank">{rank}</span>{text(row.name)}'
        f"{chip(row.locality, 'locality')}</th>"
    )


def _tier(row: BoardRow) -> str:
    """Tier and possible ranks."""
    standing = row.standing
    if standing is None:
        return '<td class="ms-tier">–</td>'
    ranks = f"ranks {standing.rank_low}–{standing.rank_high}"
    return f'<td class="ms-tier"><b>{standing.tier}</b><span>{ranks}</span></td>'


def _rate(row: BoardRow) -> str:
    rate = "–" if row.mean_win_rate is None else f"{row.mean_win_rate:.3f}"
    return f'<td class="ms-rate">{rate}</td>'


def _cells(
    board: Leaderboard,
    row: BoardRow,
    by_id: Mapping[str, BoardRun],
    without_cell: Mapping[CellKey, BoardRun],
    address: Mapping[str, Sequence[str]],
    *,
    is_compact: bool,
) -> Iterator[str]:
    for column, cell in zip(board.columns, row.cells, strict=True):
        if cell:
            numbers = _short(cell) if is_compact else _numbers(cell)
            yield _cell(cell, numbers, by_id[cell.run_spec_ids[0]], address)
        else:
            key = (row.model_deployment, column.scenario_name, column.main_metric, column.split)
            yield _missing(None if row.variant else without_cell.get(key))


def _missing(run: BoardRun | None) -> str:
    reason = "not run"
    if run:
        reason = "no value" if run.is_summarized else "not scored yet"
    return f'<td class="ms-missing">{reason}</td>'


def _cell(
    cell: BoardCell, numbers: str, run: BoardRun, address: Mapping[str, Sequence[str]]
) -> str:
    share = share_of_scale(cell)
    style = "" if share is None else f' class="ms-heat" style="background:{heat.background(share)}"'
    query = urlencode({**address, "view": "Instances", "run": run.run_spec.run_spec_id}, doseq=True)
    return f'<td{style}><a href="?{text(query)}" title="{_exact(cell)}">{numbers}</a></td>'


def _exact(cell: BoardCell) -> str:
    """What a pointer over a number shows: the number with all its digits, and what a press does."""
    number = "" if cell.mean is None else f"{cell.mean}. "
    return f"{number}Open the answers behind this number"


def _mean(cell: BoardCell) -> str:
    """The mean, marked where a judge without evidence scored it."""
    mark = cell.jury_evidence.mark and '<sup title="scored by a judge without evidence">*</sup>'
    return f"<b>{mean_text(cell.mean)}{mark}</b>"


def _numbers(cell: BoardCell) -> str:
    """As the command line writes a cell: mean, interval, counts and remarks, a line each."""
    number, *more = counts(cell)
    interval = interval_text(cell.ci_low, cell.ci_high).strip()
    lines = "".join(_line(line) for line in (*more, *remarks(cell)))
    return (
        f'{_mean(cell)}{_line(interval)}{_traded(cell)}<span class="ms-n">{text(number)}</span>'
        f"{lines}"
    )


def _traded(cell: BoardCell) -> str:
    """What the metric is traded against, directly below the mean."""
    return "".join(f'<span class="ms-traded">{text(words)}</span>' for words in traded(cell))


def _line(words: str) -> str:
    """A line below a mean."""
    return f"<span>{text(words)}</span>" if words else ""


def _short(cell: BoardCell) -> str:
    """The mean, what it is traded against, and in two words why no rank counts it."""
    why = "not comparable" if cell.differs else BELOW_FLOOR if cell.is_below_floor else ""
    return _mean(cell) + _traded(cell) + (f"<span>{why}</span>" if why else "")


def _notes(board: Leaderboard, runs: Sequence[BoardRun], viewer: Viewer) -> str:
    scale = (
        f'<p class="ms-scale">worst<i style="background:linear-gradient(90deg, {heat.scale()})">'
        "</i>best, on each metric's own scale. Without colour: the metric has no fixed scale, no "
        "rank counts the mean, or the model is no better than one answer to every case.</p>"
    )
    waiting = sum(not run.is_summarized for run in runs)
    lines = [*board.notes]
    if waiting:
        lines.append(f"Runs that are planned and not scored or summarised yet: {waiting}.")
    if any(run.is_summarized and not run.is_current for run in runs):
        lines.append("Some runs were scored again after these numbers were made.")
    lines.append(view_note(viewer))
    return f'<div class="ms-notes">{scale}{"".join(f"<p>{text(line)}</p>" for line in lines)}</div>'
