"""The lines of a patient: made of events, counted in a unit, cut to a length."""

import re
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Any

from medhelm_spark.domain.history import Beyond, History
from medhelm_spark.scenarios.records import BadReason, BadRecord, as_text, value_of
from medhelm_spark.scenarios.template import Piece, compile_template

UNITS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "characters": re.compile(".", re.DOTALL),
        "words": re.compile(r"\S+"),
        "pieces": re.compile(r"[^\W\d_]{1,6}|\d{1,3}|[^\w\s]|_|\n"),
    }
)
"""What a length is counted in. Pieces are near the tokens of common models and need no vocabulary:
up to six letters, up to three digits, one other sign, or a line break."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
LAST_OF_DAY = timedelta(days=1) - MICROSECOND
DAY_LENGTH = len("2020-01-31")
DAY = "day"
Fields = Mapping[str, Any]


def filled_text(fields: Fields, name: str) -> str | None:
    """A cell as text, None where it is absent or blank."""
    text = as_text(value_of(fields, name))
    return None if text is None or text.isspace() else text or None


def moment(value: Any, *, is_last: bool = False) -> datetime:
    """A time in UTC, which is also taken as the zone of one that was written without.

    A date without a time of day is the first moment of the day, or with `is_last` the last: an
    event on the day of a record's time is not known to have come before it.

    Raises:
        BadRecord: the value is no timestamp, no date and no text of either in ISO form.
    """
    is_day = isinstance(value, date) and not isinstance(value, datetime)
    try:
        if isinstance(value, str):
            is_day = len(value.strip()) <= DAY_LENGTH
            value = datetime.fromisoformat(value.strip())
        elif is_day:
            value = datetime(value.year, value.month, value.day, tzinfo=UTC)
        if not isinstance(value, datetime):
            raise BadRecord(BadReason.UNKNOWN_TIME)
        time = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadRecord(BadReason.UNKNOWN_TIME) from None
    return time + LAST_OF_DAY if is_day and is_last else time


def microseconds(time: datetime) -> int:
    """Since the first moment of 1970."""
    return (time - EPOCH) // MICROSECOND


def line_maker(history: History) -> Callable[[Fields], str]:
    """From the columns of an event to its line; events whose line was too long alone are cut."""
    first, *others = map(compile_template, history.line)
    most, unit = _most(history), UNITS[history.unit]
    is_cut = bool(most) and history.beyond is Beyond.CUT

    def make(fields: Fields) -> str:
        line = _filled(first, fields)
        if line is None:
            raise BadRecord(BadReason.MISSING_FIELD)
        line += "".join(_filled(part, fields) or "" for part in others)
        return ending(line, most, unit) if is_cut and len(line) > most else line

    return make


def heading_maker(history: History) -> Callable[[Fields, datetime | None], str]:
    """From the columns and the time of an event to its heading, empty where a column is absent."""
    heading = compile_template(history.heading)

    def make(fields: Fields, time: datetime | None) -> str:
        day = time.date().isoformat() if time else None
        return _filled(heading, {**fields, DAY: day}) or ""

    return make if history.heading else lambda _, __: ""


def _filled(template: tuple[Piece, ...], fields: Fields) -> str | None:
    """The template with its columns in place, None where one is absent or blank."""
    parts: list[str] = []
    for literal, column in template:
        parts.append(literal)
        if column is not None:
            text = filled_text(fields, column)
            if text is None:
                return None
            parts.append(text)
    return "".join(parts)


class Lines:
    """The lines of one patient up to now: all of them, or the end that is long enough."""

    def __init__(self, history: History) -> None:
        self._most, self._unit = _most(history), UNITS[history.unit]
        self._is_cut = history.beyond is Beyond.CUT
        self._break = len(self._unit.findall("\n"))
        self._kept: deque[tuple[str, int]] = deque()
        self._length = 0
        self._heading = ""

    def add(self, heading: str, line: str) -> None:
        """One more event; its heading is a line before it, unless the last event had the same."""
        if heading and heading != self._heading:
            self._append(heading)
        self._heading = heading
        self._append(line)

    def text(self) -> str:
        """The lines as one text, no longer than allowed.

        Raises:
            BadRecord: there is none, or it is too long and may not be cut.
        """
        if not self._length and not self._kept:
            raise BadRecord(BadReason.NO_HISTORY)
        if self._is_over() and not self._is_cut:
            raise BadRecord(BadReason.TOO_LONG)
        text = "\n".join(line for line, _ in self._kept)
        return ending(text, self._most, self._unit) if self._is_over() else text

    def _append(self, line: str) -> None:
        size = len(self._unit.findall(line)) + self._break if self._most else 0
        self._length += size
        self._kept.append((line, size))
        if not self._is_over():
            return
        if not self._is_cut:  # for good: a patient's lines only ever grow
            self._kept.clear()
            return
        while self._length - self._kept[0][1] >= self._most + self._break:
            self._length -= self._kept.popleft()[1]

    def _is_over(self) -> bool:
        return bool(self._most) and self._length - self._break > self._most


def ending(text: str, most: int, unit: re.Pattern[str]) -> str:
    """The last `most` units of a text; all of it where it has no more.

    >>> ending("one two  three", 2, UNITS["words"])
    'two  three'
    """
    starts = deque((match.start() for match in unit.finditer(text)), maxlen=most + 1)
    return text[starts[1] :] if len(starts) > most else text


def _most(history: History) -> int:
    """The longest text allowed, 0 for any."""
    return int(history.most or 0)
