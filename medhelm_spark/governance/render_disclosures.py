"""What text was sent where, as a report."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields

from medhelm_spark.governance.disclosures import Disclosure
from medhelm_spark.render.report import Report, formatted
from medhelm_spark.render.table import TextTable

HEADER = (
    "Level",
    "Lowered from",
    "Locality",
    "Destination",
    "Deployment",
    "Run by",
    "Day",
    "Texts",
    "Patients",
    "Times",
    "Answered",
)
COUNTED = (
    "Counted from the results of requests, as the job that sent them wrote them; Times counts each "
    "try. A text that a server did not answer counts: part of it may have arrived."
)
PATIENTS = (
    "Patients: distinct patients that the texts are about, by the card's cluster column, else "
    "instances; - where that is not known."
)
AT_MOST = (
    "A cell that says at most: requests to a server were begun and their results are not in the "
    "lake; they are under way, were interrupted, or the job ended before it could commit."
)
LOWERED = (
    "Lowered from: the level of the data before somebody lowered it on record "
    "(medhelm-spark level list); its text was sent at the lower level."
)
NOT_HERE = "Answers from a file and requests that the policy denied were not sent and are not here."
EMPTY = "No text of this lake was sent anywhere."
EMPTY_SELECTION = (
    "No text of this selection was sent anywhere ({selection}). "
    "Other text of the lake may have been."
)


def render_disclosures(rows: Sequence[Disclosure], selection: str, output_format: str) -> str:
    """The rows in one of `report.FORMATS`, with a newline at its end.

    `selection` says which of the lake's texts were looked for; empty for all.
    """
    empty = EMPTY_SELECTION.format(selection=selection) if selection else EMPTY
    records = [asdict(row) for row in rows]
    notes = list(_notes(rows))
    report = Report(
        tables=[TextTable(header=HEADER, rows=[_cells(row) for row in rows], notes=notes)],
        content={"rows": records, "notes": notes},
        fields=[field.name for field in fields(Disclosure)],
        records=records,
        if_empty="" if rows else empty,
    )
    return formatted(report, output_format)


def _notes(rows: Sequence[Disclosure]) -> Iterator[str]:
    """What the cells mean, each sentence only where a cell needs it."""
    yield COUNTED
    yield PATIENTS
    if any(row.is_bound for row in rows):
        yield AT_MOST
    if any(row.lowered_from for row in rows):
        yield LOWERED
    yield NOT_HERE


def _cells(row: Disclosure) -> tuple[str, ...]:
    return (
        row.access_level.value,
        row.lowered_from,
        row.locality,
        row.destination,
        row.model_deployment,
        row.run_by,
        row.sent_on,
        _bounded(row.texts, row),
        f"{row.patients:,}" if row.patients else "-",
        _bounded(row.times, row),
        f"{row.answered:,}",
    )


def _bounded(count: int, row: Disclosure) -> str:
    return f"at most {count:,}" if row.is_bound else f"{count:,}"
