"""What the methods about releases return."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from medhelm_spark.board.results import Board
from medhelm_spark.domain.release import ReleaseChange, ReleaseStatus
from medhelm_spark.domain.release_requirements import Finding, blocking
from medhelm_spark.releases import render as releases
from medhelm_spark.releases.differences import RunDifference
from medhelm_spark.releases.pinned import ReleaseRows, StoredRelease
from medhelm_spark.render.result import Result


@dataclass(frozen=True, slots=True)
class Releases(Result):
    """The releases of a lake, the newest first."""

    releases: tuple[StoredRelease, ...]

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return releases.render_releases(self.releases, form)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per release."""
        yield from map(releases.release_record, self.releases)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRecord(Result):
    """A release: its status and since when, what it froze, its runs.

    `requirements` are those of the policy in force now. `changed` names tables and runs whose
    values are no longer what was published.
    """

    release: StoredRelease
    frozen: ReleaseRows = field(repr=False)
    requirements: Mapping[str, bool | int | float]
    changed: tuple[str, ...] = ()

    @property
    def status(self) -> ReleaseStatus:
        """Its current status."""
        return self.release.state.status

    @property
    def changes(self) -> tuple[ReleaseChange, ...]:
        """Its statuses, oldest first: who gave each, when, with which note."""
        return self.release.state.changes

    @property
    def void(self) -> str:
        """Which status is void and why; empty where none is."""
        return self.release.state.void

    @property
    def manifest_hash(self) -> str:
        """The hash of all that the release says."""
        return self.release.manifest_hash

    def render(self, form: str = "table") -> str:
        """All of it as text: `table`, `md`, `csv`, `json` or `html`; in csv the runs alone."""
        return releases.render_release(
            self.release, self.frozen, self.requirements, self.changed, form
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per status that it had."""
        yield from map(asdict, self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Result):
    """What each requirement of the policy came to for a release; empty where nothing is required.

    A requirement that failed for several runs has a finding for each.
    """

    release: str
    findings: tuple[Finding, ...]

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """What keeps the release from being approved: what failed, and what cannot be checked."""
        return blocking(self.findings)

    @property
    def is_passed(self) -> bool:
        """Whether nothing blocks."""
        return not self.blocking

    def render(self, form: str = "table") -> str:
        """The findings as text: `table`, `md`, `csv`, `json` or `html`."""
        return releases.render_gate(self.release, self.findings, form)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per finding."""
        yield from map(asdict, self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseComparison(Result):
    """The runs of two releases beside each other, what changed first."""

    first: str
    second: str
    runs: tuple[RunDifference, ...]

    def render(self, form: str = "table") -> str:
        """The runs as text: `table`, `md`, `csv`, `json` or `html`."""
        return releases.render_differences(self.first, self.second, self.runs, form)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One row per run."""
        yield from map(asdict, self.runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(Result):
    """A release and what is pinned in it."""

    name: str
    suites: tuple[str, ...]
    manifest_hash: str
    board: Board = field(repr=False)
    status: ReleaseStatus = ReleaseStatus.DRAFT

    def rows(self) -> Iterator[dict[str, Any]]:
        """The board's rows."""
        return self.board.rows()

    def render(self, form: str = "table") -> str:
        """The board as text: `table`, `md`, `csv`, `json` or `html`."""
        return self.board.render(form)

    def __str__(self) -> str:
        suites = ", ".join(self.suites)
        manifest = f"{self.status}, manifest {self.manifest_hash}"
        return f"release {self.name} of {suites}, {manifest}\n\n{self.board}"
