"""Exported: instances that another evaluation package has made, one a line, in its order.

The file is written by `medhelm_results.export_script`; its first line, the header, describes the
rest. Its instances are used as they are: nothing is composed, left out or reordered.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from medhelm_spark.domain.annotation import RUBRIC_ITEMS, TAGS, items_text
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.ids import canonical_json
from medhelm_spark.domain.imported import EXPORT_SHAPE
from medhelm_spark.domain.scenario import Reference, ScenarioCard
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios.json_files import loads
from medhelm_spark.scenarios.raw_files import CheckColumns, RawFile, open_data
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    as_text,
    texts,
)
from medhelm_spark.scenarios.shapes.conversation import messages_of, rubric_of
from medhelm_spark.scenarios.shapes.parser import Parser
from medhelm_spark.scenarios.sources import OpenFile, open_source
from medhelm_spark.scenarios.template import correct
from medhelm_spark.scenarios.text_files import text_lines

RUBRICS, EXAMPLE_TAGS, PHYSICIAN = "rubrics", "example_tags", "physician_response"
"""The keys of `extra_data` in which MedHELM's HealthBench has rubric, tags and an answer."""


def first_line(path: str, open_file: OpenFile = open_source) -> str:
    """The header of an export, as text.

    Raises:
        DataError: the file cannot be read, or is empty.
    """
    with open_data(SourceFile(path=path), open_file) as stream:
        lines = text_lines(RawFile(path=path, stream=stream, source=DataSource()))
        line = next(lines, "")
    if not line.strip():
        raise DataError(f"{path}: the file is empty; an export begins with a line that says so.")
    return line


def read_exported(file: RawFile, _: CheckColumns) -> Iterator[Mapping[str, Any] | BadReason]:
    """The instances of an export.

    Raises:
        DataError: it is no export, is cut off, or has another number than its first line says.
    """
    header: Mapping[str, Any] | None = None
    count, is_whole = 0, False
    for number, line in enumerate(text_lines(file), 1):
        record = _parsed(line, file.path, number)
        kind = record.get("kind")
        if header is None:
            header = record
            if kind != "header":
                raise DataError(f"{file.path}: is no export: its first line is no header.")
        elif kind == "instance":
            count += 1
            yield record
        else:
            is_whole = kind == "end"
    promised = (header or {}).get("instances")
    if not is_whole or str(count) != promised:
        raise DataError(
            f"{file.path}: cut off or changed: {count} instances of {promised} are there; export "
            "the scenario again."
        )


def _parsed(line: str, path: str, number: int) -> Mapping[str, Any]:
    try:
        record = loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise DataError(f"{path}: line {number} is not a JSON object; export the scenario again.")
    return record


def parse_exported(record: Record, card: ScenarioCard) -> ParsedInput:
    """The instance as it is. Of a conversation without an input the last turn is the input.

    With the card's option `criterion`, the field of a rubric item with its text, the
    instance's rubric, tags and answer are taken out of `extra_data` and put where judges find them.
    """
    fields = record.fields
    text = as_text(fields.get("input"))
    if text is None:
        raise BadRecord(BadReason.MISSING_FIELD)
    messages = messages_of(fields["messages"]) if fields.get("messages") else ()
    if messages and not text.strip():
        text = messages[-1].content
    extra = dict(_object(fields.get("extra_data")))
    references = tuple(map(_reference, _list(fields.get("references"))))
    if "criterion" in card.options:
        rubric = rubric_of(_json(extra.pop(RUBRICS, "")), card.options["criterion"])
        extra[RUBRIC_ITEMS] = items_text(rubric)
        if tags := _json(extra.pop(EXAMPLE_TAGS, "[]")):
            extra[TAGS] = canonical_json(texts(tags))
        if not references and (answer := extra.pop(PHYSICIAN, "").strip()):
            references = (correct(answer),)
    return ParsedInput(
        input=text,
        references=references,
        messages=messages,
        extra_data=extra,
    )


def _reference(value: object) -> Reference:
    fields = value if isinstance(value, Mapping) else {}
    text = as_text(fields.get("text"))
    if text is None:
        raise BadRecord(BadReason.MISSING_FIELD)
    return Reference(text=text, tags=texts(fields.get("tags")))


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise BadRecord(BadReason.NOT_A_LIST)
    return value


def _object(value: object) -> Mapping[str, str]:
    if not isinstance(value, Mapping):
        raise BadRecord(BadReason.NOT_AN_OBJECT)
    return {key: text for key, item in value.items() if (text := as_text(item)) is not None}


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        raise BadRecord(BadReason.BROKEN_RUBRIC) from None


PARSERS = {
    EXPORT_SHAPE: Parser(parse=parse_exported, options=("criterion",)),
}
