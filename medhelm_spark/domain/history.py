"""History: how the events of a patient become the text of a record, declared in a card's source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Beyond(StrEnum):
    """What is done with a text that is too long: its end is kept, or the record is bad."""

    CUT = "cut"
    DROP = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTable:
    """A table with events: its name, or the folder or URI of a Delta table.

    `columns` gives its own name for a column that the history calls otherwise; `revision` pins a
    Delta version.
    """

    table: str
    columns: Mapping[str, str] = field(default_factory=dict)
    revision: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A column of the records that Spark makes of other data: the events of the record's patient.

    `column` receives the text. The events are the rows of `files`, read as `format`, and of
    `tables`, whose rows have no order but that of time. Their column
    `event_patient` is the patient and `time` the time of the event; the record's columns for
    both are `patient` and `until`. Events after `until` are left out, and so are events without a
    time where `time` is set. Events of files without `time` keep the order of their file.

    A line is made of the parts of `line`, each a text with columns in braces; a part without one of
    its columns is left out, and an event without the first part is bad. `heading` is a line of its
    own wherever it differs from the last one; it has `{day}` beside the columns.

    `most` is the longest text in units of `unit`, no limit where empty, and `beyond` says what is
    done with a longer one. Records are used if their columns have a value of `keep`; of a file
    whose path matches a pattern of `samples`, at most that number of records.

    Records that have `column` already are taken as they are: nothing here is done to them, nor is
    the source's `lookups`.
    """

    column: str
    patient: str
    files: tuple[str, ...] = ()
    tables: tuple[EventTable, ...] = ()
    event_patient: str = ""
    until: str = ""
    time: str = ""
    format: str = "csv"
    line: tuple[str, ...] = ("{text}",)
    heading: str = ""
    unit: str = "words"
    most: str = ""
    beyond: Beyond = Beyond.CUT
    keep: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    samples: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_events(self) -> bool:
        """Whether there is anything to make the column of."""
        return bool(self.files or self.tables)
