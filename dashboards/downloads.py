"""What is taken away from the leaderboard: the board as files, and its charts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import streamlit as st
from arrangement import BY_RANK, arranged
from loaded import known_prices, pairs_for
from page_context import PageContext
from page_markup import text
from records import download

from medhelm_spark.board import BoardRun, manifest_of
from medhelm_spark.board.benchmark_metrics import benchmark_metrics, benchmarks_of
from medhelm_spark.board.filters import filters_text
from medhelm_spark.board.render.board import board_report
from medhelm_spark.board.render.charts import DARK, LIGHT, Spec, dot_plots, heat_map, png, svg
from medhelm_spark.board.render.fields import FIELD_KINDS
from medhelm_spark.board.render.report_file import Reported, facts_of, report_file
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.stated_prevalence import Stated
from medhelm_spark.render.report import Report, formatted, parquet
from medhelm_spark.statistics.board import Leaderboard

FORMATS = {
    "CSV": ("csv", "text/csv"),
    "JSON": ("json", "application/json"),
    "Markdown": ("md", "text/markdown"),
}


@dataclass(frozen=True, kw_only=True)
class Exports:
    """The files of a board; `category` is what it was cut to, empty for all of it.

    Its rows are in the order `sort`, one of `sort_keys`, as on the page. The report is read at the
    `stated` prevalence.

    Each is made only when somebody asks for it: paired differences and charts take their time.
    """

    context: PageContext
    board: Leaderboard
    runs: tuple[BoardRun, ...]
    category: str = ""
    sort: str = BY_RANK
    stated: Stated = None

    @property
    def filters(self) -> str:
        """All that took runs away, as one line."""
        category = f"category: {self.category}" if self.category else ""
        return "; ".join(filter(None, (filters_text(self.context.filters), category)))

    @cached_property
    def whole(self) -> Leaderboard:
        """The board with its paired differences, as the command line has it."""
        # Who is compared with whom goes by rank, whatever the order.
        pairs = pairs_for(
            self.context.reader.location,
            self.context.source,
            self.runs,
            self.context.coverage_floor,
        )
        return replace(arranged(self.board, self.sort), pairs=pairs)

    @property
    def report(self) -> Report:
        """What all formats of data are made of."""
        return board_report(self.whole, self.context.source.banner, self.filters)

    def text(self, output_format: str) -> str:
        return formatted(self.report, output_format)

    def parquet(self) -> bytes:
        return parquet(self.report, FIELD_KINDS)

    def html(self) -> str:
        """The report to keep beside a decision."""
        # Not at the top: it reads configuration, which takes a third of a second to import.
        from medhelm_spark.board.cards import cards_behind
        from medhelm_spark.board.reports import sections_of

        source = self.context.source
        facts = facts_of(
            source,
            self.whole,
            self.runs,
            coverage_floor=self.context.coverage_floor,
            manifest=manifest_of(self.context.reader, source),
            filters=self.filters,
            order="" if self.sort == BY_RANK else self.sort,
        )
        return report_file(
            self.whole,
            facts,
            cards_behind(self.context.site),
            runs=self.runs,
            metrics=benchmark_metrics(self.context.reader, benchmarks_of(self.runs)),
            stated=self.stated,
            prices=known_prices(self.context.site),
            sections=sections_of(
                Reported(
                    reader=self.context.reader,
                    runs=self.runs,
                    pairs=self.whole.pairs,
                    smallest_group=self.context.smallest_group,
                    has_public_text=self.context.viewer.may_see(AccessLevel.PUBLIC),
                )
            ),
        )


def offer(exports: Exports) -> None:
    """The popover of files."""
    name = f"{exports.context.source.name}-leaderboard"
    button = partial(download, exports.context, exports.runs, width="stretch")
    with st.popover("Download", icon=":material/download:", width="stretch"):
        for label, (ending, mime) in FORMATS.items():
            button(label, partial(exports.text, ending), f"{name}.{ending}", mime)
        button("Parquet", exports.parquet, f"{name}.parquet", "application/vnd.apache.parquet")
        button("HTML report", exports.html, f"{name}.html", "text/html")


def charts(context: PageContext, board: Leaderboard) -> None:
    """The charts, drawn where the address asks for them, with a file of each."""
    with st.expander("Charts", expanded="charts" in st.query_params):
        if not st.toggle("Draw the charts", key="charts", bind="query-params"):
            return
        palette = DARK if st.context.theme.type == "dark" else LIGHT
        name, chart = context.source.name, partial(_chart, context, _runs_in(board, context.runs))
        for category, spec in dot_plots(board, palette):
            chart(f"{category}: means with 95 % intervals", spec, f"{name}-{_slug(category)}")
        if heat := heat_map(board, palette):
            title = "Models against benchmarks; a deeper blue is nearer to the best"
            chart(title, heat, f"{name}-all-benchmarks")


def chart_of(context: PageContext, board: Leaderboard, benchmark: str) -> None:
    """The means of one benchmark as a chart; `board` has this benchmark alone."""
    palette = DARK if st.context.theme.type == "dark" else LIGHT
    name, runs = f"{context.source.name}-{_slug(benchmark)}-chart", _runs_in(board, context.runs)
    for _, spec in dot_plots(board, palette):
        _chart(context, runs, f"{benchmark}: means with 95 % intervals", spec, name)


def _runs_in(board: Leaderboard, runs: Sequence[BoardRun]) -> list[BoardRun]:
    """The runs whose numbers are in a board."""
    cells = (cell for row in board.rows for cell in row.cells if cell)
    units = {unit for cell in cells for unit in cell.run_spec_ids}
    return [run for run in runs if run.run_spec.run_spec_id in units]


def _chart(
    context: PageContext, runs: Sequence[BoardRun], title: str, spec: Spec, name: str
) -> None:
    st.html(f'<h3 class="ms-lead">{text(title)}</h3>')
    st.vega_lite_chart(spec=spec, theme=None, width="content")
    with st.container(horizontal=True):
        for label, draw, mime in (("SVG", svg, "image/svg+xml"), ("PNG", png, "image/png")):
            ending = label.lower()
            file_name = f"{name}.{ending}"
            download(context, runs, label, partial(draw, spec), file_name, mime, key=file_name)


def _slug(title: str) -> str:
    """A title as part of a file's name."""
    return re.sub(r"\W+", "-", title.lower()).strip("-")
