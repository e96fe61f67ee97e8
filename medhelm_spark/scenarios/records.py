"""Record, ParsedInput and BadReason: what readers give, what parsers give, why a row is refused.

A record is a raw row of any source: a file, a hub data set, or a table read by Spark. Nothing in
an error or a reason ever quotes it.
"""

import datetime
import decimal
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.scenario import Message, Reference, ScenarioCard
from medhelm_spark.domain.split import Split


class BadReason(StrEnum):
    """Why one row cannot become an Instance; it goes to `quarantine` and the rest runs.

    An event without a time (UNTIMED) is counted, and does not go to `quarantine`.
    """

    SHORT_ROW = "short_row"  # the row has fewer cells than the header
    LONG_ROW = "long_row"  # the row has more cells than the header
    BROKEN_JSON = "broken_json"  # the line is not valid JSON
    NOT_AN_OBJECT = "not_an_object"  # the record is not a JSON object
    MISSING_FIELD = "missing_field"  # a field that the card needs is absent or null
    NOT_TEXT = "not_text"  # a field is neither text nor a number
    NOT_A_LIST = "not_a_list"  # a field that should be a list is not
    NOT_UNICODE = "not_unicode"  # half of a surrogate pair has no UTF-8
    EMPTY_ID = "empty_id"  # the id is empty
    EMPTY_INPUT = "empty_input"  # the input text is empty or blank
    EMPTY_ANSWER = "empty_answer"  # the correct answer is empty or blank
    UNKNOWN_ANSWER = "unknown_answer"  # the correct answer is not among the options
    UNEVEN_LISTS = "uneven_lists"  # sections and their labels differ in number
    BROKEN_INCORRECT_ANSWERS = "broken_incorrect_answers"  # no JSON list of texts
    BROKEN_CONVERSATION = "broken_conversation"  # no list of turns that ends with the user's
    BROKEN_RUBRIC = "broken_rubric"  # no list of criteria, each with its points
    UNKNOWN_SPLIT = "unknown_split"  # none of train, valid, validation, dev and test
    UNKNOWN_TIME = "unknown_time"  # a time is neither a timestamp nor a date in ISO form
    NO_HISTORY = "no_history"  # no event of the patient is before the record's time
    UNTIMED = "untimed"  # an event has no time, and the history sorts events by time
    TOO_LONG = "too_long"  # the patient's events are longer than the card allows


class BadRecord(Exception):
    """Raised by a parser for one bad row; carries the reason and no data."""

    def __init__(self, reason: BadReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One raw row. `row` counts the data rows of its file from 1; `error` is set on unusable rows.

    `fields` maps columns to values as the source has them; an absent or null field is None or
    missing, an empty cell is the empty text. `access_level` is the row's own, where its table has
    levels.
    """

    source_file: str
    row: int
    split: Split | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    error: BadReason | None = None
    access_level: AccessLevel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedInput:
    """What a parser makes of a record; what it leaves at None is filled in from the card."""

    input: str
    references: tuple[Reference, ...] = ()
    source_id: str | None = None
    messages: tuple[Message, ...] = ()
    extra_data: Mapping[str, str] = field(default_factory=dict)
    sub_split: str | None = None


def column_of(columns: Mapping[str, Any] | Sequence[str], name: str) -> str | None:
    """The column that `name` means; "a|b" is the first of them that is there.

    >>> column_of(["dialogue", "note"], "src|dialogue")
    'dialogue'
    """
    if name in columns:
        return name
    return next((part for part in name.split("|") if part in columns), None)


def value_of(fields: Mapping[str, Any], name: str) -> Any:
    """The cell of a column, or of the first of "a|b" that is there."""
    if name in fields:
        return fields[name]
    column = column_of(fields, name)
    return None if column is None else fields[column]


def as_text(value: object) -> str | None:
    """A cell as text, the same from every kind of file and table; an absent value is None.

    Text is unchanged, true and false are those words, and a time has no zeros after its seconds. A
    number is written out: a floating one without a point where it is whole, for its type does not
    record how it was written, and a decimal one with its own digits.

    >>> as_text(True), as_text(1.0), as_text(1e-05), as_text(float("nan"))
    ('true', '1', '0.00001', None)
    """
    if isinstance(value, str):
        if not value.isascii():
            _check_unicode(value)
        return value
    if value is None or value != value:
        return None
    for kind, write in WRITERS:
        if isinstance(value, kind):
            return write(value)
    raise BadRecord(BadReason.NOT_TEXT)


def _written_out(number: float) -> str:
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return str(int(number)) if number.is_integer() else format(decimal.Decimal(repr(number)), "f")


def _decoded(value: bytes) -> str:
    """The text of a column of bytes, as programs write one that do not mark text."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise BadRecord(BadReason.NOT_TEXT) from None


def _moment(value: datetime.datetime) -> str:
    value = value.astimezone(datetime.UTC).replace(tzinfo=None) if value.tzinfo else value
    return _without_zeros(value.isoformat(" "))


def _time(value: datetime.time) -> str:
    return _without_zeros(value.isoformat())


def _without_zeros(time: str) -> str:
    return time.rstrip("0") if "." in time else time


WRITERS: Sequence[tuple[type, Callable[[Any], str]]] = (
    (bool, lambda value: str(value).lower()),  # before int, which it is too
    (int, str),
    (float, _written_out),
    (decimal.Decimal, lambda value: format(value, "f")),
    (bytes, _decoded),
    (datetime.datetime, _moment),  # before date, which it is too
    (datetime.date, str),
    (datetime.time, _time),
)
"""How values of each type that is no text are written."""


def as_lines(value: object) -> str | None:
    """A cell as text; a list of texts is one text with a line for each."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "\n".join(texts(value))
    return as_text(value)


def _check_unicode(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadRecord(BadReason.NOT_UNICODE) from None


def optional_value(record: Record, card: ScenarioCard, role: str) -> object:
    """The raw value behind a role of the card; None where the card or the record has none."""
    name = card.fields.get(role)
    return None if name is None else value_of(record.fields, name)


def optional_text(record: Record, card: ScenarioCard, role: str) -> str | None:
    """The text behind a role of the card, or None where there is none."""
    return as_text(optional_value(record, card, role))


def required_text(record: Record, card: ScenarioCard, role: str, if_blank: BadReason) -> str:
    """The text behind a role; a missing or blank one makes the record bad."""
    text = optional_text(record, card, role)
    if text is None:
        raise BadRecord(BadReason.MISSING_FIELD)
    if not text or text.isspace():
        raise BadRecord(if_blank)
    return text


def texts(value: object) -> tuple[str, ...]:
    """A list of texts; anything else makes the record bad."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise BadRecord(BadReason.NOT_A_LIST)
    items: list[str] = []
    for item in value:
        text = as_text(item)
        if text is None:
            raise BadRecord(BadReason.MISSING_FIELD)
        items.append(text)
    return tuple(items)


def renamed(record: Record, names: Mapping[str, str]) -> Record:
    """The record with the card's names for columns that its source calls otherwise.

    An empty cell of a workbook is no field of its record: another column of the source that has
    the card's name does not take its place.
    """
    ours = {name: record.fields[own] for name, own in names.items() if own in record.fields}
    others = {name: value for name, value in record.fields.items() if name not in names}
    return replace(record, fields={**others, **ours})


def passes_rules(record: Record, card: ScenarioCard) -> bool:
    """Whether the card's rules `keep` and `drop` let the record in; an absent value is empty."""
    return has_values(record, card.keep) and not any(
        _value(record, name) in refused for name, refused in card.drop.items()
    )


def has_values(record: Record, rules: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether each of these columns has one of its allowed values."""
    return all(_value(record, name) in allowed for name, allowed in rules.items())


def _value(record: Record, name: str) -> str:
    try:
        return (as_text(value_of(record.fields, name)) or "").strip()
    except BadRecord:
        return ""
