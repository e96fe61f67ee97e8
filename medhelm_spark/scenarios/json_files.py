"""Json and json lines. A number keeps its digits as text: 1.50 stays `1.50`."""

import json
from collections.abc import Iterator, Mapping
from itertools import filterfalse
from typing import Any

from medhelm_spark.errors import DataError
from medhelm_spark.scenarios.raw_files import UNREAD, CheckColumns, RawFile
from medhelm_spark.scenarios.records import BadReason
from medhelm_spark.scenarios.text_files import text_lines

MAX_VALUES = 30_000_000
"""A list of nothing takes two characters of a file and 64 bytes of memory. The largest public data
set of one document, half a gigabyte of text, has six million."""


class _RepeatedKey(ValueError):
    pass


def loads(text: str) -> object:
    """Read JSON with numbers as text.

    Raises:
        ValueError: broken JSON, or an object that gives a key twice (one value would be lost).
    """
    return _DECODER.decode(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RepeatedKey
    return members


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, object_pairs_hook=_unique)


def read_json(file: RawFile, _: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The records of one JSON document: a list, a list at `record_path`, or an object by key.

    With `key_field` the document is an object whose keys become that field of each record. With
    `explode` the members of the list of that name are the records, each with the other fields of
    the object around it. The whole document is held in memory.

    Raises:
        DataError: broken JSON, or no list or object of records where one is promised.
    """
    for record in _records(_descend(_document(file), file), file):
        if not isinstance(record, dict):
            yield BadReason.NOT_AN_OBJECT
        elif file.source.explode is None:
            yield record
        else:
            yield from _exploded(record, file.source.explode)


def _records(records: object, file: RawFile) -> Iterator[object]:
    key_field = file.source.key_field
    if key_field is not None:
        if not isinstance(records, dict):
            raise DataError(f"{file.path}: an object of records is needed (key_field is set).")
        for key, record in records.items():
            yield {**record, key_field: key} if isinstance(record, dict) else record
        return
    if not isinstance(records, list):
        raise DataError(f"{file.path}: a list of records is needed; set record_path or key_field.")
    yield from records


def _exploded(record: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any] | BadReason]:
    members = record.get(name)
    if not isinstance(members, list):
        yield BadReason.NOT_A_LIST
        return
    around = {key: value for key, value in record.items() if key != name}
    for member in members:
        yield {**around, **member} if isinstance(member, dict) else BadReason.NOT_AN_OBJECT


def read_jsonl(file: RawFile, _: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The records of a JSON lines file, one object a line; blank lines are passed over."""
    for row, line in enumerate(filterfalse(str.isspace, text_lines(file)), 1):
        if not file.is_wanted(row):
            yield UNREAD
            continue
        try:
            record = loads(line)
        except (ValueError, RecursionError):
            yield BadReason.BROKEN_JSON
            continue
        yield record if isinstance(record, dict) else BadReason.NOT_AN_OBJECT


def _document(file: RawFile) -> object:
    text = "".join(text_lines(file))
    if sum(map(text.count, "[{,")) > MAX_VALUES:
        raise DataError(
            f"{file.path}: more than {MAX_VALUES} lists, objects and commas in one JSON document, "
            "which is held in memory; write it as json lines."
        )
    try:
        return loads(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{file.path}: broken JSON at line {error.lineno}, column {error.colno}."
        ) from None
    except _RepeatedKey:
        raise DataError(f"{file.path}: a JSON object gives the same key twice.") from None
    except RecursionError:
        raise DataError(f"{file.path}: the JSON is nested too deeply.") from None


def _descend(document: object, file: RawFile) -> object:
    for name in (file.source.record_path or "").split("."):
        if not name:
            continue
        if not isinstance(document, dict) or name not in document:
            raise DataError(
                f"{file.path}: nothing stands at record_path {file.source.record_path!r}."
            )
        document = document[name]
    return document
