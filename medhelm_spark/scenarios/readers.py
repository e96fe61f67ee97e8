"""From a source to records: the registry of file formats and the one way to read them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from medhelm_spark.domain.scenario import DataSource, ScenarioCard, SourceFile
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.scenarios.delimited import read_csv, read_tsv
from medhelm_spark.scenarios.hub import as_files, read_hub
from medhelm_spark.scenarios.json_files import read_json, read_jsonl
from medhelm_spark.scenarios.parquet_files import read_parquet
from medhelm_spark.scenarios.parsers import check_card, required_columns
from medhelm_spark.scenarios.records import BadReason, Record
from medhelm_spark.scenarios.sources import OpenFile, open_source, verify
from medhelm_spark.scenarios.tables import RawFile, Reader, check_columns

READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "csv": read_csv,
        "tsv": read_tsv,
        "json": read_json,
        "jsonl": read_jsonl,
        "parquet": read_parquet,
    }
)


def read_records(
    file: SourceFile,
    source: DataSource,
    open_file: OpenFile = open_source,
    required: Sequence[str] = (),
) -> Iterator[Record]:
    """The records of one file, in its order; csv, tsv, jsonl and parquet in bounded memory.

    Raises:
        DataError: the file as a whole cannot be trusted: absent, changed, not UTF-8, broken, or
            without a required column. A single bad row comes as a record with its `error` set.
        UnknownNameError: no reader has the source's format.
    """
    if source.format not in READERS:
        raise UnknownNameError("source format", source.format, READERS)
    verify(file, open_file)
    with open_file(file.path) as stream:
        raw = RawFile(path=file.path, stream=stream, source=source)
        rows = READERS[source.format](raw, partial(check_columns, file.path, required))
        for number, row in enumerate(rows, 1):
            if isinstance(row, BadReason):
                yield Record(source_file=file.path, row=number, split=file.split, error=row)
            else:
                yield Record(source_file=file.path, row=number, split=file.split, fields=row)


def read_card(card: ScenarioCard, open_file: OpenFile = open_source) -> Iterator[Record]:
    """The records of a card's files or hub data set, file after file.

    Raises:
        ConfigError: the card's source is a table, which only Spark reads, or is empty.
    """
    check_card(card)
    source, required = as_files(card.source), required_columns(card)
    if source.dataset is not None:
        yield from read_hub(source, required)
        return
    if not source.files:
        raise ConfigError(f"scenario {card.name!r}: its source names no file and no data set.")
    for file in source.files:
        yield from read_records(file, source, open_file, required)
