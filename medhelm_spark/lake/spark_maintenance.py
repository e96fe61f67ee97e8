"""The maintenance of tables in a catalog or an object store, by Spark."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from pyspark.sql import functions as F

from medhelm_spark.lake.driver_files import DriverFiles
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.rows import Frame, by_spark, plain_errors
from medhelm_spark.lake.settings import temporarily
from medhelm_spark.lake.table_maintenance import (
    APPEND_ONLY,
    DATA_FILE,
    MERGED_FILE,
    SMALL_FILE,
    Files,
    order_of,
    retried,
    statistics_of,
)
from medhelm_spark.lake.tables import STATISTICS, TABLES, columns

CONFLICTS = ("CONCURRENT", "METADATA_CHANGED", "PROTOCOL_CHANGED", "CANNOT_MODIFY_APPEND_ONLY")
"""The errors of ours after another's commit; the last where another `gc` put the property back."""

# Databricks and Delta: files from this size on are left as they are.
LEFT_BY_OPTIMIZE = "spark.databricks.delta.optimize.minFileSize"

# A table's folder is listed by so many tasks: the ten thousand of Spark's default take minutes.
LISTING = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
LISTING_TASKS = "16"

# Delta refuses to delete files that a version of the last seven days has, unless this is false.
RETENTION_CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"


class SparkMaintenance:
    """See Maintenance."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def exists(self, table: str) -> bool:
        return self._lake.version(table) is not None

    def remove(self, table: str, condition: str) -> None:
        name = self._lake.location.quoted(table)

        def once() -> None:
            self._lake.before_writing()
            with self._removable(table):
                self._lake.spark.sql(f"DELETE FROM {name} WHERE {condition}")

        retried(table, once, _is_spark_conflict)

    def replace(self, table: str, condition: str, rows: Frame) -> None:
        location, of_table = self._lake.location, by_spark(rows).selectExpr(*columns(TABLES[table]))
        writer = of_table.write.format("delta").mode("overwrite").option("mergeSchema", "true")
        writer = writer.option("replaceWhere", condition)

        def once() -> None:
            self._lake.before_writing()
            with self._removable(table), plain_errors():
                if location.is_catalog:
                    writer.saveAsTable(location.quoted(table))
                else:
                    writer.save(location.table(table))

        retried(table, once, _is_spark_conflict)

    def forget(self, table: str, column: str, values: Collection[str], *, dry_run: bool) -> int:
        files = self._lake.driver_files
        if files is None:
            return self._forget_all(table, dry_run=dry_run)
        live = {
            path.rpartition("/")[2]
            for path in self._lake.spark.read.format("delta")
            .load(self._lake.location.table(table))
            .inputFiles()
        }
        names = [
            name
            for name in files.names(table)
            if name.endswith(DATA_FILE) and name not in live and not name.startswith(".")
        ]
        matching = self._having(table, names, column, values)
        if not dry_run:
            _remove_all(files, [f"{table}/{name}" for name in matching])
        return len(matching)

    def _having(
        self, table: str, names: Sequence[str], column: str, values: Collection[str]
    ) -> list[str]:
        """The data files with one of these values in a column, and those that are not whole."""
        if not names:
            return []
        spark, folder = self._lake.spark, self._lake.location.table(table)
        keys = spark.createDataFrame(pa.table({column: pa.array(sorted(values), pa.string())}))
        try:
            paths = [f"{folder}/{name}" for name in names]
            rows = spark.read.schema(f"`{column}` STRING").parquet(*paths)
            marked = rows.select(column, F.col("_metadata.file_name").alias("file"))
            found = marked.join(F.broadcast(keys), column, "left_semi").select("file").distinct()
            return sorted(found.toArrow()["file"].to_pylist())
        except Exception:  # a file is not whole: search each half for it
            if len(names) == 1:
                return list(names)
            middle = len(names) // 2
            halves = (names[:middle], names[middle:])
            return [name for half in halves for name in self._having(table, half, column, values)]

    def _forget_all(self, table: str, *, dry_run: bool) -> int:
        with temporarily(self._lake.spark, {RETENTION_CHECK: "false"}):
            return self.vacuum(table, 0, dry_run=dry_run)

    @contextmanager
    def _removable(self, table: str) -> Iterator[None]:
        name = self._lake.location.quoted(table)

        def set_to(value: str) -> None:
            sql = f"ALTER TABLE {name} SET TBLPROPERTIES ('{APPEND_ONLY}' = '{value}')"
            retried(table, lambda: self._lake.spark.sql(sql), _is_spark_conflict)

        set_to("false")
        try:
            yield
        finally:
            set_to("true")

    def files(self, table: str) -> Files:
        detail = self._lake.spark.sql(f"DESCRIBE DETAIL {self._lake.location.quoted(table)}")
        (row,) = detail.select("numFiles", "sizeInBytes").collect()
        count, size = int(row["numFiles"]), int(row["sizeInBytes"])
        return Files(count=count, size=size, small=count if size < count * SMALL_FILE else 0)

    def rewrite(self, table: str) -> None:
        self._lake.before_writing()
        name, columns = self._lake.location.quoted(table), ", ".join(order_of(table))
        widen = f"ALTER TABLE {name} SET TBLPROPERTIES ('{STATISTICS}' = '{statistics_of(table)}')"
        sql = f"OPTIMIZE {name} ZORDER BY ({columns})"
        detail = self._lake.spark.sql(f"DESCRIBE DETAIL {name}").select("properties").collect()
        if detail[0]["properties"].get(STATISTICS) != statistics_of(table):
            retried(table, lambda: self._lake.spark.sql(widen), _is_spark_conflict)
        retried(table, lambda: self._lake.spark.sql(sql), _is_spark_conflict)

    def merge(self, table: str) -> bool:
        sql = f"OPTIMIZE {self._lake.location.quoted(table)}"
        try:
            with temporarily(self._lake.spark, {LEFT_BY_OPTIMIZE: str(MERGED_FILE)}):
                self._lake.spark.sql(sql).collect()
        except Exception as error:  # Delta's conflicts reach Python as the JVM's own
            if not _is_spark_conflict(error):
                raise
            return False
        return True

    def vacuum(self, table: str, days: int, *, dry_run: bool) -> int:
        name = self._lake.location.quoted(table)
        with temporarily(self._lake.spark, {LISTING: LISTING_TASKS}):
            found = self._lake.spark.sql(f"VACUUM {name} RETAIN {days * 24} HOURS DRY RUN").count()
            if found and not dry_run:
                self._lake.spark.sql(f"VACUUM {name} RETAIN {days * 24} HOURS")
        return found


def _remove_all(files: DriverFiles, paths: Sequence[str]) -> None:
    for path in paths:
        folder, _, name = path.rpartition("/")
        files.remove(path)
        files.remove(f"{folder}/.{name}.crc")


def _is_spark_conflict(error: Exception) -> bool:
    return any(kind in str(error)[:2000] for kind in CONFLICTS)
