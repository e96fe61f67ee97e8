"""From a source to records: the registry of file formats and the one way to read them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

from medhelm_spark.domain.data_source import DataSource, Lookup, SourceFile
from medhelm_spark.domain.data_uri import is_uri
from medhelm_spark.domain.history import History
from medhelm_spark.domain.imported import EXPORT_FORMAT
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.encoded_text import BLOCK, NotTextError, Utf8, quiet
from medhelm_spark.errors import ConfigError, DataError, UnknownNameError
from medhelm_spark.scenarios.files import STAR, spread
from medhelm_spark.scenarios.histories import (
    ORDER,
    event_columns,
    event_entries,
    record_entries,
    serialised,
    used_columns,
)
from medhelm_spark.scenarios.hub import as_files, at_commit, read_hub
from medhelm_spark.scenarios.json_files import read_json, read_jsonl
from medhelm_spark.scenarios.parsers import required_columns
from medhelm_spark.scenarios.raw_files import (
    RawFile,
    Reader,
    Report,
    check_columns,
    display_name,
    nameless,
    open_data,
    open_members,
)
from medhelm_spark.scenarios.records import BadReason, Record, as_text
from medhelm_spark.scenarios.shapes.exported import read_exported
from medhelm_spark.scenarios.sources import OpenFile, open_source, verify
from medhelm_spark.scenarios.table_files import (
    read_feather,
    read_parquet,
    read_row_groups,
    read_xlsx,
)
from medhelm_spark.scenarios.text_files import read_csv, read_lines, read_text, read_tsv, text_lines
from medhelm_spark.scenarios.xml_files import read_docx, read_xml

WITH_SCHEMA = ("parquet", "feather")
WITHOUT_HEADER = ("json", "jsonl")
TEXTS = ("csv", "tsv", *WITHOUT_HEADER)
HEAD = 100
"""How many records show the columns of a file without a header, and how many files are opened."""

Row = Mapping[str, Any] | BadReason
ReadFile = Callable[[str, Sequence[str]], Iterator[Row]]
ReadText = Callable[[str], str]
READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "csv": read_csv,
        "tsv": read_tsv,
        "json": read_json,
        "jsonl": read_jsonl,
        "parquet": read_parquet,
        "feather": read_feather,
        "xlsx": read_xlsx,
        "xml": read_xml,
        "docx": read_docx,
        "text": read_text,
        "lines": read_lines,
        EXPORT_FORMAT: read_exported,
    }
)


def read_records(
    file: SourceFile,
    source: DataSource,
    open_file: OpenFile = open_source,
    required: Sequence[str] = (),
    *,
    partition: int = 0,
    partitions: int = 1,
    report: Report = quiet,
) -> Iterator[Record]:
    """The records of one file or of one of its partitions, in order, with what is joined to them.

    A partition has every `partitions`-th row, so that several tasks read one file.
    All formats but json are read in bounded memory, a source's lookups aside. `report` is called
    with what was recognised of the file, where it is not usual.

    Raises:
        DataError: the file as a whole cannot be trusted: absent, changed, cut off, not UTF-8,
            broken, or without a required column. A single bad row comes as a record with its
            `error` set.
        UnknownNameError: no reader has the source's format.
    """
    read_file = partial(_read_joined, source, open_file)
    needed = own_columns(source, required) if required else ()
    rows = _read(file, source, open_file, needed, (partition, partitions), report)
    name = display_name(file)
    for number, row in enumerate(
        joined(rows, source, read_file, partial(_read_text, open_file)), 1
    ):
        if number % partitions != partition:
            continue
        if isinstance(row, BadReason):
            yield Record(source_file=name, row=number, split=file.split, error=row)
        else:
            yield Record(source_file=name, row=number, split=file.split, fields=row)


def check_head(
    card: ScenarioCard, report: Report = quiet, open_file: OpenFile = open_source
) -> None:
    """Refuse local files that lack a column of the card, by the beginning of each.

    `report` is called with a line about each file that is not of the usual form. Where the bytes
    are pinned or not here yet, in an archive or in an object store, it is called when they are
    read.

    Raises:
        DataError: as `read_records`, or a file holds no row.
    """
    source = needed_history(card.source)
    required = own_columns(source, required_columns(card))
    for file in source.files[:HEAD]:
        is_here = not is_uri(file.path) and Path(file.path).expanduser().is_file()
        if file.sha256 or file.member or not is_here:
            continue
        recognised: dict[str, None] = {}
        rows = _read(file, source, open_file, required, report=recognised.setdefault)
        head = list(islice(rows, HEAD))
        if not head:
            raise DataError(f"{file.shown_path}: has no row.")
        if source.format in WITHOUT_HEADER:
            objects = [row for row in head if not isinstance(row, BadReason)]
            keys = list(dict.fromkeys(key for row in objects for key in row))
            if objects:
                check_columns(file.shown_path, required, keys)
        _print_encoding(file, source, open_file, recognised.setdefault)
        if recognised:
            report(f"{file.shown_path}: recognised {', '.join(recognised)}")


def _print_encoding(
    file: SourceFile, source: DataSource, open_file: OpenFile, report: Callable[[str], None]
) -> None:
    """Read a text to its end: the first byte that is not UTF-8 may be far below its head."""
    if source.format not in TEXTS:
        return
    with nameless(file), open_data(file, open_file) as stream:
        text = Utf8(stream, source.encoding, report)
        try:
            while text.read(BLOCK):
                pass
        except NotTextError as error:
            raise DataError(f"{display_name(file)}: {error}.") from None


def needed_history(source: DataSource, open_file: OpenFile = open_source) -> DataSource:
    """The source alone where its records, a table or files, have the history's column already.

    Raises:
        DataError: the first file cannot be read.
    """
    if source.history is None:
        return source
    alone = replace(source, history=replace(source.history, files=(), tables=()), lookups=())
    if source.table:
        return source if source.history.tables else alone
    path = source.files[0].path if source.files else STAR
    if STAR in path or not (is_uri(path) or Path(path).expanduser().is_file()):
        return source
    first = next(read_records(source.files[0], alone, open_file), None)
    return alone if first and source.history.column in first.fields else source


def read_events(
    path: str,
    history: History,
    *,
    partition: int = 0,
    partitions: int = 1,
    open_file: OpenFile = open_source,
) -> Iterator[Record]:
    """The events of one file or of one of its partitions: of Parquet row groups, else rows.

    Of several files a message gives the number: a file's name may be a patient's.

    Raises:
        DataError: as `read_records`.
    """
    number = history.files.index(path) + 1 if path in history.files else 0
    is_one_of = number and len(history.files) > 1
    label = f"event file {number} of {len(history.files)}" if is_one_of else ""
    file, source = SourceFile(path=path, label=label), DataSource(format=history.format)
    required = event_columns(history)
    if history.format != "parquet":
        yield from read_records(
            file, source, open_file, required, partition=partition, partitions=partitions
        )
        return
    with nameless(file), open_data(file, open_file) as stream:
        raw = RawFile(path=path, stream=stream, source=source)
        check = partial(check_columns, path, required, from_schema=True)
        columns = used_columns(history)
        for row, fields in read_row_groups(
            raw, check, columns, partition=partition, partitions=partitions
        ):
            yield Record(source_file=path, row=row, fields=fields)


def _read(
    file: SourceFile,
    source: DataSource,
    open_file: OpenFile,
    required: Sequence[str],
    partition: tuple[int, int] = (0, 1),
    report: Report = quiet,
) -> Iterator[Row]:
    if source.format not in READERS:
        raise UnknownNameError("source format", source.format, READERS)
    with nameless(file):
        verify(file, open_file)
        if file.member and STAR in file.member:
            # Rows are numbered through all members: no member alone has the numbers of its rows.
            with open_members(file, open_file) as members:
                for member, stream in members:
                    yield from _read_stream(member, stream, source, required, (0, 1), report)
            return
        with open_data(file, open_file) as stream:
            yield from _read_stream(file, stream, source, required, partition, report)


def _read_stream(
    file: SourceFile,
    stream: BinaryIO,
    source: DataSource,
    required: Sequence[str],
    partition: tuple[int, int],
    report: Report,
) -> Iterator[Row]:
    number, partitions = partition
    raw = RawFile(
        path=display_name(file),
        stream=stream,
        source=source,
        member=file.member,
        required=required,
        report=report,
        partition=number,
        partitions=partitions,
    )
    has_schema = source.format in WITH_SCHEMA
    check = partial(check_columns, raw.path, required, from_schema=has_schema)
    with nameless(file):
        yield from READERS[source.format](raw, check)


def _read_joined(
    source: DataSource, open_file: OpenFile, path: str, required: Sequence[str]
) -> Iterator[Row]:
    return _read(SourceFile(path=path), source, open_file, required)


def _read_text(open_file: OpenFile, path: str) -> str:
    with open_data(SourceFile(path=path), open_file) as stream:
        return "".join(text_lines(RawFile(path=path, stream=stream, source=DataSource())))


def read_card(card: ScenarioCard, open_file: OpenFile = open_source) -> Iterator[Record]:
    """The records of a card's files or hub data set, file after file.

    With a history all events are read into memory, and no records are drawn: Spark does both for
    data of any size.

    Raises:
        ConfigError: the card's source is a table, which only Spark reads, or is empty.
    """
    source, required = spread(needed_history(as_files(card.source))), required_columns(card)
    if source.dataset is not None:
        yield from read_hub(at_commit(source), required)
        return
    if not source.files:
        raise ConfigError(f"scenario {card.name!r}: its source names no file and no data set.")
    read = (read_records(file, source, open_file, required) for file in source.files)
    if source.history is None or not source.history.has_events:
        yield from chain.from_iterable(read)
        return
    if source.history.tables:
        raise ConfigError(f"scenario {card.name!r}: its events are in tables, which Spark reads.")
    entries = [
        entry
        for number, records in enumerate(read)
        for entry in record_entries(records, source.history, number)
    ]
    for number, path in enumerate(source.history.files):
        events = read_events(path, source.history, open_file=open_file)
        entries += event_entries(events, source.history, number)
    entries.sort(key=attrgetter(*ORDER))
    yield from (record for _, record in serialised(entries, source))


def own_columns(source: DataSource, required: Sequence[str]) -> list[str]:
    """The required columns that the source's own files must have."""
    prefixes = tuple(f"{lookup.name}." for lookup in source.lookups)
    keys = [lookup.key for lookup in source.lookups]
    added = set(source.texts)
    if source.history and source.history.has_events:
        added.add(source.history.column)
        used = (source.history.patient, source.history.until, *source.history.keep)
        required = [*required, *(name for name in used if name)]
    own = [name for name in required if name not in added and not name.startswith(prefixes)]
    return list(dict.fromkeys([*own, *keys]))


def joined(
    rows: Iterator[Row], source: DataSource, read_file: ReadFile, read_text: ReadText
) -> Iterator[Row]:
    """The rows with the columns of the source's lookups and texts.

    A lookup is read into memory, its columns alone. A row without a partner lacks those columns.
    """
    if not source.lookups and not source.texts:
        yield from rows
        return
    texts = {column: read_text(path) for column, path in source.texts.items()}
    tables = [(lookup.key, _table(lookup, read_file)) for lookup in source.lookups]
    for row in rows:
        if isinstance(row, BadReason):
            yield row
            continue
        columns = dict(row)
        for key, table in tables:
            columns |= table.get(as_text(row.get(key)) or "", {})
        yield columns | texts


def _table(lookup: Lookup, read_file: ReadFile) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = {}
    for row in read_file(lookup.path, (lookup.key, *lookup.columns)):
        key = None if isinstance(row, BadReason) else as_text(row.get(lookup.key))
        if key and key not in table and not isinstance(row, BadReason):
            table[key] = {f"{lookup.name}.{name}": row.get(name) for name in lookup.columns}
    return table
