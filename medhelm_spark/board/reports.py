"""A board as one file to take away."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark import features
from medhelm_spark.board import BoardRun, as_of, manifest_of
from medhelm_spark.board.metrics import metrics_of
from medhelm_spark.board.render.report_file import Section, facts_of, report_file
from medhelm_spark.board.schema import BoardView, load_board
from medhelm_spark.domain.stated_prevalence import Stated
from medhelm_spark.lake.reader import Reader
from medhelm_spark.local_files import write_whole
from medhelm_spark.statistics.pairs import BoardPair
from medhelm_spark.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFile:
    """One HTML file: board in tiers, charts, comparisons, benchmarks; no clinical text.

    It asks no host for anything, and prints. `name` is the suite's or release's.
    """

    name: str
    html: str

    def write(self, path: str | Path | None = None) -> Path:
        """Write it, by default as `NAME.html` in the working directory; returns where."""
        place = Path(path or f"{self.name}.html")
        write_whole(place, self.html)
        return place

    def _repr_html_(self) -> str:
        return self.html


def sections_of(
    reader: Reader, runs: Sequence[BoardRun], pairs: Sequence[BoardPair]
) -> list[Section]:
    """What features add to the report of these runs; `reader` reads them, or a release's.

    `pairs` are the pairs of models that the report compares.
    """
    return [
        section
        for feature in features.parts("report")
        for section in feature.sections(reader, runs, pairs)
    ]


def report_of(
    workspace: Workspace,
    shown: BoardView,
    release: str | None = None,
    prevalence: Stated = None,
) -> ReportFile:
    """The report of these runs of a suite or release; `prevalence` as in `metrics_of`.

    Raises:
        ConfigError: a prevalence is not between 0 and 1.
        SetupError: the package that draws charts is missing.
    """
    source = shown.source
    metrics = metrics_of(workspace, shown.runs, release=release, prevalence=prevalence)
    board = load_board(workspace, shown)
    facts = facts_of(
        source,
        board,
        shown.runs,
        coverage_floor=workspace.coverage_floor,
        manifest=manifest_of(workspace.reader, source),
    )
    html = report_file(
        board,
        facts,
        workspace.registry.cards,
        runs=shown.runs,
        metrics=metrics.benchmarks,
        stated=prevalence,
        prices=metrics.prices,
        sections=sections_of(as_of(workspace.reader, release), shown.runs, board.pairs),
    )
    return ReportFile(name=source.name, html=html)
