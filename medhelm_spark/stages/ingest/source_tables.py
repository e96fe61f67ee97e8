"""Tables as sources: the rows of a catalog's table or of a Delta folder, each as a JSON object.

A table's rows have no order of their own. They are identified by their content, so that the same
rows are the same data version in whatever files and partitions they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Window, functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DoubleType,
    FloatType,
    NumericType,
    StructField,
)

from medhelm_spark.domain.data_uri import is_delta_path, quoted_name
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.errors import DataError
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.rows import plain_errors
from medhelm_spark.scenarios import (
    Record,
    as_text,
    check_columns,
    loads,
    required_columns,
    table_level,
)
from medhelm_spark.stages.context import Context

ROW_NUMBERS = (1 << 62) - 1
JSON_OPTIONS = {"ignoreNullFields": "false"}
# By name: Spark 4.0 has no class of all types of time, and no type of a time of day.
_TIMES = ("date", "time", "timestamp", "timestamp_ntz")
_SPACE = r"(?U)\s"
_OUTER_SPACE = r"(?U)^\s+|\s+$"


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRow:
    """A row of a table source: a number from its content, and its columns as a JSON object."""

    row: int
    fields: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """How many rows a source has, the different values of one of its columns, its first rows.

    A value is not blank; `filled` rows have one, `worded` of them a value of several words.
    `repeated` counts a table's ids that are in more than one row; for files it is 0.
    """

    rows: int
    filled: int
    worded: int
    values: tuple[str, ...]
    head: tuple[Record, ...]
    repeated: int = 0


def raw_rows(
    ctx: Context,
    table: str,
    version: str | None,
    required: Sequence[str],
    selected: Sequence[str] | None = None,
) -> DataFrame:
    """All rows of a table, as RawRow.

    Args:
        ctx: the context whose session reads it.
        table: its name in the session's catalog, or its folder or URI.
        version: the Delta version to read; None for the newest.
        required: columns that it must have.
        selected: columns to read where they exist (None: all). Rows that are equal in them have the
            same number, which saves a shuffle.

    Raises:
        DataError: there is no such table, or it lacks a column.
    """
    rows = _open(ctx, table, version)
    needed = [part for name in required for part in (name, *name.split("|"))]
    columns = [field.name for field in _textual(rows, needed)]
    check_columns(f"table {table!r}", required, columns, from_schema=True)
    if selected is not None:
        rows = rows.select(*(_quoted(name) for name in columns if name in selected))
        number = F.xxhash64("fields").bitwiseAND(ROW_NUMBERS).alias("row")
        fields = F.to_json(F.struct(*_columns(rows, needed)), JSON_OPTIONS).alias("fields")
        return rows.select(fields).select(number, "fields")
    # Two equal rows are two records: copies count on from the number of the first.
    copy = F.row_number().over(Window.partitionBy("content").orderBy("fields"))
    return (
        rows.select(F.to_json(F.struct(*_columns(rows, needed)), JSON_OPTIONS).alias("fields"))
        .withColumn("content", F.xxhash64("fields"))
        .select((F.col("content").bitwiseAND(ROW_NUMBERS) + copy).alias("row"), "fields")
    )


def columns_of_table(
    ctx: Context, card: ScenarioCard, column: str, *, most: int, head: int
) -> Columns:
    """The size of a card's table, up to `most` values of a column, and its first `head` rows.

    Raises:
        DataError: as `raw_rows`.
    """
    table = card.source.table or ""
    rows = raw_rows(ctx, table, card.source.revision, required_columns(card))
    texts = _open(ctx, table, card.source.revision)
    own = texts.select(*_columns(texts, [column])).select(F.col(_quoted(column)).cast("string"))
    stripped = F.regexp_replace("value", _OUTER_SPACE, "")
    filled = own.toDF("value").where(stripped != "").withColumn("stripped", stripped)
    values = filled.select("value").distinct().limit(most)
    counts = filled.select(F.count("*"), F.count_if(F.col("stripped").rlike(_SPACE)))
    first = rows.orderBy("row").limit(head)
    ids = card.source.columns.get("id", "id")
    is_floating = isinstance(texts.schema[column].dataType, FloatType | DoubleType)
    write = _written_out if is_floating else str
    with plain_errors():
        ((num_filled, num_worded),) = counts.collect()
        return Columns(
            rows=texts.count(),
            filled=num_filled,
            worded=num_worded,
            values=tuple(write(str(value)) for (value,) in values.collect()),
            head=tuple(record_of(table, RawRow(**row.asDict())) for row in first.collect()),
            repeated=_repeated(texts, ids) if ids in texts.columns else 0,
        )


def _repeated(texts: DataFrame, column: str) -> int:
    """How many values of a column are in more than one row; rows without one have no id at all."""
    value = F.col(_quoted(column))
    named = texts.where(F.regexp_replace(value.cast("string"), _OUTER_SPACE, "") != "")
    return named.groupBy(value).count().where("count > 1").count()


def record_of(table: str, row: RawRow) -> Record:
    """A row of a table as a record, at the level that it names."""
    fields = cast(dict[str, Any], loads(row.fields, number=_written_out))
    return Record(source_file=table, row=row.row, fields=fields, access_level=table_level(fields))


def newest_version(ctx: Context, table: str) -> str | None:
    """The newest Delta version of a table; None where it has none or is absent.

    Reading an absent table raises the error.
    """
    name = f"delta.`{Location.of(table)}`" if is_delta_path(table) else quoted_name(table)
    try:
        _ = _open(ctx, table, None).schema  # only a table's name may reach the statement
        newest = ctx.lake.spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1").select("version").collect()
    except (PySparkException, DataError):
        return None
    return str(newest[0]["version"])


def _open(ctx: Context, table: str, version: str | None) -> DataFrame:
    reader = ctx.lake.spark.read
    reader = reader.option("versionAsOf", version) if version else reader
    try:
        if is_delta_path(table):
            rows = reader.format("delta").load(str(Location.of(table)))
        else:
            rows = reader.table(quoted_name(table))
        _ = rows.schema
    except PySparkException as error:
        raise DataError(
            f"table {table!r} cannot be read ({error.getCondition() or type(error).__name__}); "
            "name it as this session's catalog lists it, table:NAME, table:SCHEMA.NAME or "
            "table:CATALOG.SCHEMA.NAME, or by the folder or URI of a Delta table, table:PATH."
        ) from None
    return rows


def _written_out(number: str) -> str:
    """A floating number as files of typed tables write it, from Java's text of it.

    >>> _written_out("1.0"), _written_out("1.25E7"), _written_out("0.1")
    ('1', '12500000', '0.1')
    """
    is_javas = "E" in number or number.endswith(".0")
    return (as_text(float(number)) or "") if is_javas else number


def _textual(rows: DataFrame, needed: Sequence[str] = ()) -> list[StructField]:
    """The columns that can be read as text; by name, because their order in a table may change.

    Bytes may be pictures: they are read where the column is needed.
    """
    fields = [
        field
        for field in rows.schema
        if field.name in needed or not isinstance(field.dataType, BinaryType)
    ]
    return sorted(fields, key=lambda field: field.name)


def _columns(rows: DataFrame, needed: Sequence[str] = ()) -> list[Column]:
    return [_as_text(field).alias(field.name) for field in _textual(rows, needed)]


def _as_text(field: StructField) -> Column:
    """Values other than text as SQL writes them, 1.50 as 1.50; not-a-number is an absent value.

    A floating number stays a number, for `_written_out`; UTF-8 bytes become text.
    """
    column = F.col(_quoted(field.name))
    if isinstance(field.dataType, FloatType | DoubleType):
        return F.when(~F.isnan(column), column)
    if isinstance(field.dataType, BinaryType):
        return F.try_validate_utf8(column.cast("string"))
    is_time = field.dataType.typeName() in _TIMES
    is_plain = is_time or isinstance(field.dataType, NumericType | BooleanType)
    return column.cast("string") if is_plain else column


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
