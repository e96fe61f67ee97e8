"""History: how the events of a patient become the text of a record, declared in a card's source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Beyond(StrEnum):
    """What becomes of a record whose text is longer than allowed: its end is kept, or nothing."""

    CUT = "cut"
    DROP = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A column of the records that Spark makes of other files: the events of the record's patient.

    `column` receives the text. The events stand in `files`, read as `format`; `event_patient`
    names their patient and `time` their moment, `patient` and `until` are the columns of the record
    for both. Events after `until` are left out, and so are events without a time where `time` is
    given. Files without `time` are taken in their order.

    A line is made of the parts of `line`, each a text with columns in braces; a part without one of
    its columns is left out, and an event without the first part is bad. `heading` is a line of its
    own wherever it differs from the last one; it knows `{day}` beside the columns.

    `most` is the longest text in units of `unit`, no limit where empty, and `beyond` what becomes
    of a longer one. Of the records count those whose columns have a value of `keep`, and at most so
    many of a file as `samples` says by a pattern of its path.

    Records that have `column` already are taken as they are: nothing here is done to them, nor is
    the source's `lookups`.
    """

    column: str
    files: tuple[str, ...]
    patient: str
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
