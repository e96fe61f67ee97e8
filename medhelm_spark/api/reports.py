"""A board as one file to take away."""

from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.api.schema import Shown, load_board
from medhelm_spark.api.workspace import Workspace
from medhelm_spark.domain.counting import counted
from medhelm_spark.lake.release import members_of
from medhelm_spark.leaderboard import Kind, choose
from medhelm_spark.render.report_file import APPROVED, NOT_APPROVED, ReportFacts, report_file


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
        place.write_text(self.html, encoding="utf-8")
        return place

    def _repr_html_(self) -> str:
        return self.html


def report_of(
    workspace: Workspace,
    shown: Shown,
    suite: str | None = None,
    release: str | None = None,
) -> ReportFile:
    """The report of these runs of a suite or release.

    Raises:
        SetupError: the package that draws charts is missing.
    """
    source = choose(workspace.reader, suite, release)
    board = load_board(workspace, shown, suite, release)
    made = [run.cell.made_at for run in shown.runs if run.cell and run.cell.made_at]
    lines = {
        source.kind.value.capitalize(): source.name,
        "Status": source.status,
        "Manifest": "",
        "Numbers made": f"{max(made):%Y-%m-%d %H:%M} UTC" if made else "",
        "Size": f"{counted(len(board.rows), 'row')}, {counted(len(board.columns), 'benchmark')}",
        "Coverage floor": f"{100 * workspace.coverage_floor:g} % of answers scored",
    }
    if source.kind is Kind.RELEASE:
        members = members_of(workspace.reader, source.name)
        lines["Manifest"] = ", ".join(sorted({member.manifest_hash for member in members}))
    facts = ReportFacts(
        title=f"Medical leaderboard: {source.kind.value} {source.name}",
        warning=source.banner or (APPROVED if source.is_approved else NOT_APPROVED),
        lines=[(name, value) for name, value in lines.items() if value],
    )
    html = report_file(board, facts, workspace.registry.cards)
    return ReportFile(name=source.name, html=html)
