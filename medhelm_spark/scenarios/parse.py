"""From records to instances: ids, splits, quarantine, and fingerprints without text."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from medhelm_spark.domain.access import AccessLevel, strictest
from medhelm_spark.domain.data_source import SourceFile
from medhelm_spark.domain.groups import NOT_STATED, GroupColumn
from medhelm_spark.domain.ids import canonical_json, content_id, digest
from medhelm_spark.domain.scenario import Instance, Quarantined, ScenarioCard, Variant
from medhelm_spark.domain.split import Split
from medhelm_spark.scenarios.levels import file_level, text_hashes
from medhelm_spark.scenarios.parsers import (
    CLUSTER,
    EXTRA,
    ID,
    ID_PART,
    PARSERS,
    parser_of,
    varied,
)
from medhelm_spark.scenarios.raw_files import display_name
from medhelm_spark.scenarios.records import (
    BadReason,
    BadRecord,
    ParsedInput,
    Record,
    as_text,
    optional_text,
    optional_value,
    passes_rules,
    renamed,
    required_text,
    texts,
    value_of,
)
from medhelm_spark.scenarios.shapes.parser import Parser
from medhelm_spark.scenarios.sources import SPLITS

PUBLIC = AccessLevel.PUBLIC
LEFT_OUT = "left_out"
"""The `reason` of a record's key that the card's rules leave out, which is not bad."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKey:
    """A record without its text: enough to find duplicates, count bad rows and name a version.

    `source_key` is a hash of the source id, never the id; it and `content_hash` are empty, and
    `split` is None, where `reason` says why the record is bad or left out.
    `instance_index` is which of its record's instances it is, from 0: of a card without variants
    there is one.
    """

    source_key: str
    content_hash: str
    reason: str | None
    split: str | None
    source_file: str
    source_row: int
    access_level: AccessLevel = AccessLevel.PUBLIC
    instance_index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedInstance:
    """An instance's groups, by the names of the card's group columns; `row` is its record's."""

    instance_id: str
    row: int
    groups: Mapping[str, str]


class _Parsed(NamedTuple):
    source_id: str
    split: Split
    content: ParsedInput
    extra_data: Mapping[str, str]
    sub_split: str | None
    identity: tuple[object, ...]
    fields: Mapping[str, Any]
    access_level: AccessLevel
    cluster_id: str | None


def parse_records(
    records: Iterable[Record],
    card: ScenarioCard,
    data_version: str,
    *,
    first_index: int = 0,
    parsers: Mapping[str, Parser] = PARSERS,
) -> Iterator[Instance | Quarantined]:
    """An Instance for every good record and a Quarantined for every bad one, in order.

    An event without a time is neither.

    `source_index` is the record's row counted from `first_index` (of a card with variants, that
    times their number and the variant's index): it does not move when a bad row is mended, nor
    depend on which task reads the row.
    """
    parse = _parse_function(card, parsers)
    width = max(1, len(card.variants))
    for record in records:
        first = first_index + (record.row - 1) * width
        for index, parsed in enumerate(parse(record), first):
            if parsed is BadReason.UNTIMED:
                continue
            if isinstance(parsed, BadReason):
                yield _quarantined(record, card, data_version, parsed)
            else:
                yield _instance(parsed, card, data_version, index)


def fingerprint_records(
    records: Iterable[Record], card: ScenarioCard, *, parsers: Mapping[str, Parser] = PARSERS
) -> Iterator[RecordKey]:
    """The key of every record, in order; the same parsing as `parse_records`, without text."""
    parse = _parse_function(card, parsers)
    for record in records:
        for index, parsed in enumerate(parse(record) or (None,)):
            yield _key(record, card, parsed, index)


def hashes_of(
    records: Iterable[Record], card: ScenarioCard, *, parsers: Mapping[str, Parser] = PARSERS
) -> Iterator[tuple[int, AccessLevel, tuple[int, ...]]]:
    """The row of every good record with its level and the hashes of its text."""
    parse = _parse_function(card, parsers)
    for record in records:
        for parsed in parse(record):
            if not isinstance(parsed, BadReason):
                hashes = text_hashes(parsed.content, parsed.fields)
                yield record.row, parsed.access_level, hashes


def groups_of(
    records: Iterable[Record], card: ScenarioCard, *, parsers: Mapping[str, Parser] = PARSERS
) -> Iterator[GroupedInstance]:
    """The groups of every instance, by each of the card's group columns; in order, without text."""
    parse, columns = _parse_function(card, parsers), card.group_columns
    for record in records:
        for parsed in parse(record):
            if not isinstance(parsed, BadReason):
                yield GroupedInstance(
                    instance_id=content_id(card.name, parsed.source_id, *parsed.identity),
                    row=record.row,
                    groups={each.name: _group(parsed.fields, each) for each in columns},
                )


def _group(fields: Mapping[str, Any], column: GroupColumn) -> str:
    """The group of a record; a cell that is no text belongs to none."""
    try:
        return column.group_of(lambda name: as_text(value_of(fields, name)))
    except BadRecord:
        return NOT_STATED


def _key(
    record: Record, card: ScenarioCard, parsed: _Parsed | BadReason | None, index: int
) -> RecordKey:
    source_key, content_hash, reason, split = "", "", None, None
    level = card.access_level
    if parsed is None:
        reason = LEFT_OUT
    elif isinstance(parsed, BadReason):
        reason = parsed.value
    else:
        source_key = content_id(card.name, parsed.source_id)
        level = parsed.access_level
        stricter = () if level is card.access_level else (level,)
        cluster = (CLUSTER, parsed.cluster_id) if parsed.cluster_id else ()
        content_hash = content_id(*parsed.identity, *stricter, *cluster)
        split = parsed.split.value
    return RecordKey(
        source_key=source_key,
        content_hash=content_hash,
        reason=reason,
        split=split,
        source_file=record.source_file,
        source_row=record.row,
        access_level=level,
        instance_index=index,
    )


def _parse_function(
    card: ScenarioCard, parsers: Mapping[str, Parser]
) -> Callable[[Record], Sequence[_Parsed | BadReason]]:
    """From a record to its instances: none where the card's rules leave it out, else one a variant.

    A record that cannot be read at all is one bad record, however many variants there are.
    """
    variants = [_parse_variant(variant, card, parsers) for variant in card.variants or (None,)]
    has_rules, names = bool(card.keep or card.drop), card.source.columns

    def parse_record(record: Record) -> Sequence[_Parsed | BadReason]:
        if record.error is not None:
            return (record.error,)
        if names:
            record = renamed(record, names)
        if has_rules and not passes_rules(record, card):
            return ()
        return [parse(record) for parse in variants]

    return parse_record


def _parse_variant(
    variant: Variant | None, card: ScenarioCard, parsers: Mapping[str, Parser]
) -> Callable[[Record], _Parsed | BadReason]:
    """One instance from a record, as a variant wants it; its name ends the instance's source id."""
    if variant is not None:
        card = varied(card, variant)
    parse = parser_of(card, parsers).parse
    extra = tuple(role for role in card.fields if role.startswith(EXTRA))
    ids = tuple(role for role in card.fields if role == ID or role.startswith(ID_PART))
    names = {} if ids or card.merge_identical else _names(card.source.files)

    def parse_one(record: Record) -> _Parsed | BadReason:
        try:
            parsed = _parsed(record, card, parse(record, card), extra, ids, names)
        except BadRecord as bad:
            return bad.reason
        if variant is None:
            return parsed
        return parsed._replace(source_id=f"{parsed.source_id}:{variant.name}")

    return parse_one


def _parsed(
    record: Record,
    card: ScenarioCard,
    content: ParsedInput,
    extra: Sequence[str],
    ids: Sequence[str],
    names: Mapping[str, str],
) -> _Parsed:
    split = _split(record, card)
    extra_data = (
        {**_extra(record, card, extra), **content.extra_data} if extra else content.extra_data
    )
    sub_split = content.sub_split or optional_text(record, card, "sub_split")
    identity = _identity(content, extra_data, split, sub_split)
    own = record.access_level or file_level(record.fields, card.source)
    source_id = _source_id(record, card, content, ids, names, identity)
    return _Parsed(
        source_id=source_id,
        split=split,
        content=content,
        extra_data=extra_data,
        sub_split=sub_split,
        identity=identity,
        fields=record.fields,
        access_level=strictest([card.access_level, own]) if own else card.access_level,
        cluster_id=_cluster_id(record, card, source_id),
    )


def _identity(
    content: ParsedInput, extra_data: Mapping[str, str], split: Split, sub_split: str | None
) -> tuple[object, ...]:
    """The content of an instance as parts of an id; the long text is hashed first, for speed."""
    return (
        digest(content.input),
        [[reference.text, *reference.tags] for reference in content.references],
        [[message.role, message.content] for message in content.messages],
        extra_data,
        split.value,
        sub_split,
    )


def _source_id(
    record: Record,
    card: ScenarioCard,
    content: ParsedInput,
    ids: Sequence[str],
    names: Mapping[str, str],
    identity: Sequence[object],
) -> str:
    if content.source_id is not None:
        if not content.source_id.strip():
            raise BadRecord(BadReason.EMPTY_ID)
        return content.source_id
    if len(ids) == 1:
        return required_text(record, card, ids[0], BadReason.EMPTY_ID)
    if ids:
        return ":".join(required_text(record, card, role, BadReason.EMPTY_ID) for role in ids)
    if card.merge_identical:
        return content_id(*identity)
    if len(card.source.files) == 1:
        return str(record.row)
    name = names.get(record.source_file) or PurePosixPath(record.source_file).name
    return f"{name}:{record.row}"


@lru_cache(maxsize=8)  # each task parses many files of one source
def _names(files: tuple[SourceFile, ...]) -> Mapping[str, str]:
    """Files by path whose names repeat, each with the shortest end of its path that it alone has.

    >>> paths = ("a/train/0.csv", "a/test/0.csv", "a/1.csv")
    >>> _names(tuple(SourceFile(path=path) for path in paths))
    {'a/train/0.csv': 'train/0.csv', 'a/test/0.csv': 'test/0.csv'}
    """
    ends = {path: _ends(path) for path in map(display_name, files)}
    count = Counter(end for each in ends.values() for end in each)
    return {
        path: next((end for end in each if count[end] == 1), path)
        for path, each in ends.items()
        if count[each[0]] > 1
    }


def _ends(path: str) -> list[str]:
    """The ends of a path, from its name to the whole."""
    parts = path.split("/")
    return ["/".join(parts[-number:]) for number in range(1, len(parts) + 1)]


def _split(record: Record, card: ScenarioCard) -> Split:
    if record.split is not None:
        return record.split
    name = (optional_text(record, card, "split") or "").strip()
    if not name:  # a blank cell of a csv is what an empty one of a workbook and a null of JSON are
        return card.main_split
    split = SPLITS.get(name.lower())
    if split is None:
        raise BadRecord(BadReason.UNKNOWN_SPLIT)
    return split


def _cluster_id(record: Record, card: ScenarioCard, source_id: str) -> str | None:
    """A hash of the record's cluster, never its name; a record without one is alone in its own.

    Blanks around a name do not count, as in groups. The parts of a scenario may share clusters:
    its arguments do not count.
    """
    if CLUSTER not in card.fields:
        return None
    name = (optional_text(record, card, CLUSTER) or "").strip()
    own = (name,) if name else ("", source_id)
    return content_id(card.name.partition(":")[0], CLUSTER, *own)


def _extra(record: Record, card: ScenarioCard, roles: Sequence[str]) -> dict[str, str]:
    extra = {role.removeprefix(EXTRA): _text_or_list(record, card, role) for role in roles}
    return {name: text for name, text in extra.items() if text is not None}


def _text_or_list(record: Record, card: ScenarioCard, role: str) -> str | None:
    """A cell as text; a list of texts, several notes for example, as JSON."""
    value = optional_value(record, card, role)
    if isinstance(value, list | tuple):
        return canonical_json(texts(value))
    return optional_text(record, card, role)


def _instance(parsed: _Parsed, card: ScenarioCard, data_version: str, index: int) -> Instance:
    content = parsed.content
    return Instance(
        instance_id=content_id(card.name, parsed.source_id, *parsed.identity),
        scenario_name=card.name,
        data_version=data_version,
        source_id=parsed.source_id,
        source_index=index,
        split=parsed.split,
        input=content.input,
        references=content.references,
        access_level=parsed.access_level,
        sub_split=parsed.sub_split,
        messages=content.messages,
        extra_data=parsed.extra_data,
        text_hashes=text_hashes(content, parsed.fields),
        cluster_id=parsed.cluster_id,
    )


def _quarantined(
    record: Record, card: ScenarioCard, data_version: str, reason: BadReason
) -> Quarantined:
    return Quarantined(
        scenario_name=card.name,
        data_version=data_version,
        source_file=record.source_file,
        source_row=record.row,
        reason=reason.value,
        access_level=card.access_level,
    )
