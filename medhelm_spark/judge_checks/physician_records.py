"""Reads physicians' labels of single criteria: records of HealthBench's meta-evaluation.

A record has `prompt` (the turns of a conversation), `completion` (the answer), `rubric` (the
criterion), `binary_labels` (of each physician whether the answer meets it), and perhaps `category`
and `prompt_id`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.ids import content_id
from medhelm_spark.domain.scenario import Message
from medhelm_spark.errors import DataError
from medhelm_spark.lake.rows import without_text
from medhelm_spark.scenarios import BadRecord, as_text, read_records
from medhelm_spark.scenarios.records import Record
from medhelm_spark.scenarios.shapes.conversation import messages_of
from medhelm_spark.user_data.read_responses import format_of

REQUIRED = ("prompt", "completion", "rubric", "binary_labels")
_YES, _NO = frozenset({"true", "1"}), frozenset({"false", "0"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PhysicianRecord:
    """An answer, a criterion, and each physician's label: whether it is met."""

    row: int
    messages: tuple[Message, ...]
    answer: str
    criterion: str
    labels: tuple[bool, ...]
    category: str
    cluster: str
    """The conversation: `prompt_id`, else the hash of its turns."""


def physician_records(path: Path) -> list[PhysicianRecord]:
    """The records of a file, in its order.

    Raises:
        DataError: the file has no record, or a row is unusable: it names the row and the column.
    """
    source = DataSource(format=format_of(str(path)))
    file = SourceFile(path=str(path), split=None)
    with without_text(physician_records):
        records = [
            _record(path, record.row, record.fields)
            for record in _usable(path, read_records(file, source, required=REQUIRED))
        ]
    if not records:
        raise DataError(f"{path}: has no record.")
    return records


def _usable(path: Path, records: Iterator[Record]) -> Iterator[Record]:
    for record in records:
        if record.error is not None:
            raise DataError(f"{path}: row {record.row}: {record.error.value}.")
        yield record


def _record(path: Path, row: int, fields: Mapping[str, object]) -> PhysicianRecord:
    try:
        messages = messages_of(fields.get("prompt"))
    except BadRecord as error:
        raise DataError(f"{path}: row {row}: column 'prompt': {error.reason.value}.") from None
    return PhysicianRecord(
        row=row,
        messages=messages,
        answer=_text(path, row, fields, "completion"),
        criterion=_text(path, row, fields, "rubric"),
        labels=_labels(path, row, fields.get("binary_labels")),
        category=_text(path, row, fields, "category", needed=False),
        cluster=_text(path, row, fields, "prompt_id", needed=False) or content_id(messages),
    )


def _text(
    path: Path, row: int, fields: Mapping[str, object], name: str, *, needed: bool = True
) -> str:
    try:
        text = as_text(fields.get(name))
    except BadRecord:
        raise DataError(f"{path}: row {row}: column {name!r} is not text.") from None
    if needed and not (text or "").strip():
        raise DataError(f"{path}: row {row}: column {name!r} is empty.")
    return text or ""


def _labels(path: Path, row: int, value: object) -> tuple[bool, ...]:
    where = f"{path}: row {row}: column 'binary_labels'"
    if not isinstance(value, list | tuple) or not value:
        raise DataError(f"{where} is no list of labels.")
    try:
        texts = [(as_text(each) or "").strip().lower() for each in value]
    except BadRecord:
        raise DataError(f"{where} has something else than true and false.") from None
    if not {*texts} <= _YES | _NO:
        raise DataError(f"{where} has something else than true and false.")
    return tuple(text in _YES for text in texts)
