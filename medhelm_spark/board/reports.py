"""A board as one file to take away."""

from dataclasses import dataclass
from pathlib import Path

from medhelm_spark import features
from medhelm_spark.board import as_of, manifest_of
from medhelm_spark.board.metrics import metrics_of
from medhelm_spark.board.render.report_file import Reported, Section, facts_of, report_file
from medhelm_spark.board.schema import BoardView, load_board
from medhelm_spark.domain.stated_prevalence import Stated
from medhelm_spark.whole_files import write_whole
from medhelm_spark.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFile:
    """One HTML file: board in tiers, charts, comparisons, benchmarks; text of public rows alone.

    It asks no host for anything, and prints. `name` is the suite's or release's.
    """

    name: str
    html: str

    def write(self, path: str | Path | None = None) -> Path:
        """Write it, by default as `NAME.html` in the working directory; returns where."""
        target = Path(path or f"{self.name}.html")
        write_whole(target, self.html)
        return target

    def _repr_html_(self) -> str:
        return self.html


def sections_of(reported: Reported) -> list[Section]:
    """What features add to a report."""
    return [
        section for feature in features.parts("report") for section in feature.sections(reported)
    ]


def report_of(
    workspace: Workspace,
    view: BoardView,
    release: str | None = None,
    prevalence: Stated = None,
) -> ReportFile:
    """The report of these runs of a suite or release; `prevalence` as in `metrics_of`.

    Raises:
        ConfigError: a prevalence is not between 0 and 1.
        SetupError: the package that draws charts is missing.
    """
    source = view.source
    metrics = metrics_of(workspace, view.runs, release=release, prevalence=prevalence)
    board = load_board(workspace, view)
    facts = facts_of(
        source,
        board,
        view.runs,
        coverage_floor=workspace.coverage_floor,
        manifest=manifest_of(workspace.reader, source),
    )
    html = report_file(
        board,
        facts,
        workspace.registry.cards,
        runs=view.runs,
        metrics=metrics.benchmarks,
        stated=prevalence,
        prices=metrics.prices,
        sections=sections_of(
            Reported(
                reader=as_of(workspace.reader, release),
                runs=view.runs,
                pairs=board.pairs,
                smallest_group=workspace.registry.policy.small_cells.minimum,
            )
        ),
    )
    return ReportFile(name=source.name, html=html)
