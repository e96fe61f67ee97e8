"""Removing rows, rewriting small files and deleting old ones: what no stage ever does to a table.

Every table is append-only by a property of its own, which Delta enforces. `remove` and `replace`
take it away in one commit, write in a second and put it back in a third; all three are in the
table's history.
Rewriting rows into fewer files changes none and needs no such thing. Another writer's commit
between may make one of ours conflict: it is then tried again, and appends of others are as well.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from medhelm_spark.errors import LakeError
from medhelm_spark.lake.driver_files import DriverFiles
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.in_process import LocalFrame
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.links import refuse_links
from medhelm_spark.lake.reader import as_schema, refuse_empty_commits, table_schema
from medhelm_spark.lake.rows import Frame, by_spark, plain_errors
from medhelm_spark.lake.settings import temporarily
from medhelm_spark.lake.tables import STATISTICS, TABLES, WRITE_ID, columns, properties
from medhelm_spark.operating_system import take_lock

if TYPE_CHECKING:
    from deltalake import DeltaTable

APPEND_ONLY = "delta.appendOnly"
ATTEMPTS = 8
CONFLICTS = ("CONCURRENT", "METADATA_CHANGED", "PROTOCOL_CHANGED", "CANNOT_MODIFY_APPEND_ONLY")
"""The errors of ours after another's commit; the last where another `gc` put the property back."""

REWRITING = "_rewriting.lock"
"""The file in a lake's folder that is locked while files are rewritten."""

FEW_FILES = 8
LARGE_FILE = 64 << 20
"""A table of fewer files, or whose files have so many bytes on average, is left as it is."""

MANY_SMALL_FILES = 200
SMALL_FILE = 1 << 20
MERGED_FILE = 8 << 20
"""At the end of a run a table of more than so many files, each smaller than `SMALL_FILE` bytes, has
its files below `MERGED_FILE` bytes merged up to that; larger ones are not read for it."""

# Databricks and Delta: files from this size on are left as they are.
LEFT_BY_OPTIMIZE = "spark.databricks.delta.optimize.minFileSize"

# A table's folder is listed by so many tasks: the ten thousand of Spark's default take minutes.
LISTING = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
LISTING_TASKS = "16"

# Delta refuses to delete files that a version of the last seven days has, unless this is false.
RETENTION_CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"

DATA_FILE = ".parquet"

PARTIAL_FILE = f"{DATA_FILE}#*"
"""How the name of a data file ends that delta-rs writes; its vacuum passes over what a killed
process left of one."""

SECONDS_A_DAY = 86_400

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The number of files of a table's newest version, and their bytes.

    `small` are those of less than `SMALL_FILE` bytes; all or none, by their mean, where Spark
    counts.
    """

    count: int
    size: int
    small: int = 0

    @property
    def are_small(self) -> bool:
        """Whether they are many and small."""
        return self.count >= FEW_FILES and self.size < self.count * LARGE_FILE


class Maintenance(Protocol):
    """What is done to tables beside reading and appending."""

    def exists(self, table: str) -> bool:
        """Whether there is such a table."""

    def remove(self, table: str, condition: str) -> None:
        """Delete the rows that meet a condition, in SQL alike in Spark and DataFusion.

        Raises:
            LakeError: Other writers kept changing the table.
        """

    def replace(self, table: str, condition: str, rows: Frame) -> None:
        """Replace the rows that meet a condition by these rows, in one commit.

        The rows have the table's columns, `write_id` among them, and meet the condition.

        Raises:
            LakeError: Other writers kept changing the table.
        """

    def forget(self, table: str, column: str, values: Collection[str], *, dry_run: bool) -> int:
        """Delete the files that the newest version does not have and that have one of these values.

        Earlier versions with such a file cannot be read any more. A file that cannot be read is
        what a killed writer left, and is deleted too. In a catalog, whose files nobody lists, it is
        all files of earlier versions.

        Returns:
            How many files; Spark counts a thousand at most in a catalog.
        """

    def files(self, table: str) -> Files:
        """The table's files."""

    def rewrite(self, table: str) -> None:
        """Rewrite the table's rows into few files, those that are read together beside each other.

        Readers narrow by the columns in whose order the files then are (`Table.indexed`, and the
        write), so that they still open few of them.

        Raises:
            LakeError: Other writers kept changing the table.
        """

    def merge(self, table: str) -> bool:
        """Merge the table's small files; false where another process rewrites files.

        Rows that are appended meanwhile stay, and earlier versions stay readable.
        """

    def vacuum(self, table: str, days: int, *, dry_run: bool) -> int:
        """Delete files that no version of the last `days` days has; returns how many.

        Spark counts a thousand at most.
        """


def maintenance_of(lake: Lake) -> Maintenance:
    """By delta-rs in a folder of this machine, where Spark need not start, else by Spark.

    Raises:
        LakeError: A symbolic link is among the lake's files; nothing was done yet.
    """
    if lake.location.is_folder:
        refuse_links(Path(lake.location.name))
    return _Folder(lake.files) if lake.files else _Spark(lake)


def merge_small_files(lake: Lake) -> dict[str, int]:
    """Merge the files of tables that runs have filled with small ones; how many, by table.

    `runs` gets the most files, several by each run: where it has few, Spark asks no other table.
    """
    tables: Maintenance = _Folder(lake.files) if lake.files else _Spark(lake)
    merged = {}
    for table in sorted(TABLES, key=lambda name: name != "runs"):
        small = tables.files(table).small if tables.exists(table) else 0
        if small > MANY_SMALL_FILES:
            lake.before_writing()
            if tables.merge(table):
                merged[table] = small
        elif table == "runs" and not lake.is_folder_of_ours:
            break
    return merged


def _order(table: str) -> list[str]:
    return [*(TABLES[table].sorted_by or (*TABLES[table].indexed, WRITE_ID))]


def _statistics(table: str) -> str:
    """The columns that files' statistics are of; an older table has fewer."""
    return properties(TABLES[table])[STATISTICS]


def _retried(table: str, action: Callable[[], T], is_conflict: Callable[[Exception], bool]) -> T:
    for attempt in range(ATTEMPTS):
        try:
            return action()
        except Exception as error:  # Delta's conflicts reach Python as the JVM's own
            if not is_conflict(error):
                raise
            time.sleep(0.1 * 2**attempt)
    raise LakeError(
        f"table {table!r}: others wrote it at each of {ATTEMPTS} tries; run the same command "
        "again later."
    )


class _Folder:
    """The tables of a folder of this machine, without Spark."""

    def __init__(self, tables: FileTables) -> None:
        self._tables = tables
        self._location = tables.location

    def exists(self, table: str) -> bool:
        return self._tables.existing(table) is not None

    def remove(self, table: str, condition: str) -> None:
        def once() -> None:
            with self._removable(table):
                self._open(table).delete(condition)

        _retried(table, once, _is_conflict)

    def replace(self, table: str, condition: str, rows: Frame) -> None:
        from deltalake import write_deltalake

        with plain_errors():
            replacement = rows.rows if isinstance(rows, LocalFrame) else rows.toArrow()
        replacement = as_schema(replacement, table_schema(table))

        def once() -> None:
            with self._removable(table):
                write_deltalake(
                    self._open(table),
                    replacement,
                    mode="overwrite",
                    predicate=condition,
                    schema_mode="merge",
                )

        _retried(table, once, _is_conflict)

    def forget(self, table: str, column: str, values: Collection[str], *, dry_run: bool) -> int:
        # A file that is being merged is in no version yet, and may have the values.
        with nullcontext() if dry_run else self._rewriting(wait=True):
            live = {Path(uri).name for uri in self._open(table).file_uris()}
            keys = pa.array(sorted(values), pa.string())
            paths = [
                path
                for path in self._files(table, DATA_FILE, PARTIAL_FILE)
                if path.name not in live and _may_have(path, column, keys)
            ]
            for path in paths if not dry_run else ():
                path.unlink(missing_ok=True)
                path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
            return len(paths)

    @contextmanager
    def _removable(self, table: str) -> Iterator[None]:
        def set_to(value: str) -> None:
            def once() -> None:
                self._open(table).alter.set_table_properties({APPEND_ONLY: value})

            _retried(table, once, _is_conflict)

        set_to("false")
        try:
            yield
        finally:
            set_to("true")

    def files(self, table: str) -> Files:
        opened = self._tables.existing(table) or self._open(table)
        actions = pa.table(opened.get_add_actions(flatten=True))
        sizes = actions["size_bytes"].to_pylist() if actions.num_rows else []
        small = sum(size < SMALL_FILE for size in sizes)
        return Files(count=len(sizes), size=sum(sizes), small=small)

    def rewrite(self, table: str) -> None:
        def once() -> None:
            self._open(table).optimize.z_order(_order(table))

        def widen() -> None:
            opened = self._open(table)
            if opened.metadata().configuration.get(STATISTICS) != _statistics(table):
                opened.alter.set_table_properties({STATISTICS: _statistics(table)})

        with self._rewriting(wait=True):
            _retried(table, widen, _is_conflict)
            _retried(table, once, _is_conflict)

    def merge(self, table: str) -> bool:
        with self._rewriting(wait=False) as is_ours:
            try:
                if is_ours:
                    self._open(table).optimize.compact(target_size=MERGED_FILE)
            except Exception as error:  # another driver removed rows
                if not _is_conflict(error):
                    raise
                return False
        return is_ours

    @contextmanager
    def _rewriting(self, *, wait: bool) -> Iterator[bool]:
        """Rewrite files as the only process that does; false where another one does.

        delta-rs sees no conflict in two that rewrite the same files, and both would add the rows.
        """
        with Path(self._location, REWRITING).open("a") as file:
            yield take_lock(file.fileno(), wait=wait)

    def vacuum(self, table: str, days: int, *, dry_run: bool) -> int:
        # `full`: files that a crashed writer never committed too.
        found = self._open(table).vacuum(retention_hours=days * 24, dry_run=dry_run, full=True)
        latest = time.time() - days * SECONDS_A_DAY
        partial = [path for path in self._files(table, PARTIAL_FILE) if _is_older(path, latest)]
        for path in partial if not dry_run else ():
            path.unlink(missing_ok=True)
        return len(found) + len(partial)

    def _files(self, table: str, *endings: str) -> list[Path]:
        """The files of a table's folder whose names end so, in any version or in none."""
        folder = Path(self._path(table))
        return sorted(path for ending in endings for path in folder.glob(f"*{ending}"))

    def _open(self, table: str) -> "DeltaTable":
        from deltalake import DeltaTable

        refuse_empty_commits(Path(self._path(table)))  # files of a lost commit would be removed
        return DeltaTable(self._path(table))

    def _path(self, table: str) -> str:
        return f"{self._location}/{table}"


def _is_older(path: Path, than: float) -> bool:
    """Whether a file was last written before a time; false of one that has another name by now."""
    try:
        return path.stat().st_mtime < than
    except FileNotFoundError:
        return False


def _may_have(path: Path, column: str, values: pa.Array) -> bool:
    """Whether a data file has one of these values in a column; true of one that is not whole."""
    try:
        with pq.ParquetFile(path) as file:
            batches = file.iter_batches(columns=[column])
            return any(pc.any(pc.is_in(batch[column], values)).as_py() for batch in batches)
    except (pa.ArrowException, OSError, KeyError):
        return True


def _is_conflict(error: Exception) -> bool:
    from deltalake.exceptions import CommitFailedError

    return isinstance(error, CommitFailedError)


class _Spark:
    """The tables of any other lake."""

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

        _retried(table, once, _is_spark_conflict)

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

        _retried(table, once, _is_spark_conflict)

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
            _retried(table, lambda: self._lake.spark.sql(sql), _is_spark_conflict)

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
        name, columns = self._lake.location.quoted(table), ", ".join(_order(table))
        widen = f"ALTER TABLE {name} SET TBLPROPERTIES ('{STATISTICS}' = '{_statistics(table)}')"
        sql = f"OPTIMIZE {name} ZORDER BY ({columns})"
        detail = self._lake.spark.sql(f"DESCRIBE DETAIL {name}").select("properties").collect()
        if detail[0]["properties"].get(STATISTICS) != _statistics(table):
            _retried(table, lambda: self._lake.spark.sql(widen), _is_spark_conflict)
        _retried(table, lambda: self._lake.spark.sql(sql), _is_spark_conflict)

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
