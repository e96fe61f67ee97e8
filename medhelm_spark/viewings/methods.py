"""`evaluation.viewings`: who opened gated or private text."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date
from typing import Any

from medhelm_spark.board.host import Methods, at_work
from medhelm_spark.render.result import Result
from medhelm_spark.viewings.tables import Viewing

NOTES = (
    "Text of public rows is not recorded. A user without identified_by is the operating system's, "
    "which nobody has checked; whoever may read the lake's files can read them without a record, "
    "and whoever may write them can change this one: viewings are in no chain.",
)


@dataclass(frozen=True, slots=True)
class Viewings(Result):
    """Who opened gated or private text or downloaded a file, oldest first."""

    viewings: tuple[Viewing, ...]

    HEADER = (
        "viewed_at",
        "viewed_by",
        "identified_by",
        "place",
        "access_level",
        "scenario_name",
        "model_deployment",
        "suite",
        "release",
        "file_name",
        "num_rows",
    )

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per viewing."""
        for viewing in self.viewings:
            row = asdict(viewing)
            del row["run_spec_ids"]
            row |= {name: row[name] or "" for name in ("identified_by", "suite", "file_name")}
            yield {**row, "viewed_at": f"{viewing.viewed_at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"}

    @property
    def notes(self) -> Sequence[str]:
        """What is not in the table."""
        return NOTES


class ViewingMethods(Methods):
    """The viewings of a lake."""

    @at_work
    def list(
        self,
        *,
        release: str | None = None,
        benchmark: str | None = None,
        since: date | None = None,
        until: date | None = None,
    ) -> Viewings:
        """Who opened gated or private text, or downloaded a file.

        Args:
            release: only of this release.
            benchmark: only of this scenario.
            since: the first day, in UTC.
            until: the last day.
        """
        rows = self._workspace.reader.rows("SELECT * FROM {viewings}", Viewing)
        selected = [
            row
            for row in sorted(rows, key=lambda row: row.viewed_at)
            if release in (None, row.release)
            and benchmark in (None, row.scenario_name)
            and (since is None or row.viewed_at.astimezone(UTC).date() >= since)
            and (until is None or row.viewed_at.astimezone(UTC).date() <= until)
        ]
        return Viewings(tuple(selected))
