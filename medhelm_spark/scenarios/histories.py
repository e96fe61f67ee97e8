"""Long records: every record gets the events of its patient as text, up to the record's time.

The pure part of what Spark does (`stages.histories`). Events and records become entries. They are
sorted by `ORDER` and read in one pass; an event after a record's time is sorted after the record,
so that it cannot get into the record's text.

Memory: of one patient at most the longest text allowed and one line, or without a limit the
patient's lines. It does not grow with the number of patients, records or files.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, time
from decimal import Decimal
from fnmatch import fnmatch
from typing import Any, cast

from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.history import History
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.scenarios.history_lines import (
    UNITS,
    Fields,
    Lines,
    filled_text,
    heading_maker,
    line_maker,
    microseconds,
    moment,
)
from medhelm_spark.scenarios.json_files import loads
from medhelm_spark.scenarios.raw_files import display_name
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    Record,
    as_text,
    has_values,
    value_of,
)
from medhelm_spark.scenarios.template import compile_template, template_columns

ROWS = 1 << 40
ALWAYS = (1 << 63) - 1
ORDER = ("patient", "time", "is_record", "position")
LENGTH = re.compile(r"[1-9][0-9]{0,17}|\{\w+\}")
"""A number above 0, or an argument that gives one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An event of a patient, or a record that gets the patient's events up to its time.

    `time` is in microseconds; `position` is the number of the file and of the row in it. `text`
    is an event's line, or a record's fields as JSON; an entry with an `error` has neither.
    `access_level` is the row's own, where its table has levels.
    """

    patient: str = ""
    time: int = 0
    is_record: bool
    position: int
    text: str = ""
    heading: str = ""
    error: str | None = None
    access_level: AccessLevel | None = None


def check_history(history: History) -> None:
    """Refuse a history that cannot be made.

    Raises:
        ConfigError: a unit, limit, template or pair of columns is wrong.
    """
    if history.unit not in UNITS:
        raise UnknownNameError("unit", history.unit, UNITS, where="history")
    if history.most and not LENGTH.fullmatch(history.most):
        raise ConfigError(
            f"the longest {history.column} is {history.most!r}; allowed: a whole number above 0."
        )
    if not history.line or (history.until and not history.time):
        raise ConfigError("history needs a part of `line`, and with `until` also `time`.")
    for template in (*history.line, history.heading):
        compile_template(template)


def event_columns(history: History) -> tuple[str, ...]:
    """The columns that the files of events must have; later parts of a line may lack theirs."""
    needed = (history.event_patient or history.patient, history.time)
    named = (*needed, *template_columns(history.line[0]))
    return tuple(dict.fromkeys(name for name in named if name))


def used_columns(history: History) -> tuple[str, ...]:
    """The columns of events that make a line or its heading, with those that must be there."""
    named = (name for text in (*history.line, history.heading) for name in template_columns(text))
    return tuple(dict.fromkeys((*event_columns(history), *named)))


def most_records(path: str, history: History) -> int | None:
    """The most records that are used of a file, by the first pattern that its path matches."""
    return next((most for like, most in history.samples.items() if fnmatch(path, like)), None)


def drawn(total: int, most: int) -> frozenset[int] | None:
    """The `most` rows, from 1, that are drawn of `total`; None for all.

    They are the rows of pandas' `sample(n=most, random_state=1)`, which is MedHELM's draw.
    """
    if total <= most:
        return None
    import numpy as np

    indices = np.random.RandomState(1).choice(total, size=most, replace=False)
    return frozenset((indices + 1).tolist())


def event_entries(records: Iterable[Record], history: History, file: int) -> Iterator[Entry]:
    """The entries of events; where the history has times, one without is an entry with an error."""
    patient = history.event_patient or history.patient
    line, heading = line_maker(history), heading_maker(history)

    def make(fields: Fields, position: int) -> Entry:
        when = None
        if history.time:
            value = value_of(fields, history.time)
            if value is None or value == "":
                return _untimed(filled_text(fields, patient), position)
            when = moment(value, is_last=True)
        return Entry(
            patient=_patient(fields, patient),
            time=microseconds(when) if when else 0,
            is_record=False,
            position=position,
            text=line(fields),
            heading=heading(fields, when),
        )

    yield from _entries(records, file, make, is_record=False)


def record_entries(
    records: Iterable[Record], history: History, file: int, rows: frozenset[int] | None = None
) -> Iterator[Entry]:
    """The entries of the records that the history keeps; of the drawn `rows` alone, if any."""

    def make(fields: Fields, position: int) -> Entry:
        until = ALWAYS
        if history.until:
            value = value_of(fields, history.until)
            if value is None or value == "":
                raise BadRecord(BadReason.MISSING_FIELD)
            until = microseconds(moment(value))
        return Entry(
            patient=_patient(fields, history.patient),
            time=until,
            is_record=True,
            position=position,
            text=json.dumps(_plain(fields), default=_no_text),
        )

    selected = (
        record
        for record in records
        if (rows is None or record.row in rows)
        and (record.error or has_values(record, history.keep))
    )
    yield from _entries(selected, file, make, is_record=True)


def _untimed(patient: str | None, position: int) -> Entry:
    """An event without a time; it has its patient, so that no partition gets all such events."""
    error = BadReason.UNTIMED.value
    return Entry(patient=patient or "", is_record=False, position=position, error=error)


def _entries(
    records: Iterable[Record],
    file: int,
    make: Callable[[Fields, int], Entry],
    *,
    is_record: bool,
) -> Iterator[Entry]:
    for record in records:
        position = file * ROWS + record.row
        try:
            if record.error is not None:
                raise BadRecord(record.error)
            entry = make(record.fields, position)
        except BadRecord as bad:
            entry = Entry(is_record=is_record, position=position, error=bad.reason.value)
        level = record.access_level
        yield entry if level is None else replace(entry, access_level=level)


def _patient(fields: Fields, name: str) -> str:
    patient = filled_text(fields, name)
    if patient is None:
        raise BadRecord(BadReason.MISSING_FIELD)
    return patient


def _plain(value: Any) -> object:
    """A value as JSON, with every value that JSON writes otherwise as the text that a cell has."""
    if isinstance(value, (float, bytes, date, time, Decimal)):
        try:
            return as_text(value)
        except BadRecord:
            return _no_text(value)
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    return [*map(_plain, value)] if isinstance(value, list | tuple) else value


def _no_text(_: object) -> dict[str, object]:
    """In place of a value that a record's text may not contain: no text either."""
    return {}


def serialised(entries: Iterable[Entry], source: DataSource) -> Iterator[tuple[int | None, Record]]:
    """Each record with its text in the history's column, and the number of its file.

    The entries come in the order of `ORDER`, all of a patient's. A bad event comes out as a bad
    record without such a number, so that it is counted like any other bad row. A record has the
    strictest level of itself and its events.
    """
    history = cast(History, source.history)
    files, event_names = record_sources(source), (*history.files, *tables_of(history))
    lines, patient, level = Lines(history), None, None
    for entry in entries:
        file, row = divmod(entry.position, ROWS)
        if entry.error is not None:
            name = display_name(files[file]) if entry.is_record else event_names[file]
            bad = Record(source_file=name, row=row, error=BadReason(entry.error))
            yield (file if entry.is_record else None), bad
            continue
        if entry.patient != patient:
            lines, patient, level = Lines(history), entry.patient, None
        own = _stricter(level, entry.access_level)
        if entry.is_record:
            record = _with_text(entry, row, files[file], lines, history.column)
            yield file, record if own is None else replace(record, access_level=own)
        else:
            level = own
            lines.add(entry.heading, entry.text)


def record_sources(source: DataSource) -> tuple[SourceFile, ...]:
    """What the records come from, by number: files, or one table."""
    return source.files if source.table is None else (SourceFile(path=source.table, split=None),)


def tables_of(history: History) -> tuple[str, ...]:
    """The names of the tables of events; their numbers follow those of the files."""
    return tuple(events.table for events in history.tables)


def _stricter(first: AccessLevel | None, other: AccessLevel | None) -> AccessLevel | None:
    levels = [level for level in (first, other) if level]
    return strictest(levels) if levels else None


def _with_text(entry: Entry, row: int, file: SourceFile, lines: Lines, column: str) -> Record:
    record = Record(source_file=display_name(file), row=row, split=file.split)
    try:
        text = lines.text()
    except BadRecord as bad:
        return replace(record, error=bad.reason)
    return replace(record, fields={**cast(dict[str, Any], loads(entry.text)), column: text})
