"""The tables of a lake by Spark: what the driver reads and appends where it sees no folder itself.

DataFrames are read and appended here too, of every lake.
"""

import time
from collections.abc import Iterable
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession, functions as F

from medhelm_spark.lake.columnar import ddl, fields_of
from medhelm_spark.lake.condition import RowCondition, ScannedFiles
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.reader import named_tables
from medhelm_spark.lake.rows import parsed, plain_errors, rows_of
from medhelm_spark.lake.session import Session
from medhelm_spark.lake.tables import RESTORE, TABLES, WRITE_ID, columns, properties

ABSENT = (
    "PATH_NOT_FOUND",
    "TABLE_OR_VIEW_NOT_FOUND",
    "DELTA_TABLE_NOT_FOUND",
    "DELTA_MISSING_DELTA_TABLE",
    "DELTA_TABLE_ONLY_OPERATION",
)
RACES = ("PROTOCOL_CHANGED", "METADATA_CHANGED", "CONCURRENT_WRITE", "ALREADY_EXISTS")
COMMIT_ATTEMPTS = 6

Row = TypeVar("Row")


class SparkTables:
    """The tables of any lake, by Spark; the session starts at the first use."""

    def __init__(self, session: Session, location: Location) -> None:
        self._session, self._location = session, location

    @property
    def _spark(self) -> SparkSession:
        return self._session.spark

    def read(self, name: str) -> DataFrame:
        """All rows of a table with all of its columns; no rows where it does not exist yet."""
        names = columns(TABLES[name])
        try:
            df = self._open(name)
            present = set(df.columns)
        except PySparkException as error:
            if not is_condition(error, ABSENT):
                raise
            return self.empty(table_ddl(name))
        kinds = fields_of(TABLES[name].row)
        for column in (column for column in names if column not in present):
            # A column without a type would be dropped by the next append.
            kind = kinds[column].ddl.replace(": ", ":")
            df = df.withColumn(column, F.lit(None).cast(kind))
        return df.selectExpr(*names)

    def frame(self, name: str, rows: pa.Table) -> DataFrame:
        """Rows of a table that the driver has, as a DataFrame."""
        if not rows.num_rows:
            return self.empty(table_ddl(name))
        rows = rows.select(list(columns(TABLES[name])))
        return self._spark.createDataFrame(rows, parsed(table_ddl(name)))

    def empty(self, schema: str) -> DataFrame:
        """No rows, in a form that Spark sees to be empty: it drops whatever joins with it."""
        return self._spark.createDataFrame([], parsed(schema)).where(F.lit(False))

    def commit(self, name: str, rows: DataFrame, txn: tuple[str, int] | None = None) -> bool:
        """Append rows that may be computed again; False where `txn` was committed meanwhile.

        Another writer may create the table, or change its schema, properties or protocol, between
        beginning and end of a commit: Delta refuses it then, and takes the next one.
        """
        writer = rows.write.format("delta").mode("append").option("mergeSchema", "true")
        for key, value in properties(TABLES[name]).items():
            writer = writer.option(key, value)
        if txn:
            writer = writer.option("txnAppId", txn[0]).option("txnVersion", txn[1])
        for attempt in range(COMMIT_ATTEMPTS):
            try:
                with plain_errors():
                    self._save(name, writer)
                return True
            except Exception as error:  # Delta's conflicts reach Python as the JVM's own
                if txn and is_condition(error, ("CONCURRENT_TRANSACTION",)):
                    return False
                if not is_condition(error, RACES) or attempt + 1 == COMMIT_ATTEMPTS:
                    raise
                time.sleep(0.2 * 2**attempt)
        raise AssertionError("unreachable")

    def rows(self, sql: str, row_type: type[Row]) -> list[Row]:
        """Answer SQL as rows of a dataclass."""
        tables: dict[str, Any] = {name: self.read(name) for name in named_tables(sql)}
        return rows_of(self._spark.sql(sql, **tables), row_type)

    def few(self, name: str, where: RowCondition | None = None) -> pa.Table | None:
        """None: Spark's own reading of a table costs no second one."""

    def narrowed(self, name: str, where: RowCondition) -> RowCondition:
        """The condition as it is: nothing is read for it."""
        return where

    def scanned(self, name: str, where: RowCondition | None = None) -> ScannedFiles | None:
        """None: the files of the table are not listed for it."""

    def takes(self, name: str, rows: int) -> bool:
        """False: rows that Spark computed are committed by Spark."""
        return False

    def append(self, name: str, rows: pa.Table, txn: tuple[str, int] | None = None) -> bool:
        """Append in one commit; False where `txn` was committed meanwhile."""
        return self.commit(name, self.frame(name, rows).coalesce(1), txn)

    def ensure(self, name: str) -> None:
        """Create a table that does not exist."""
        try:
            _ = self._open(name).columns
        except PySparkException as error:
            if not is_condition(error, ABSENT):
                raise
            self.commit(name, self.empty(table_ddl(name)))

    def version(self, name: str) -> int | None:
        """The table's newest version, None where it does not exist."""
        table = self._location.quoted(name)
        try:
            rows = self._spark.sql(f"DESCRIBE HISTORY {table} LIMIT 1").select("version").collect()
        except PySparkException as error:
            if not is_condition(error, ABSENT):
                raise
            return None
        return int(rows[0]["version"]) if rows else None

    def lacks(self, name: str, write_ids: Iterable[str]) -> set[str]:
        """None: the files of the table are not read for it."""
        return set()

    def restored(self, name: str) -> list[int]:
        """The versions at which a table was taken back to an earlier one; newest first."""
        if self.version(name) is None:
            return []
        history = self._spark.sql(f"DESCRIBE HISTORY {self._location.quoted(name)}")
        rows = history.where(F.col("operation") == RESTORE).select("version").collect()
        return [int(row["version"]) for row in rows]

    def _open(self, name: str) -> DataFrame:
        if self._location.is_catalog:
            return self._spark.read.table(self._location.quoted(name))
        return self._spark.read.format("delta").load(self._location.table(name))

    def _save(self, name: str, writer: DataFrameWriter) -> None:
        if self._location.is_catalog:
            writer.saveAsTable(self._location.quoted(name))
        else:
            writer.save(self._location.table(name))


def table_ddl(name: str) -> str:
    """The columns of a lake table as Spark names them, `write_id` included."""
    row = TABLES[name].row
    return ddl(row) if WRITE_ID in fields_of(row) else f"{ddl(row)}, {WRITE_ID} STRING"


def is_condition(error: Exception, kinds: tuple[str, ...]) -> bool:
    """Whether Spark raised one of these kinds of error; Delta's conflicts have only a text."""
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    return any(kind in (condition or str(error)[:2000]) for kind in kinds)
