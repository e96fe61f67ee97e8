"""Rows of a small run, computed in this process: Spark's SQL by DuckDB, without a JVM.

There is one text of each query. sqlglot writes it in DuckDB's dialect; a function that DuckDB lacks
is defined here by what Spark's gives (tests/spark/test_in_process.py compares them).
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from medhelm_spark.errors import DataError
from medhelm_spark.lake.columnar import defaults_of
from medhelm_spark.lake.condition import RowCondition
from medhelm_spark.lake.reader import as_schema, table_schema
from medhelm_spark.lake.tables import TABLES, WRITE_ID

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from medhelm_spark.lake.files import FileTables

SPARK_SEED = 42
"""The seed of Spark's `xxhash64`."""

SETTINGS = (
    "SET GLOBAL temp_directory = ''",
    "SET GLOBAL threads = 1",
    "SET GLOBAL TimeZone = 'UTC'",
    "SET GLOBAL default_null_order = 'NULLS_FIRST_ON_ASC_LAST_ON_DESC'",
    "SET GLOBAL enable_external_access = false",
    "SET GLOBAL lock_configuration = true",
)
"""Rows are few, their nulls in Spark's order; no query reads or writes a file or an address."""

MACROS = ("CREATE MACRO get(list, place) AS list_extract(list, place + 1)",)


@dataclass(frozen=True, slots=True)
class LocalFrame:
    """Rows in this process's memory, in place of Spark's DataFrame."""

    rows: pa.Table


@dataclass(frozen=True, slots=True)
class LocalStream:
    """Rows that this process reads part by part while they are needed, anew each time."""

    parts: Callable[[], Iterator[pa.Table]]


class LocalFrames:
    """Rows of this process in place of Spark's DataFrames (`lake.frames.Frames`)."""

    def __init__(self, tables: "FileTables") -> None:
        self._tables = tables

    def read(self, table: str, where: RowCondition | None, only: Sequence[str]) -> LocalFrame:
        """See Frames."""
        schema = table_schema(table)
        if only:
            schema = pa.schema([schema.field(name) for name in only])
        return LocalFrame(as_schema(self._tables.read(table, where, only), schema))

    def query(self, sql: str, frames: Mapping[str, LocalFrame]) -> LocalFrame:
        """See Frames."""
        return answered(sql, frames)

    def streamed(self, sql: str) -> LocalStream:
        """See Frames."""
        return LocalStream(partial(self._tables.stream, sql))

    def numbers(self, count: int) -> LocalFrame:
        """See Frames."""
        return LocalFrame(pa.table({"number": pa.array(range(count), pa.int64())}))

    def from_rows(self, rows: pa.Table, row_type: type) -> LocalFrame:
        """See Frames."""
        return LocalFrame(rows)

    def append(
        self,
        table: str,
        df: LocalFrame | LocalStream,
        write_id: str,
        *,
        txn: tuple[str, int] | None,
        at_most: int | None,
    ) -> bool:
        """See Frames; `at_most` does not matter."""
        if isinstance(df, LocalStream):
            parts = df.parts
            return self._tables.append_stream(
                table, lambda: (_complete(part, table, write_id) for part in parts()), txn
            )
        rows = _complete(df.rows, table, write_id)
        return not rows.num_rows or self._tables.append(table, rows, txn)


def answered(sql: str, frames: Mapping[str, LocalFrame]) -> LocalFrame:
    """The answer to SQL whose `{name}` placeholders are these rows."""
    connection = _opened().cursor()
    try:
        for name, frame in frames.items():
            connection.register(name, frame.rows)
        text = in_duckdb(sql.format_map({name: name for name in frames}))
        return LocalFrame(connection.sql(text).to_arrow_table())
    except Exception as error:  # the message would quote a value that a query refuses
        if not _is_of_value(error):
            raise
        raise DataError(
            f"a value of the data cannot be computed with ({type(error).__name__})."
        ) from None
    finally:
        connection.close()


def sorted_here(frame: LocalFrame, order: Iterable[str]) -> LocalFrame:
    """The rows in the order of expressions of SQL."""
    sql = f"SELECT * FROM {{rows}} ORDER BY {', '.join(order)}"
    return answered(sql, {"rows": frame})


def _complete(rows: pa.Table, table: str, write_id: str) -> pa.Table:
    """The columns of a table, in its order, with the defaults of those that `rows` lack."""
    schema, count = table_schema(table), rows.num_rows
    defaults = {WRITE_ID: write_id, **defaults_of(TABLES[table].row)}
    for name in schema.names:
        if name not in rows.column_names and name in defaults:
            values = pa.array([defaults[name]] * count, schema.field(name).type)
            rows = rows.append_column(name, values)
    return as_schema(rows, schema)


@cache
def _opened() -> "DuckDBPyConnection":
    import duckdb

    connection = duckdb.connect()
    define: Any = connection.create_function  # its types know no function of any arguments
    define("xxhash64", _xxhash64, None, "BIGINT", type="arrow", null_handling="special")
    for statement in (*MACROS, *SETTINGS):
        connection.execute(statement)
    return connection


def _is_of_value(error: Exception) -> bool:
    import duckdb

    kinds = (duckdb.ConversionException, duckdb.OutOfRangeException, duckdb.InvalidInputException)
    return isinstance(error, kinds)


@cache
def in_duckdb(sql: str) -> str:
    """Spark's SQL in DuckDB's dialect, without the hints to Spark's planner.

    Raises:
        UnsupportedError: DuckDB cannot express a part of it.
    """
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(sql, read="spark")
    for hint in list(tree.find_all(exp.Hint)):
        hint.pop()
    # Of no rows Spark collects an empty list, DuckDB none.
    for collected in list(tree.find_all(exp.ArrayAgg, exp.ArrayUniqueAgg)):
        collected.replace(exp.func("coalesce", collected.copy(), exp.array()))
    return tree.sql(dialect="duckdb", unsupported_level=sqlglot.ErrorLevel.RAISE)


def _xxhash64(*columns: Any) -> pa.Array:
    """Spark's `xxhash64`: each value is hashed with the hash of those before it as its seed.

    Texts are hashed as UTF-8 and whole numbers as 8 bytes; a null leaves the hash as it is.
    """
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    return pa.array([hash_of(row) for row in rows], pa.int64())


def hash_of(values: Iterable[str | int | None]) -> int:
    """Spark's `xxhash64` of some values.

    >>> hash_of(["Spark"])
    -4294468057691064905
    """
    from xxhash import xxh64_intdigest

    seed = SPARK_SEED
    for value in values:
        if value is not None:
            data = value.encode() if isinstance(value, str) else struct.pack("<q", value)
            seed = xxh64_intdigest(data, seed)
    return seed - (1 << 64) if seed >> 63 else seed
