"""Patient notes: one document with all notes of a patient, and a question over them."""

import re
from dataclasses import replace

from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.scenarios.compose import TEMPLATE
from medhelm_spark.scenarios.multiple_choice import OPTIONS as CHOICE_OPTIONS
from medhelm_spark.scenarios.multiple_choice import parse_multiple_choice
from medhelm_spark.scenarios.records import BadReason, BadRecord, ParsedInput, Record, required_text

REQUIRED = ("notes", "answer")
NEEDED = (TEMPLATE, "choices")
OPTIONS = CHOICE_OPTIONS
MADE = ("notes", "note_count", "current_date")
"""Columns that this shape makes, for the template."""
BORDER = re.compile(r"^[ \t]*\*{100}[ \t]*$", re.MULTILINE)
DATE = re.compile(r"Record date:\s*(\d{4}-\d{2}-\d{2})")
BETWEEN = f"\n{'*' * 50}\n"


def parse_patient_notes(record: Record, card: ScenarioCard) -> ParsedInput:
    """A choice whose template knows `{notes}`, `{note_count}` and `{current_date}`.

    The notes stand between lines of 100 asterisks. Each gets its number and its date; the current
    date is that of the last note that has one.
    """
    text = required_text(record, card, "notes", BadReason.EMPTY_INPUT).replace("\n\n\n", "\n")
    notes = [part.strip() for part in BORDER.split(text) if part.strip()]
    if not notes:
        raise BadRecord(BadReason.EMPTY_INPUT)
    dates = [match[1] if (match := DATE.search(note)) else None for note in notes]
    known = [date for date in dates if date]
    numbered = [
        f"Note {number}\nRecord date: {date or 'unknown'}\n{DATE.sub('', note, count=1).strip()}"
        for number, (note, date) in enumerate(zip(notes, dates, strict=True), 1)
    ]
    made = {
        "notes": BETWEEN.join(numbered),
        "note_count": str(len(notes)),
        "current_date": known[-1] if known else "unknown",
    }
    return parse_multiple_choice(replace(record, fields={**record.fields, **made}), card)
