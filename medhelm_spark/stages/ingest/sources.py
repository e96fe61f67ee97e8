"""Where ingest's records come from: parts of files read where tasks run, or tables.

A table's rows have no order of their own. They are known by what they hold, so that the same rows
are the same data version whatever files and partitions they lie in.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, cast

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    DatetimeType,
    DoubleType,
    FloatType,
    NumericType,
    StructField,
)

from medhelm_spark.cache import cache_folder
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import DataError
from medhelm_spark.lake.progress import Watch, unwatched
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.scenarios import (
    Received,
    Record,
    as_files,
    check_columns,
    loads,
    localize,
    needed_history,
    required_columns,
    spread,
    table_level,
    untold,
)
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.histories import read_history, shared
from medhelm_spark.stages.ingest.parts import Make, Part, bytes_of, parts_of, records_of

ROW_NUMBERS = (1 << 62) - 1
JSON_OPTIONS = {"ignoreNullFields": "false"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRow:
    """A row of a table source: a number made of its content and its columns as a JSON object."""

    row: int
    fields: str


@dataclass(frozen=True, slots=True)
class Read:
    """The function of this stage: parts of sources in, whatever `make` makes of records out."""

    cards: Mapping[str, ScenarioCard]
    make: Make

    def __call__(self, parts: Iterable[Part]) -> Iterator[object]:
        for part in parts:
            card = self.cards[part.scenario_name]
            yield from self.make(records_of(card, part), card, max(part.file, 0))


@dataclass(frozen=True, slots=True)
class ReadTable:
    """The same for rows that Spark has read."""

    card: ScenarioCard
    make: Make

    def __call__(self, rows: Iterable[RawRow]) -> Iterator[object]:
        table = self.card.source.table or ""
        records = (
            Record(source_file=table, row=row.row, fields=fields, access_level=table_level(fields))
            for row in rows
            for fields in (cast(dict[str, Any], loads(row.fields)),)
        )
        yield from self.make(records, self.card, 0)


def located(card: ScenarioCard, received: Received = untold) -> ScenarioCard:
    """The card with downloads done and local paths absolute, so that every task finds them.

    Raises:
        AbsentDataError: a file is not at its place, and no address gives it.
    """
    card = replace(card, source=spread(needed_history(as_files(card.source))))
    source = localize(card, cache_folder() / "data", received).source
    history = source.history
    if history:
        history = replace(history, files=tuple(map(_absolute, history.files)))
    source = replace(
        source,
        files=tuple(replace(file, path=_absolute(file.path)) for file in source.files),
        lookups=tuple(replace(lookup, path=_absolute(lookup.path)) for lookup in source.lookups),
        texts={column: _absolute(path) for column, path in source.texts.items()},
        history=history,
    )
    return replace(card, source=source)


def _absolute(path: str) -> str:
    return path if "://" in path else str(Path(path).expanduser().absolute())


def read(
    ctx: Context,
    cards: Mapping[str, ScenarioCard],
    make: Make,
    out: type,
    watch: Watch = unwatched,
) -> DataFrame:
    """Whatever `make` makes of all records of these cards, as rows of type `out`."""
    frames = [_read_table(ctx, card, make, out) for card in cards.values() if _is_table(card)]
    long = {
        n: card for n, card in cards.items() if card.source.history and card.source.history.files
    }
    frames += [read_history(ctx, alike, make, out, watch) for alike in shared(long.values())]
    files = {n: card for n, card in cards.items() if not _is_table(card) and n not in long}
    if files:
        parts = [part for card in files.values() for part in parts_of(card, ctx.cores)]
        # Spark slices these rows evenly over its cores; repartitioned by hash, two would meet.
        frames.append(map_rows(ctx.lake.frame(parts, Part), watch(Read(files, make)), Part, out))
    return reduce(DataFrame.unionByName, frames)


def _is_table(card: ScenarioCard) -> bool:
    return card.source.table is not None


def _read_table(ctx: Context, card: ScenarioCard, make: Make, out: type) -> DataFrame:
    rows = _table(ctx, card)
    # Two rows alike are two records: copies count on from the number of the first.
    copy = F.row_number().over(Window.partitionBy("content").orderBy("fields"))
    raw = (
        rows.select(F.to_json(F.struct(*_columns(rows)), JSON_OPTIONS).alias("fields"))
        .withColumn("content", F.xxhash64("fields"))
        .select((F.col("content").bitwiseAND(ROW_NUMBERS) + copy).alias("row"), "fields")
    )
    return map_rows(raw, ReadTable(card, make), RawRow, out)


def _table(ctx: Context, card: ScenarioCard) -> DataFrame:
    name, version = card.source.table or "", card.source.revision
    try:
        reader = ctx.lake.spark.read
        rows = (reader.option("versionAsOf", version) if version else reader).table(name)
        columns = [field.name for field in _textual(rows)]
        check_columns(f"table {name!r}", required_columns(card), columns, from_schema=True)
    except PySparkException as error:
        raise DataError(
            f"table {name!r} cannot be read ({error.getCondition() or type(error).__name__}); name "
            "it as this session's catalog knows it: table:NAME, table:SCHEMA.NAME or "
            "table:CATALOG.SCHEMA.NAME."
        ) from None
    return rows


def _textual(rows: DataFrame) -> list[StructField]:
    """The columns that can be read as text; by name, because their order in a table may change."""
    fields = [field for field in rows.schema if not isinstance(field.dataType, BinaryType)]
    return sorted(fields, key=lambda field: field.name)


def _columns(rows: DataFrame) -> list[Column]:
    return [_as_text(field).alias(field.name) for field in _textual(rows)]


def _as_text(of: StructField) -> Column:
    """Numbers and moments as SQL writes them, 1.50 as 1.50; not-a-number is an absent value."""
    column = F.col("`" + of.name.replace("`", "``") + "`")
    if isinstance(of.dataType, FloatType | DoubleType):
        column = F.when(~F.isnan(column), column)
    return column.cast("string") if isinstance(of.dataType, NumericType | DatetimeType) else column


def size_of(card: ScenarioCard) -> int:
    """Bytes of the card's local files; 0 for what is elsewhere."""
    events = card.source.history.files if card.source.history else ()
    return sum(bytes_of(path) for path in (*(file.path for file in card.source.files), *events))
