"""The Lake: names, reads and appends of its tables. No stage builds a table path by hand.

`SparkReader` is the Reader of a lake whose tables only Spark can open, such as a catalog's.
"""

import copy
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from medhelm_spark.domain.data_uri import VOLUMES
from medhelm_spark.domain.stages import Stage
from medhelm_spark.errors import LakeError
from medhelm_spark.lake.cancel import cancellable
from medhelm_spark.lake.columnar import completed, ddl
from medhelm_spark.lake.condition import RowCondition, ScannedFiles
from medhelm_spark.lake.driver_files import DriverFiles, driver_files
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.frames import Frames, Tables
from medhelm_spark.lake.in_process import LocalFrames, LocalStream
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.progress import Display, Watch, metered
from medhelm_spark.lake.reader import Part, decode, named_tables
from medhelm_spark.lake.rows import (
    Frame,
    arrow_of,
    by_spark,
    computed_here,
    parsed,
    plain_errors,
    united,
)
from medhelm_spark.lake.session import Session, node_addresses
from medhelm_spark.lake.settings import is_connect, setting
from medhelm_spark.lake.spark_frames import SparkFrames, complete
from medhelm_spark.lake.spark_tables import SparkTables, table_ddl
from medhelm_spark.lake.staging import Staging
from medhelm_spark.lake.tables import TABLES, WRITE_ID, columns

Row = TypeVar("Row")


def _nothing() -> None:
    return None


def new_write_id() -> str:
    """Names the rows of one stage execution."""
    return uuid4().hex


class Lake:
    """The tables of one lake through one SparkSession, which may be started only when needed."""

    def __init__(
        self, session: SparkSession | Session, location: str, staging_folder: str | None = None
    ) -> None:
        self.session = session if isinstance(session, Session) else Session(lambda: session)
        self.location = Location.of(location)
        self._staging_folder = staging_folder
        self.is_folder_of_ours = self.location.is_local(self.session.master)
        """Whether this process sees the lake's files as Spark does."""
        self._by_spark = SparkTables(self.session, self.location)
        self._tables: Tables = (
            FileTables(self.location.name) if self.is_folder_of_ours else self._by_spark
        )
        self._frames: Frames = SparkFrames(self.session, self._by_spark, self._tables)
        self._stage: Stage | None = None
        self._cancellable: list[threading.Event] = []
        """One for each piece of this process's own work, set where it has to end; copies share."""
        self.before_writing: Callable[[], None] = _nothing

    @property
    def is_in_process(self) -> bool:
        """Whether this process computes the rows of stages, without Spark."""
        return isinstance(self._frames, LocalFrames)

    def in_process(self) -> "Lake":
        """The same lake, the rows of whose stages this process computes.

        Raises:
            LakeError: the lake is no folder that this process reads and writes itself.
        """
        if self.files is None:
            raise LakeError(f"{self.location.name} is no folder of this machine.")
        lake = copy.copy(self)
        lake._frames = LocalFrames(self.files)
        return lake

    @property
    def files(self) -> FileTables | None:
        """The tables where this process reads and writes their files itself; else None."""
        return self._tables if isinstance(self._tables, FileTables) else None

    def sizes(self, names: Iterable[str]) -> list[ScannedFiles]:
        """The rows and bytes of these tables; without tables whose files are not listed."""
        return [each for each in map(self._tables.scanned, names) if each]

    @contextmanager
    def cancellable(self) -> Iterator[Callable[[], None]]:
        """Yields a function that ends this thread's work from another thread."""
        if self.is_in_process:
            cancelled = threading.Event()
            self._cancellable.append(cancelled)
            try:
                yield cancelled.set
            finally:  # later work of this lake is not ended
                self._cancellable.remove(cancelled)
            return
        with cancellable(self.spark, f"medhelm-spark-{uuid4().hex[:12]}") as cancel:
            yield cancel

    def is_cancelled(self) -> bool:
        """Whether what this process does itself has to end; pieces of work may be nested."""
        return any(each.is_set() for each in tuple(self._cancellable))

    @property
    def driver_host(self) -> str:
        """The address at which executors reach this process."""
        spark = None if self.is_in_process else self.spark
        return (setting(spark, "spark.driver.host") if spark else None) or "127.0.0.1"

    @property
    def node_addresses(self) -> tuple[str, ...]:
        """The addresses of driver and executors as Spark lists them; none without Spark."""
        return () if self.is_in_process else node_addresses(self.spark)

    def numbers(self, count: int) -> Frame:
        """The numbers from 0 on as the column `number`, each in a partition of its own."""
        return self._frames.numbers(count)

    @property
    def spark(self) -> SparkSession:
        """The session, started now where it was not."""
        return self.session.spark

    @cached_property
    def driver_files(self) -> DriverFiles | None:
        """Small files beside the tables, which the driver writes without a Spark job."""
        return driver_files(self.location, None if self.is_folder_of_ours else self.spark)

    @cached_property
    def staging(self) -> Staging:
        """Rows on their way into a table (`append_once`)."""
        named = self._staging_folder
        if named and not self.is_folder_of_ours and is_connect(self.spark):
            named = None  # this process may be on another machine than the driver
        return Staging(self.location, self.driver_files, lambda: self.spark, named)

    def within(self, stage: Stage) -> "Lake":
        """The same lake for one stage: tables that it does not declare are refused."""
        lake = copy.copy(self)
        lake._stage = stage
        return lake

    def _may_write(self, table: str) -> None:
        self._refuse_undeclared(table, "writes", "writes")
        self.before_writing()

    def _refuse_undeclared(self, table: str, does: str, declared: str) -> None:
        if self._stage and table not in getattr(self._stage, declared):
            raise LakeError(f"stage {self._stage.name!r} {does} {table!r} and does not declare it.")

    def read(
        self, table: str, where: RowCondition | None = None, *, only: Sequence[str] = ()
    ) -> Frame:
        """A table's rows with their `write_id`, all or those that meet a condition.

        No rows where it does not exist yet. Few are read at once, by the driver; Spark
        reads many, and its session gets their number first. This process reads `only` these
        columns, where some are named; Spark itself finds which ones a query needs.
        """
        self._refuse_undeclared(table, "reads", "reads")
        return self._frames.read(table, where, only)

    def narrowed(self, table: str, where: RowCondition) -> str:
        """SQL of a condition on few rows, with the writes that have them where the driver looks."""
        self._refuse_undeclared(table, "reads", "reads")
        return self._tables.narrowed(table, where).sql

    def query(self, sql: str, **frames: Frame) -> Frame:
        """Run SQL whose `{name}` placeholders are tables of the lake or these frames."""
        tables = {name: self.read(name) for name in named_tables(sql) if name not in frames}
        return self._frames.query(sql, {**tables, **frames})

    def streamed(self, sql: str) -> Frame | LocalStream:
        """The answer to SQL over the lake's tables for `map_batches`, never in memory as a whole.

        The SQL is what Spark and DataFusion have in common.
        """
        for table in named_tables(sql):
            self._refuse_undeclared(table, "reads", "reads")
        return self._frames.streamed(sql)

    def in_turn(self, frames: Callable[[], Iterator[Frame]]) -> Frame | LocalStream:
        """The rows of some frames for `append`; this process computes one after the other."""
        if self.is_in_process:
            return LocalStream(lambda: (frame.rows for frame in map(computed_here, frames())))
        return united(list(frames()))

    def rows(self, sql: str, row_type: type[Row]) -> list[Row]:
        """The answer to SQL over small tables, as rows; never for anything with text."""
        for table in named_tables(sql):
            self._refuse_undeclared(table, "reads", "reads")
        return self._tables.rows(sql, row_type)

    def frame(self, rows: Iterable[Any], row_type: type) -> Frame:
        """Driver-side rows as a frame; few of them are on every executor that joins with them."""
        return self._frames.from_rows(arrow_of(rows, row_type), row_type)

    def metered(
        self, display: Display | None, label: str, total: int | None
    ) -> AbstractContextManager[Watch]:
        """Shows the rows that a stage makes while it runs (see `lake.progress`)."""
        return metered(None if self.is_in_process else self.spark, display, label, total)

    def append_rows(
        self,
        table: str,
        rows: Iterable[Any],
        write_id: str,
        *,
        txn: tuple[str, int] | None = None,
    ) -> bool:
        """Append driver-side rows in one commit, as `append` does; none, no commit."""
        self._may_write(table)
        rows = list(rows)
        if not rows:
            return True
        return self.append_table(table, arrow_of(rows, TABLES[table].row), write_id, txn=txn)

    def append_table(
        self, table: str, rows: pa.Table, write_id: str, *, txn: tuple[str, int] | None = None
    ) -> bool:
        """Append rows of the table's row type in one commit, as `append` does."""
        self._may_write(table)
        if WRITE_ID not in rows.column_names:
            marks = pa.array([write_id] * rows.num_rows, pa.string())
            rows = rows.append_column(WRITE_ID, marks)
        return self._tables.append(table, rows, txn)

    def append(
        self,
        table: str,
        df: Frame | LocalStream,
        write_id: str,
        *,
        txn: tuple[str, int] | None = None,
        at_most: int | None = None,
    ) -> bool:
        """Append in one commit, creating the table if needed.

        A field of the row's that `df` lacks and that has a default gets that in every row.
        `at_most` is how many rows there can be, where that is known: few are committed by the
        driver, without Spark's Delta.

        With `txn` (application id, version) the same commit made twice is skipped by Delta; False
        when another driver committed it first.
        """
        self._may_write(table)
        return self._frames.append(table, df, write_id, txn=txn, at_most=at_most)

    def append_once(self, table: str, df: DataFrame, write_id: str, *, staged: str) -> None:
        """Append rows that must not be computed twice, because each was paid for.

        They are computed by one action, which writes them under a name of their own, `staged`, that
        no other writer touches, and are committed from there, as often as conflicts make it
        necessary.

        Raises:
            LakeError: they cannot be committed; they are kept, and `append_staged` commits them.
        """
        self._may_write(table)
        with plain_errors():
            self.staging.write(staged, complete(table, df, write_id))
        self.append_staged(table, staged, write_id)

    def append_files(self, table: str, folder: str, write_id: str, txn: tuple[str, int]) -> int:
        """Append the rows of a folder's Parquet files in one commit; made twice it is one.

        This process sees the folder. It appends the rows itself where it appends to the lake's
        tables, a few thousand at a time; else Spark does.

        A column that files of an earlier version lack has its field's default.

        Returns:
            How many rows there are; 0 if another driver committed them and removed the files.

        Raises:
            LakeError: they cannot be committed; the files are kept.
        """
        self._may_write(table)
        row, files = TABLES[table].row, sorted(Path(folder).glob("*.parquet"))
        if not files:
            return 0
        try:
            num_rows: int = sum(pq.read_metadata(file).num_rows for file in files)
            if self.is_folder_of_ours:
                rows = pa.concat_tables([completed(row, pq.read_table(file)) for file in files])
                self.append_table(table, rows, write_id, txn=txn)
            else:
                frame = self.spark.read.schema(parsed(ddl(row))).parquet(_by_uri(folder))
                self._by_spark.commit(table, complete(table, frame, write_id), txn)
            return num_rows
        except Exception as error:  # Delta's conflicts reach Python as the JVM's or delta-rs's own
            if not all(file.exists() for file in files):
                return 0  # another driver committed the rows, and removed the files then
            raise _uncommitted(table, folder, error) from None

    def append_staged(self, table: str, staged: str, write_id: str) -> None:
        """Commit rows that `append_once` staged, and remove them there; twice is once.

        Raises:
            LakeError: they cannot be committed; they are kept.
        """
        self._may_write(table)
        rows = self.staging.read(staged, table_ddl(table))
        try:
            staged_rows = rows.selectExpr(*columns(TABLES[table]))
            self._by_spark.commit(table, staged_rows, (write_id, 1))
        except Exception as error:  # Delta's conflicts reach Python as the JVM's own
            raise _uncommitted(table, self.staging.location_of(staged), error) from None
        self.staging.remove(staged)

    def ensure(self, table: str) -> None:
        """Create a table that does not exist, so that a costly first append cannot lose a race."""
        self._may_write(table)
        self._tables.ensure(table)

    def version(self, table: str) -> int | None:
        """The table's newest Delta version, None where it does not exist."""
        return self._tables.version(table)

    def lacks(self, table: str, write_ids: Iterable[str]) -> set[str]:
        """The writes whose rows the table lacks; none where the lake is not a local folder."""
        return self._tables.lacks(table, write_ids)

    def restored(self, table: str) -> list[int]:
        """The versions at which a table was taken back to an earlier one, by Delta's history.

        Entries that a clean-up removed from the history are missing.
        """
        return self._tables.restored(table)


def _by_uri(folder: str) -> str:
    """A folder of this machine as Spark reads it, whatever store a bare path names there.

    Databricks reads a volume by its path and by no `file:`.
    """
    return folder if folder.startswith(VOLUMES) else Path(folder).as_uri()


def _uncommitted(table: str, location: str, error: Exception) -> LakeError:
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    return LakeError(
        f"rows for {table!r} could not be committed ({condition or type(error).__name__}), and are "
        f"kept in {location}; cure that, and the same command commits them before it asks anything."
    )


class SparkReader:
    """Answers a reader's SQL through the lake's SparkSession."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    @property
    def location(self) -> str:
        """The lake, as the user named it."""
        return self._lake.location.name

    def query(self, sql: str, *, each: Part | None = None) -> pa.Table:
        """Answer SQL on the cluster and bring the result to the driver."""
        with plain_errors():
            rows: pa.Table = by_spark(self._lake.query(sql)).toArrow()
        return each(rows) if each else rows

    def rows(self, sql: str, row_type: type[Row]) -> list[Row]:
        """Answer SQL as rows of a dataclass."""
        return decode(self.query(sql), row_type)
