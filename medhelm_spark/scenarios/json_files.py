"""Json and json lines. A number keeps its digits as text: 1.50 stays `1.50`."""

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, filterfalse, islice
from typing import Any

from medhelm_spark.errors import DataError
from medhelm_spark.scenarios.raw_files import UNREAD, CheckColumns, RawFile
from medhelm_spark.scenarios.records import BadReason
from medhelm_spark.scenarios.text_files import text_lines

BUNDLE = "Bundle"
MAX_LISTS, MAX_DEPTH = 20, 20
SPACE = re.compile(r"\s*")
MAX_VALUES = 30_000_000
"""A list of nothing takes two characters of a file and 64 bytes of memory. The largest public data
set of one document, half a gigabyte of text, has six million."""


class _RepeatedKey(ValueError):
    pass


def loads(text: str, number: Callable[[str], object] = str) -> object:
    """Read JSON with numbers as text; `number` makes it of one with a point or an exponent.

    Raises:
        ValueError: broken JSON, or an object that gives a key twice (one value would be lost).
    """
    return _decoder(number).decode(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RepeatedKey
    return members


@cache
def _decoder(number: Callable[[str], object]) -> json.JSONDecoder:
    return json.JSONDecoder(parse_int=str, parse_float=number, object_pairs_hook=_unique)


def read_json(file: RawFile, _: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The records of one JSON document: a list, a list at `record_path`, or an object by key.

    With `key_field` the document is an object whose keys become that field of each record. With
    `explode` the members of the list of that name are the records, each with the other fields of
    the object around it. The whole document is read into memory.

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
    if isinstance(records, dict) and not file.source.record_path:
        records = _only_list(records, file)
    if not isinstance(records, list):
        raise DataError(f"{file.path}: a list of records is needed; set record_path or key_field.")
    yield from records


def _only_list(document: dict[str, Any], file: RawFile) -> list[object]:
    """The records of a document without a path to them.

    They are the resources of a FHIR Bundle, else the one list of objects that it has.

    Raises:
        DataError: it has none, or several.
    """
    if document.get("resourceType") == BUNDLE:
        entries = document.get("entry")
        file.report(f"a FHIR {BUNDLE}")
        listed = entries if isinstance(entries, list) else []
        return [each.get("resource") if isinstance(each, dict) else each for each in listed]
    lists = dict(islice(_lists(document, ()), MAX_LISTS))
    if len(lists) != 1:
        raise DataError(
            f"{file.path}: a list of records is needed, and the JSON object has "
            f"{len(lists) or 'no'} lists of objects; record_path names the keys, with points "
            "between them, at which the records are."
        )
    ((path, records),) = lists.items()
    file.report(f"records at {path}")
    return records


def _lists(value: object, path: tuple[str, ...]) -> Iterator[tuple[str, list[object]]]:
    """The lists of objects inside objects, by their path; what is inside of lists is of records."""
    if len(path) > MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _lists(inner, (*path, key))
    elif isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        yield ".".join(path), value


def _exploded(record: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any] | BadReason]:
    members = record.get(name)
    if not isinstance(members, list):
        yield BadReason.NOT_A_LIST
        return
    around = {key: value for key, value in record.items() if key != name}
    for member in members:
        yield {**around, **member} if isinstance(member, dict) else BadReason.NOT_AN_OBJECT


def read_jsonl(file: RawFile, check: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The records of a JSON lines file, one object a line; blank lines are passed over.

    A file whose first line is a list, or ends inside of a value, is read as the JSON documents that
    it may be: written over several lines, one or many.
    """
    lines = filterfalse(str.isspace, text_lines(file))
    first = next(lines, None)
    if first is not None and _begins_a_document(first):
        text = "".join([first, *lines])
        documents = _documents(text, file)
        if documents is not None:
            file.report("JSON over several lines")
            yield from _of_documents(documents, file)
            return
        lines = filterfalse(str.isspace, io.StringIO(text, newline=""))
        first = next(lines, None)
    for row, line in enumerate(lines if first is None else chain([first], lines), 1):
        if not file.is_in_partition(row):
            yield UNREAD
            continue
        try:
            record = loads(line)
        except (ValueError, RecursionError):
            yield BadReason.BROKEN_JSON
            continue
        yield record if isinstance(record, dict) else BadReason.NOT_AN_OBJECT


def _begins_a_document(line: str) -> bool:
    """Whether a line is a list, or no value only because it ends too early."""
    try:
        return isinstance(loads(line), list)
    except json.JSONDecodeError as error:
        return error.pos >= len(line.rstrip()) - 1
    except (ValueError, RecursionError):
        return False


def _documents(text: str, file: RawFile) -> list[object] | None:
    """The JSON values that a text is made of; None where it is not."""
    _check_size(text, file)
    values: list[object] = []
    at = _after_space(text, 0)
    try:
        while at < len(text):
            value, end = _decoder(str).raw_decode(text, at)
            values.append(value)
            at = _after_space(text, end)
    except (ValueError, RecursionError):
        return None
    return values


def _after_space(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    return match.end() if match else at


def _of_documents(
    documents: Sequence[object], file: RawFile
) -> Iterator[Mapping[str, Any] | BadReason]:
    """The records of one document, or several documents as records."""
    (first, *others) = documents
    is_list = isinstance(first, list) or (isinstance(first, dict) and _holds_records(first))
    records = documents if others or not is_list else _records(first, file)
    for record in records:
        yield record if isinstance(record, dict) else BadReason.NOT_AN_OBJECT


def _holds_records(document: dict[str, Any]) -> bool:
    return document.get("resourceType") == BUNDLE or bool(next(_lists(document, ()), None))


def _document(file: RawFile) -> object:
    text = "".join(text_lines(file))
    _check_size(text, file)
    try:
        return loads(text)
    except json.JSONDecodeError as error:
        documents = _documents(text, file)
        if documents:  # lines of objects are often called .json
            return documents
        raise DataError(
            f"{file.path}: broken JSON at line {error.lineno}, column {error.colno}."
        ) from None
    except _RepeatedKey:
        raise DataError(f"{file.path}: a JSON object gives the same key twice.") from None
    except RecursionError:
        raise DataError(f"{file.path}: the JSON is nested too deeply.") from None


def _check_size(text: str, file: RawFile) -> None:
    if sum(map(text.count, "[{,")) > MAX_VALUES:
        raise DataError(
            f"{file.path}: more than {MAX_VALUES} lists, objects and commas in one JSON document, "
            "which is read into memory; write it as json lines."
        )


def _descend(document: object, file: RawFile) -> object:
    for name in (file.source.record_path or "").split("."):
        if not name:
            continue
        if not isinstance(document, dict) or name not in document:
            raise DataError(f"{file.path}: nothing is at record_path {file.source.record_path!r}.")
        document = document[name]
    return document
