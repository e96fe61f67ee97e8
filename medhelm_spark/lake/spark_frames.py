"""Rows of stages as Spark's DataFrames: what Spark, or the driver for it, reads and appends."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, functions as F

from medhelm_spark.lake.columnar import ddl, defaults_of, fields_of
from medhelm_spark.lake.condition import RowCondition
from medhelm_spark.lake.frames import Tables
from medhelm_spark.lake.reader import named_tables
from medhelm_spark.lake.rows import parsed, plain_errors
from medhelm_spark.lake.session import Session
from medhelm_spark.lake.spark_tables import SparkTables
from medhelm_spark.lake.tables import TABLES, WRITE_ID, columns

ROWS_OF_ONE_TASK = 100

BROADCAST_ROWS = 100_000
"""Rows of the driver that each executor may be given whole."""


class SparkFrames:
    """DataFrames of a lake's tables; few rows pass through the driver in both directions."""

    def __init__(self, session: Session, by_spark: SparkTables, tables: Tables) -> None:
        self._session, self._by_spark, self._tables = session, by_spark, tables

    def read(self, table: str, where: RowCondition | None, only: Sequence[str] = ()) -> DataFrame:
        """See Frames; `only` does not matter."""
        few = self._tables.few(table, where)
        if few is None:
            scanned = self._tables.scanned(table, where)
            self._session.expect_rows((scanned and scanned.rows) or 0)
            rows = self._by_spark.read(table)
            return rows.where(where.sql) if where else rows
        rows = self._by_spark.frame(table, few)
        # One partition needs no shuffle, whatever is asked of it.
        return rows.coalesce(1) if 0 < few.num_rows <= ROWS_OF_ONE_TASK else rows

    def query(self, sql: str, frames: Mapping[str, Any]) -> DataFrame:
        """See Frames."""
        return self._session.spark.sql(sql, **frames)

    def streamed(self, sql: str) -> DataFrame:
        """See Frames."""
        return self.query(sql, {name: self.read(name, None) for name in named_tables(sql)})

    def numbers(self, count: int) -> DataFrame:
        """See Frames."""
        rows = self._session.spark.range(0, count, 1, count)
        return rows.withColumnRenamed("id", "number")

    def from_rows(self, rows: pa.Table, row_type: type) -> DataFrame:
        """See Frames."""
        if not rows.num_rows:
            return self._by_spark.empty(ddl(row_type))
        frame = self._session.spark.createDataFrame(rows, parsed(ddl(row_type)))
        return F.broadcast(frame) if rows.num_rows <= BROADCAST_ROWS else frame

    def append(
        self,
        table: str,
        df: DataFrame,
        write_id: str,
        *,
        txn: tuple[str, int] | None,
        at_most: int | None,
    ) -> bool:
        """See Frames."""
        rows = complete(table, df, write_id)
        if at_most is not None and self._tables.takes(table, at_most):
            with plain_errors():
                few = rows.toArrow()
            return not few.num_rows or self._tables.append(table, few, txn)
        return self._by_spark.commit(table, rows, txn)


def complete(table: str, df: DataFrame, write_id: str) -> DataFrame:
    """The columns of a table, in its order, with the defaults of those that `df` lacks."""
    marked = df if WRITE_ID in df.columns else df.withColumn(WRITE_ID, F.lit(write_id))
    return _with_defaults(marked, TABLES[table].row).selectExpr(*columns(TABLES[table]))


def _with_defaults(df: DataFrame, row_type: type) -> DataFrame:
    """The rows with the defaults of fields that they lack: SQL need not name them."""
    present, kinds = set(df.columns), fields_of(row_type)
    for name, value in defaults_of(row_type).items():
        if name not in present:
            df = df.withColumn(name, _literal(value).cast(kinds[name].ddl.replace(": ", ":")))
    return df


def _literal(value: Any) -> Column:
    """A default in SQL: a plain value, or an empty collection."""
    if isinstance(value, Mapping) and not value:
        return F.create_map()
    if isinstance(value, tuple | list) and not value:
        return F.array()
    return F.lit(value)
