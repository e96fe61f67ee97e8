"""What the methods about releases return."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from medhelm_spark.domain.release import Finding, ReleaseChange, ReleaseStatus, blocking
from medhelm_spark.lake.release import HeldRelease, ReleaseRows
from medhelm_spark.leaderboard.release_differences import RunDifference
from medhelm_spark.render import releases

if TYPE_CHECKING:
    import pandas as pd


def _frame(rows: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
    import pandas as pd  # only who asks for a DataFrame needs it

    return pd.DataFrame(list(rows))


@dataclass(frozen=True, slots=True)
class Releases:
    """The releases of a lake, the newest first."""

    held: tuple[HeldRelease, ...]

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return releases.render_releases(self.held, form)

    def to_pandas(self) -> "pd.DataFrame":
        """One row per release."""
        return _frame(list(map(releases.release_record, self.held)))

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRecord:
    """A release: where it stands and since when, what it froze, its runs.

    `requirements` are those of the policy in force now. `changed` names tables and runs whose
    values are no longer what was published.
    """

    held: HeldRelease
    rows: ReleaseRows = field(repr=False)
    requirements: Mapping[str, bool | int | float]
    changed: tuple[str, ...] = ()

    @property
    def status(self) -> ReleaseStatus:
        """Where it stands now."""
        return self.held.state.status

    @property
    def changes(self) -> tuple[ReleaseChange, ...]:
        """The statuses that it was given, oldest first: by whom, when, with which note."""
        return self.held.state.changes

    @property
    def void(self) -> str:
        """Which status no longer holds and why; empty where none was lost."""
        return self.held.state.void

    @property
    def manifest_hash(self) -> str:
        """The hash of all that the release says."""
        return self.held.manifest_hash

    def render(self, form: str = "table") -> str:
        """All of it as text: `table`, `md`, `csv`, `json` or `html`; in csv the runs alone."""
        return releases.render_release(self.held, self.rows, self.requirements, self.changed, form)

    def to_pandas(self) -> "pd.DataFrame":
        """One row per status that it was given."""
        return _frame(list(map(asdict, self.changes)))

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
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

    def to_pandas(self) -> "pd.DataFrame":
        """One row per finding."""
        return _frame(list(map(asdict, self.findings)))

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseComparison:
    """The runs of two releases beside each other, what changed first."""

    first: str
    second: str
    runs: tuple[RunDifference, ...]

    def render(self, form: str = "table") -> str:
        """The runs as text: `table`, `md`, `csv`, `json` or `html`."""
        return releases.render_differences(self.first, self.second, self.runs, form)

    def to_pandas(self) -> "pd.DataFrame":
        """One row per run."""
        return _frame(list(map(asdict, self.runs)))

    def __str__(self) -> str:
        return self.render()

    def _repr_html_(self) -> str:
        return self.render("html")
