"""The lowerings of levels on record, as a report."""

from collections.abc import Sequence
from dataclasses import asdict, fields

from medhelm_spark.domain.level_change import LevelChange
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.table import TextTable

HEADER = (
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
    "Approved by: as the site's binding policy says now. What is unreviewed changes no level: rows "
    "keep theirs, and their text stays on local deployments.",
)
EMPTY = "No level of this lake was lowered on record."


def render_level_changes(rows: Sequence[LevelChange], output_format: str) -> str:
    """The rows in one of `report.FORMATS`, with a newline at its end."""
    records = [{**asdict(row), "changed_at": row.changed_at.isoformat()} for row in rows]
    report = Report(
        tables=[TextTable(header=HEADER, rows=[_cells(row) for row in rows], notes=NOTES)],
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
