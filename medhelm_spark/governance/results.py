"""What the methods about disclosures and levels return."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from medhelm_spark.domain.level_change import LevelChange
from medhelm_spark.governance.disclosures import Disclosure
from medhelm_spark.governance.render_disclosures import render_disclosures
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.result import Result
from medhelm_spark.render.table import TextTable

LOWERINGS = (
    "Scenario",
    "From",
    "To",
    "Recorded by",
    "At (UTC)",
    "Approved by",
    "Reason",
    "Data version",
)
UNREVIEWED = "nobody: unreviewed"
NOTES = (
    "Approved by: as the site's binding policy says now. An unreviewed lowering changes no level: "
    "rows keep theirs, and their text stays on local deployments.",
)
EMPTY = "No level of this lake was lowered on record."


@dataclass(frozen=True, slots=True)
class Disclosures(Result):
    """What text was sent where: by level, deployment, destination, locality and day."""

    disclosed: tuple[Disclosure, ...]
    selection: str = ""
    """Which texts were looked for, as `suite s1, since 2026-01-31`; empty for all of the lake."""

    HEADER = tuple(Disclosure.__dataclass_fields__)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per level, deployment, destination, locality and day."""
        yield from map(asdict, self.disclosed)

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return render_disclosures(self.disclosed, self.selection, form)


@dataclass(frozen=True, slots=True)
class LevelChanges(Result):
    """The lowerings of levels that a lake has on record, reviewed as of now; oldest first."""

    changes: tuple[LevelChange, ...]

    HEADER = tuple(LevelChange.__dataclass_fields__)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One per recorded lowering."""
        yield from map(asdict, self.changes)

    def render(self, form: str = "table") -> str:
        """The rows as text: `table`, `md`, `csv`, `json` or `html`."""
        return _render_lowerings(self.changes, form)


def _render_lowerings(rows: Sequence[LevelChange], output_format: str) -> str:
    """The rows in one of `report.FORMATS`, with a newline at its end."""
    records = [{**asdict(row), "changed_at": row.changed_at.isoformat()} for row in rows]
    report = Report(
        tables=[TextTable(header=LOWERINGS, rows=[_cells(row) for row in rows], notes=NOTES)],
        content={"rows": records, "notes": list(NOTES)},
        fields=[field.name for field in fields(LevelChange)],
        records=records,
        if_empty="" if rows else EMPTY,
    )
    return formatted(report, output_format)


def _cells(row: LevelChange) -> tuple[str, ...]:
    return (
        row.scenario_name,
        row.from_level.value,
        row.to_level.value,
        row.changed_by,
        f"{row.changed_at:%Y-%m-%d %H:%M}",
        row.approved_by or UNREVIEWED,
        row.reason,
        row.data_version,
    )
