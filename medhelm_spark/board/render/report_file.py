"""A board as one self-contained HTML file: to take away, to print, to keep beside a decision.

Of clinical text it has that of public rows alone (tests/unit/candidate_gate/test_report.py); it
has no script, and nothing that a browser would fetch.
"""

import html
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from medhelm_spark.board import BoardRun, BoardSource
from medhelm_spark.board.benchmark_metrics import BenchmarkMetrics
from medhelm_spark.board.practical import class_differences
from medhelm_spark.board.render import comparison
from medhelm_spark.board.render.benchmark_facts import benchmark_facts
from medhelm_spark.board.render.board import (
    NO_BETTER,
    counts,
    marked_mean,
    rank_text,
    remarks,
    tiers_text,
    traded,
)
from medhelm_spark.board.render.charts import (
    CURVE_NOTE,
    DARK,
    LIGHT,
    PLOTS_IN_A_ROW,
    Palette,
    Spec,
    calibration_plots,
    dot_plots,
    heat_map,
    svg,
)
from medhelm_spark.board.render.metrics import has_tables, overall_table, tables_of
from medhelm_spark.board.render.risk import VERDICTS, lead, prevalence_of
from medhelm_spark.board.render.risk_tables import prevalences_table
from medhelm_spark.board.render.trade_off import TRADE_OFF_NOTE, trade_off_plot
from medhelm_spark.board.render.verdicts import COST_WORDS, verdicts
from medhelm_spark.board.trade_off import trade_offs
from medhelm_spark.domain.deployment import Prices
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.release import ReleaseStatus
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.domain.stated_prevalence import Stated
from medhelm_spark.lake.reader import Reader
from medhelm_spark.render.html_page import html_page
from medhelm_spark.render.table import (
    TextTable,
    html_table,
    interval_text,
    number_text,
    strong_html,
)
from medhelm_spark.statistics.board import BoardColumn, BoardRow, Leaderboard
from medhelm_spark.statistics.pairs import BoardPair
from medhelm_spark.version import VERSION

STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#16222e, #e6edf3);
  --muted: light-dark(#51616f, #a3b3c1); --line: light-dark(#d8dfe5, #2b3844); }
body { background: light-dark(#ffffff, #10171e); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem;
  padding: 0 1.5rem; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.2rem; margin: 2.2rem 0 0.6rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 0.4rem; }
.status { border-left: 4px solid #b26a00; background: light-dark(#fdf6ea, #2d2212);
  color: light-dark(#573600, #f3d9ad);
  padding: 0.5rem 0.9rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1.2rem; margin: 0.8rem 0; }
dt { color: var(--muted); } dd { margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; margin: 0 0 0.3rem; }
/* Fades out at its right end as long as more is to be scrolled, as the dashboard's tables do. */
@keyframes more { 0%, 90% { mask-position: -4rem 0; } 100% { mask-position: 0 0; } }
.wide { mask: linear-gradient(to left, transparent, #000 4rem) no-repeat;
  mask-size: calc(100% + 4rem) 100%; animation: more linear both;
  animation-timeline: scroll(self inline); }
h4 { font-size: 0.86rem; margin: 1rem 0 0.2rem; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: 0.3rem 0.8rem 0.3rem 0; text-align: left;
  vertical-align: top; }
th { color: var(--muted); font-weight: 600; } caption { text-align: left; font-weight: 600; }
.approved { border-left-color: light-dark(#17507f, #7db8e8);
  background: light-dark(#f0f5fa, #16283a); color: var(--ink); }
p { margin: 0.3rem 0; } .notes p, .wide p { color: var(--muted); font-size: 0.82rem; }
figure { margin: 0; overflow-x: auto; width: fit-content; max-width: 100%; }
svg { display: block; height: auto; max-width: 100%; }
.dark { display: none; }
@media screen and (prefers-color-scheme: dark) {
  .light { display: none; } .dark { display: block; }
}
@media print { :root { color-scheme: light; } body { margin: 0; max-width: none; font-size: 11px; }
  h2 { break-after: avoid; }
  figure, table { break-inside: avoid; } .wide, figure { mask: none; overflow: visible; } }
"""

NOT_APPROVED = (
    "Working results, not approved. Nobody has reviewed or signed off these numbers; do not choose "
    "a model for patient care by them."
)
UNVERIFIED = "Unverified: the name of the operating system's user, which nobody has checked."
TERMS: Mapping[str, str] = {
    "Tier": "1: no model has a mean that is shown to be better, over the benchmarks that the note "
    "below the models names. A model of a lower tier is shown to be worse than one of the tier "
    "above.",
    "Ranks": "all ranks that are possible by this mean, with 95 % confidence for all models "
    "together.",
    "Win rate": "the chance to have the better mean than another model drawn at random.",
    "[low, high]": "the 95 % confidence interval of a mean or a difference.",
    "n": "the answers with a score; n=a/b: a of b. n=a of b: the mean is a share of a of them, as "
    "sensitivity is of the positive ones.",
    "p adjusted": "the p-value of a difference, adjusted for all that were asked at once; below "
    "0.05 the two are told apart.",
    "Win/tie/loss": "on how many instances the first model is better, equal or worse.",
    "Can detect": "of a comparison: the difference that it finds with a power of 80 %, by how "
    "often its answers disagree.",
    "Can detect, planned": "of a benchmark: the same, before answers are seen, if a fifth of two "
    "models' answers disagree.",
    "*": "scored by a judge without evidence of its agreement with clinicians.",
}

PALETTES: Mapping[Palette, str] = {LIGHT: "light", DARK: "dark"}
"""The palettes of charts, with the class of the style sheet that shows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFacts:
    """What a report says of itself: `title`, then lines of name and value in order.

    `standing` is below the title: whether anybody approved the numbers, as in `is_approved`.
    """

    title: str
    standing: str
    is_approved: bool
    lines: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What features make their sections of a report from."""

    reader: Reader
    """It reads the runs, or a release's."""
    runs: Sequence[BoardRun]
    pairs: Sequence[BoardPair]
    """The pairs of models that the report compares."""
    smallest_group: int
    """The patients that a group of gated and private rows needs to be shown: the policy's."""
    has_public_text: bool = True
    """Whether the report may show text of public rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A chart in a report: what it is of, and its specification in a palette."""

    label: str
    drawn_in: Callable[[Palette], Spec]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What a feature adds to a report: its parts in order, below a heading."""

    heading: str
    parts: Sequence["str | Sentences | TextTable | Figure"]
    """A text that is a heading of its own, sentences, a table, or a chart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentences:
    """What numbers come to, a paragraph each."""

    lines: Sequence[str]


def facts_of(
    source: BoardSource,
    board: Leaderboard,
    runs: Iterable[BoardRun],
    *,
    coverage_floor: float,
    manifest: str = "",
    filters: str = "",
    order: str = "",
) -> ReportFacts:
    """What a report of this board says of itself.

    `runs` are those behind it, `order` what its rows are sorted by, where that is not the rank.
    """
    made = [run.cell.made_at for run in runs if run.cell and run.cell.made_at]
    lines = {
        source.kind.value.capitalize(): source.name,
        "Status": source.status,
        "History": "; ".join(map(str, source.changes)),
        "Manifest": manifest,
        "Filters": filters,
        "Sorted by": order,
        "Numbers made": f"{max(made):%Y-%m-%d %H:%M} UTC" if made else "",
        "Size": f"{counted(len(board.rows), 'model')}, {counted(len(board.columns), 'benchmark')}",
        "Coverage floor": f"{100 * coverage_floor:g} % of answers scored",
    }
    return ReportFacts(
        title=f"Medical leaderboard: {source.kind.value} {source.name}",
        standing=source.banner or standing_of(source),
        is_approved=source.is_approved,
        lines=[(name, value) for name, value in lines.items() if value],
    )


def standing_of(source: BoardSource) -> str:
    """Whether anybody approved the numbers; of a release who did, and when."""
    if source.expired:
        return source.banner
    if not source.is_approved:
        return NOT_APPROVED
    approvals = [each for each in source.changes if each.to_status is ReleaseStatus.APPROVED]
    sentences = [f"It was {approvals[-1]}."] if approvals else []
    if approvals and not approvals[-1].is_verified:
        sentences.append(UNVERIFIED)
    return " ".join(["Approved release.", *sentences])


def report_file(
    board: Leaderboard,
    facts: ReportFacts,
    cards: Mapping[str, ScenarioCard] | None = None,
    *,
    runs: Sequence[BoardRun] = (),
    metrics: Sequence[BenchmarkMetrics] = (),
    stated: Stated = None,
    prices: Mapping[str, Prices] | None = None,
    sections: Sequence[Section] = (),
) -> str:
    """The file's text.

    Args:
        board: with its paired differences.
        facts: what it says of itself.
        cards: by scenario name; they describe the benchmarks.
        runs: those behind the board, with the prompts.
        metrics: of its benchmarks, what main metrics leave out.
        stated: the prevalence that they are read at; None: the data's.
        prices: of deployments by name.
        sections: what features add, after the numbers by benchmark.

    Raises:
        SetupError: the package that draws charts is missing.
    """
    parts = [
        f"<h1>{_text(facts.title)}</h1>",
        f'<p class="status{" approved" * facts.is_approved}">{_text(facts.standing)}</p>',
        _facts([*facts.lines, ("Made by", f"medhelm-spark {VERSION}")]),
        "<h2>Models</h2>",
        *([_sentence(tiers_text(board))] if board.rows else []),
        _models(board),
        f'<div class="notes">{"".join(f"<p>{_text(line)}</p>" for line in board.notes)}</div>',
        *_metrics(metrics, stated, prices or {}),
        *_categories(board),
        *_heat(board),
        *_pairs(board, metrics, stated),
        *(part for section in sections for part in _section(section)),
        "<h2>Benchmarks</h2>",
        *(_benchmark(column, board, cards or {}, runs, metrics) for column in board.columns),
        "<h2>How to read it</h2>",
        _facts(list(TERMS.items())),
        _exact(board),
    ]
    return html_page(facts.title, STYLE, "\n".join(filter(None, parts)))


_UNBROKEN = "\N{NO-BREAK SPACE}"
_MODELS = ("Model", "Where it runs", "Tier", "Win rate", "Lacks")


def _models(board: Leaderboard) -> str:
    """The models by tier and rank; what they lack only where one lacks something."""
    width = len(_MODELS) if any(row.lacks for row in board.rows) else len(_MODELS) - 1
    return html_table(_MODELS[:width], (_model(row)[:width] for row in board.rows))


def _model(row: BoardRow) -> tuple[str, ...]:
    lacks = ", ".join(row.lacks)
    rate = number_text(row.mean_win_rate)
    return (row.name, row.locality, rank_text(row.standing), rate, lacks)


def _metrics(
    benchmarks: Sequence[BenchmarkMetrics], stated: Stated, prices: Mapping[str, Prices]
) -> Iterator[str]:
    """Of each benchmark its risk, cost and evidence; at the end what all answers took."""
    with_tables = [metrics for metrics in benchmarks if has_tables(metrics)]
    if with_tables:
        yield "<h2>Risk, cost and evidence</h2>"
    for metrics in with_tables:
        yield f"<h3>{_text(metrics.benchmark.title)}</h3>"
        if prevalence := prevalence_of(metrics, stated):
            yield from map(_sentence, lead(metrics, prevalence, prices))
        yield from map(_titled, tables_of(metrics, stated, prices))
        if prevalence:
            yield _titled(prevalences_table(metrics))
        if curves := {run.name: run.curve for run in metrics.runs if run.curve}:
            label = f"{metrics.benchmark.title}: share of right answers by confidence"
            yield f'<div class="notes"><p>{_text(CURVE_NOTE)}</p></div>'
            yield _figure([svg(calibration_plots(curves, palette)) for palette in PALETTES], label)
        yield from _quality_against_cost(metrics, prices)
    overall = overall_table(benchmarks, prices)
    if overall.rows:
        yield "<h2>Tokens, seconds and money</h2>"
        yield _titled(overall)


def _quality_against_cost(metrics: BenchmarkMetrics, prices: Mapping[str, Prices]) -> Iterator[str]:
    cells = [run.run.cell for run in metrics.runs if run.run.cell]
    if cells and (found := trade_offs(metrics, prices)):
        label = f"{metrics.benchmark.title}: quality against what an answer takes"
        metric = cells[0].main_metric
        yield f'<div class="notes"><p>{_text(TRADE_OFF_NOTE)}</p></div>'
        yield _figure([svg(trade_off_plot(found, metric, palette)) for palette in PALETTES], label)


def _titled(table: TextTable) -> str:
    """The table with its title above and its notes below, which do not scroll with it."""
    body = html_table(table.header, table.rows, strong=table.strong)
    title = f"<h4>{_text(table.title)}</h4>" if table.title else ""
    notes = "".join(f"<p>{strong_html(line, table.strong)}</p>" for line in table.notes)
    return f'{title}<div class="wide">{body}</div><div class="notes">{notes}</div>'


def _sentence(line: str) -> str:
    """A sentence of what numbers come to, its verdicts in bold."""
    return f"<p>{strong_html(line, (*VERDICTS, *COST_WORDS, NO_BETTER))}</p>"


def _categories(board: Leaderboard) -> Iterator[str]:
    """Below each heading the numbers, a row for a benchmark, and their chart."""
    plots = {
        heading: list(drawn)
        for heading, drawn in groupby(_drawn_plots(board), key=lambda plot: plot[0])
    }
    columns = list(enumerate(board.columns))
    for heading, group in groupby(columns, key=lambda numbered: numbered[1].heading):
        yield f"<h2>{_text(heading)}</h2>"
        header = ["Benchmark", *(row.name for row in board.rows)]
        rows = [_numbers(board, index, column) for index, column in group]
        yield f'<div class="wide">{html_table(header, rows)}</div>'
        label = f"{heading}: means with 95 % intervals"
        yield from (_figure(drawn, label) for _, drawn in plots.get(heading, ()))


def _drawn_plots(board: Leaderboard) -> Iterator[tuple[str, Sequence[str]]]:
    """A row of plots each with its heading, since a page of paper breaks between figures alone."""
    by_palette = [dot_plots(board, palette, at_most=PLOTS_IN_A_ROW) for palette in PALETTES]
    for plots in zip(*by_palette, strict=True):
        yield plots[0][0], [svg(spec) for _, spec in plots]


def _numbers(board: Leaderboard, index: int, column: BoardColumn) -> list[str]:
    name = f"{column.display_name} ({column.main_metric})"
    return [name, *(_cell(row, index) for row in board.rows)]


def _cell(row: BoardRow, index: int) -> str:
    cell = row.cells[index]
    if cell is None:
        return "not run"
    interval = interval_text(cell.ci_low, cell.ci_high).replace(", ", f",{_UNBROKEN}")
    return " ".join([marked_mean(cell) + interval, *traded(cell), *counts(cell), *remarks(cell)])


def _heat(board: Leaderboard) -> Iterator[str]:
    specs = [spec for palette in PALETTES if (spec := heat_map(board, palette))]
    if specs:
        yield "<h2>All benchmarks</h2>"
        label = "Models against benchmarks; a deeper blue is nearer to the best"
        yield _figure([svg(spec) for spec in specs], label)


def _pairs(
    board: Leaderboard, metrics: Sequence[BenchmarkMetrics], stated: Stated
) -> Iterator[str]:
    if board.pairs:
        yield "<h2>Comparisons on the same instances</h2>"
        if any(pair.is_primary for pair in board.pairs):
            yield "<p>The comparisons on primary endpoints (declared) come first.</p>"
        found = class_differences(metrics, board.pairs, stated)
        yield from map(_sentence, verdicts(board.pairs, found))
        yield _titled(comparison.comparison_table(board.pairs))


def _section(section: Section) -> Iterator[str]:
    yield f"<h2>{_text(section.heading)}</h2>"
    for part in section.parts:
        if isinstance(part, Figure):
            yield _figure([svg(part.drawn_in(palette)) for palette in PALETTES], part.label)
        elif isinstance(part, TextTable):
            yield _titled(part)
        elif isinstance(part, Sentences):
            yield from (f"<p>{_text(line)}</p>" for line in part.lines)
        else:
            yield f"<h3>{_text(part)}</h3>"


def _benchmark(
    column: BoardColumn,
    board: Leaderboard,
    cards: Mapping[str, ScenarioCard],
    runs: Iterable[BoardRun],
    metrics: Sequence[BenchmarkMetrics],
) -> str:
    """A benchmark's card: what it asks, of whom, how it is measured, what limits it."""
    index = board.columns.index(column)
    cells = [cell for row in board.rows if (cell := row.cells[index])]
    units = {unit for cell in cells for unit in cell.run_spec_ids}
    own = [each for each in metrics if each.benchmark.scenario_name == column.scenario_name]
    known = benchmark_facts(
        column,
        cells,
        [run.run_spec for run in runs if run.run_spec.run_spec_id in units],
        cards.get(column.scenario_name),
        [each for each in own if any(run.run.run_spec.run_spec_id in units for run in each.runs)],
    )
    return f"<h3>{_text(column.display_name)}</h3>{_facts(known)}"


def _exact(board: Leaderboard) -> str:
    """Every number that is rounded above, with all its digits."""
    parts = [
        "<h2>Exact numbers</h2>",
        "<p>Numbers above are rounded for reading. These are the numbers themselves, as MLflow and "
        "the exports as CSV and JSON have them.</p>",
        _numbers_of(("Model", "Win rate"), ((row.name, row.mean_win_rate) for row in board.rows)),
        _numbers_of(("Model", "Benchmark", *_OF_CELL), _exact_cells(board)),
    ]
    if pairs := list(_exact_pairs(board)):
        parts.append(_numbers_of(("First", "Second", "Benchmark", *_OF_PAIR), pairs))
    return "\n".join(parts)


_OF_CELL = ("mean", "ci_low", "ci_high", "count", "num_unscored", "num_counted")
_OF_PAIR = ("mean_difference", "ci_low", "ci_high", "p_value", "adjusted_p", "effect_size")


def _numbers_of(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    texts = (["" if value is None else str(value) for value in row] for row in rows)
    return f'<div class="wide">{html_table(header, texts)}</div>'


def _exact_cells(board: Leaderboard) -> Iterator[Sequence[object]]:
    for row in board.rows:
        for column, cell in zip(board.columns, row.cells, strict=True):
            if cell:
                benchmark = f"{column.scenario_name} ({column.main_metric}, {column.split})"
                yield row.name, benchmark, *(getattr(cell, name) for name in _OF_CELL)


def _exact_pairs(board: Leaderboard) -> Iterator[Sequence[object]]:
    for pair in board.pairs:
        record = comparison.record(pair)
        benchmark = f"{record['scenario_name']} ({record['main_metric']})"
        yield record["first"], record["second"], benchmark, *(record[name] for name in _OF_PAIR)


def _facts(lines: Iterable[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in lines)
    return f"<dl>{rows}</dl>"


def _figure(drawn: Sequence[str], label: str) -> str:
    """A chart, drawn in each palette: the reader's colour scheme chooses the one that is shown."""
    by_class = zip(PALETTES.values(), drawn, strict=True)
    variants = "".join(f'<div class="{name}">{each}</div>' for name, each in by_class)
    return f'<figure role="img" aria-label="{_text(label)}">{variants}</figure>'


def _text(value: object) -> str:
    return html.escape(str(value), quote=True)
