"""THE SEAM: the one place where pure Python functions meet Spark.

`map_rows` runs `fn: Iterable[In] -> Iterable[Out]` once per partition through `mapInArrow`; `fn`
sees frozen dataclasses and streams: it may pull input ahead and yield output as it comes. Every
exception leaves as one text-free line, because Spark prints tracebacks into executor logs and some
of Arrow's messages quote the value they choke on.
"""

import io
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.resource import ResourceProfile, ResourceProfileBuilder, TaskResourceRequests
from pyspark.sql import DataFrame, functions as F
from pyspark.sql.types import StructType

from medhelm_spark import errors, features, plugins
from medhelm_spark.domain.cluster import GPU, StageResources
from medhelm_spark.domain.ids import content_id
from medhelm_spark.lake.columnar import arrow_schema, ddl, decode_batch, encode_batch, fields_of
from medhelm_spark.lake.in_process import LocalFrame, LocalStream, sorted_here
from medhelm_spark.lake.progress import Watched
from medhelm_spark.lake.python_workers import made_for
from medhelm_spark.lake.reader import as_schema, decode
from medhelm_spark.lake.settings import is_connect

FIRST_BATCH_ROWS = 16
MAX_BATCH_ROWS = 8192
TARGET_BATCH_BYTES = 8 << 20

# What may name a row in an error: content hashes and file positions, never a source_id.
ROW_KEYS = ("run_spec_id", "request_id", "instance_id", "subject_id", "source_file", "source_row")

SOURCE_FILE = "source_file"

In = TypeVar("In")
Out = TypeVar("Out")
Row = TypeVar("Row")

Frame = DataFrame | LocalFrame
"""Rows of a stage, where they are computed."""

DESCENDING = " DESC"

_MARK = re.compile(r"\[\[medhelm-spark (\w+)\]\] (.*?) \[\[/medhelm-spark\]\]", re.DOTALL)

# Spark's SQLSTATE of class 22 is for values that a computation refuses.
_VALUE = re.compile(r"\[([A-Z][A-Z_.]+)\].{0,4000}?SQLSTATE: 22", re.DOTALL)


def map_rows(
    df: Frame,
    fn: Callable[[Iterable[In]], Iterable[Out]],
    in_type: type[In],
    out_type: type[Out],
    needs: StageResources | None = None,
    *,
    own_workers: bool = False,
) -> Frame:
    """`df`'s rows as `in_type`, through `fn`, as a frame of `out_type`'s columns.

    `needs` is what each task asks Spark for beyond what the settings give every task. Tasks with
    `own_workers` run in Python workers that only such tasks get, so that they find what an earlier
    one left there; Spark Connect has no such workers. Of Spark lazy, and evaluated once per action:
    give it to exactly one write where `fn` costs money.
    """
    partition = _Partition(fn, in_type, out_type, plugins.active(), _carried())
    return _mapped(df, partition, needs, own_workers=own_workers)


def map_batches(
    df: Frame | LocalStream,
    fn: Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]],
    in_type: type,
    out_type: type,
) -> Frame:
    """The same for a function of Arrow batches with the types' columns, for millions of rows."""
    return _mapped(df, _BatchPartition(fn, in_type, out_type, plugins.active(), _carried()))


def _carried() -> tuple[tuple[str, Any], ...]:
    """What features have to set up in every task, each with the module that does it."""
    values = ((module.__name__, module.carried()) for module in features.parts("in_tasks"))
    return tuple((name, value) for name, value in values if value is not None)


def _mapped(
    df: Frame | LocalStream,
    partition: "_Partition",
    needs: StageResources | None = None,
    *,
    own_workers: bool = False,
) -> Frame:
    in_type, out_type = partition.in_type, partition.out_type
    if isinstance(df, LocalFrame):
        return _mapped_here([df.rows], partition)
    if isinstance(df, LocalStream):
        return _mapped_here(df.parts(), partition)
    columns = df.selectExpr(*(field.name for field in fields(in_type)))
    profile, spark = _profile(needs) if needs else None, df.sparkSession
    if is_connect(spark):
        mapped = columns.mapInArrow(partition, parsed(ddl(out_type)), profile=profile)
        return _plain_strings(mapped, out_type)
    schema = parsed(ddl(out_type))
    with made_for(spark, own_workers=own_workers):
        return columns.mapInArrow(partition, schema, profile=profile)


def _mapped_here(parts: Iterable[pa.Table], partition: "_Partition") -> LocalFrame:
    """The rows of a function that runs in this process, as its one partition."""
    schema = arrow_schema(partition.in_type)
    source = (
        batch
        for part in parts
        for batch in as_schema(part, schema).to_batches(max_chunksize=MAX_BATCH_ROWS)
    )
    with plain_errors():
        batches = list(partition(source))
    return LocalFrame(pa.Table.from_batches(batches, schema=arrow_schema(partition.out_type)))


def sorted_rows(
    df: Frame, *order: str, partitions: int | None = None, by: Sequence[str] = ()
) -> Frame:
    """The rows of each partition in order; parted anew where `by` names columns.

    `order` are expressions of SQL, each with DESC behind it or not. This process has one partition.
    """
    if isinstance(df, LocalFrame):
        return sorted_here(df, order)
    columns = [each.removesuffix(DESCENDING) for each in order]
    return by_spark(parted(df, partitions, by) if by else df).sortWithinPartitions(
        *map(F.expr, columns), ascending=[not each.endswith(DESCENDING) for each in order]
    )


def parted(df: Frame, partitions: int | None, by: Sequence[str]) -> Frame:
    """The rows in partitions by these columns, so many or as many as the session has."""
    if isinstance(df, LocalFrame):
        return df
    number = () if partitions is None else (partitions,)
    return df.repartition(*number, *map(F.col, by))


def united(frames: Sequence[Frame]) -> Frame:
    """The rows of all frames, by the names of their columns; what one lacks is null in its rows."""
    if isinstance(frames[0], LocalFrame):
        tables = [frame.rows for frame in frames if isinstance(frame, LocalFrame)]
        return LocalFrame(pa.concat_tables(tables, promote_options="permissive"))
    whole, *others = map(by_spark, frames)
    for other in others:
        whole = whole.unionByName(other, allowMissingColumns=True)
    return whole


def by_spark(frame: Frame) -> DataFrame:
    """The frame as Spark's, for what Spark alone can do."""
    if isinstance(frame, LocalFrame):
        raise TypeError("rows of this process are no DataFrame of Spark")
    return frame


def computed_here(frame: Frame) -> LocalFrame:
    """The frame as this process's, where it computes all frames."""
    if not isinstance(frame, LocalFrame):
        raise TypeError("rows of Spark are not in this process")
    return frame


def in_one_partition(df: Frame, *, is_exchanged: bool = False) -> Frame:
    """The rows in one partition; `is_exchanged`: computed by as many tasks as before."""
    if isinstance(df, LocalFrame):
        return df
    return df.repartition(1) if is_exchanged else df.coalesce(1)


def _plain_strings(df: DataFrame, row_type: type) -> DataFrame:
    """The rows of a Python function with types as SQL names them.

    Such a function's types reach a server of Spark Connect with their collation spelled out, and
    Delta's log would say `string collate UTF8_BINARY` (Spark 4.2), which delta-rs cannot read.
    """
    kinds = fields_of(row_type)
    return df.selectExpr(
        *(f"CAST(`{name}` AS {kind.ddl}) `{name}`" for name, kind in kinds.items())
    )


def _profile(needs: StageResources) -> ResourceProfile:
    """The tasks' own demand; Spark refuses one in local mode (`Cluster.has_profiles`)."""
    tasks = TaskResourceRequests().cpus(needs.cpus).resource(GPU, needs.gpus)
    return ResourceProfileBuilder().require(tasks).build


@cache
def parsed(schema: str) -> StructType:
    """A schema as Spark's parser, which is in the JVM, reads it; parsed once."""
    struct = StructType.fromDDL(schema)
    if not isinstance(struct, StructType):
        raise TypeError(f"{schema!r} names no columns")
    return struct


@dataclass(frozen=True, slots=True)
class _Partition:
    """What runs on an executor, for one partition."""

    fn: Callable[[Iterable[Any]], Iterable[Any]]
    in_type: type
    out_type: type
    loaded: tuple[plugins.Plugin, ...] = ()
    carried: tuple[tuple[str, Any], ...] = ()

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        source = _Source(batches, self.in_type)
        try:
            with _unprinted(bool(self.loaded)):
                for module, value in self.carried:
                    import_module(module).resume(value)
                plugins.ensure(self.loaded)
                yield from self._made(source)
        except errors.MedhelmSparkError as error:
            raise errors.StageError(_marked(type(error).__name__, str(error))) from None
        except Exception as error:
            message = f"{_name(self.fn)} failed with {_where(error)}{source.key()}"
            raise errors.StageError(_marked("StageError", message)) from None

    def _made(self, source: "_Source") -> Iterator[pa.RecordBatch]:
        return _batched(self.fn(source), self.out_type)


class _BatchPartition(_Partition):
    """The same for a function of batches."""

    def _made(self, source: "_Source") -> Iterator[pa.RecordBatch]:
        yield from self.fn(source.batches)


class _Dropped(io.TextIOBase):
    """A stream that drops all text and counts its characters."""

    def __init__(self) -> None:
        self.characters = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.characters += len(text)
        return len(text)


@contextmanager
def _unprinted(is_plugged: bool) -> Iterator[None]:
    """Drop what Python code prints while a plug-in is loaded: it may print the rows that it sees.

    An executor's log is no place for clinical text. How much was dropped is printed.
    """
    if not is_plugged:
        yield
        return
    dropped = _Dropped()
    try:
        with redirect_stdout(dropped), redirect_stderr(dropped):
            yield
    finally:
        if dropped.characters:
            sys.stderr.write(
                f"medhelm-spark: {dropped.characters} characters that a plug-in printed are not "
                "shown: rows may be clinical text.\n"
            )


class _Source:
    """The decoded rows of a partition; remembers the last one for error messages."""

    def __init__(self, batches: Iterable[pa.RecordBatch], in_type: type) -> None:
        self.batches, self._type, self._last = batches, in_type, None

    def __iter__(self) -> Iterator[Any]:
        for batch in self.batches:
            for row in decode_batch(self._type, batch):
                self._last = row
                yield row

    def key(self) -> str:
        present = [
            f"{name}={_shown(name, getattr(self._last, name))}"
            for name in ROW_KEYS
            if hasattr(self._last, name)
        ]
        return f" near row {', '.join(present)}" if present else ""


def _shown(name: str, value: object) -> object:
    """A key's value; of a file its hash, for the name of a note's file may be a record number."""
    return f"#{content_id(value)[:8]}" if name == SOURCE_FILE else value


def _batched(rows: Iterable[Any], out_type: type) -> Iterator[pa.RecordBatch]:
    """Batches of about TARGET_BATCH_BYTES, whatever the size of a row: each batch is measured."""
    limit, buffer = FIRST_BATCH_ROWS, []
    for row in rows:
        buffer.append(row)
        if len(buffer) >= limit:
            batch = encode_batch(out_type, buffer)
            limit = min(MAX_BATCH_ROWS, 1 + TARGET_BATCH_BYTES * len(buffer) // (batch.nbytes + 1))
            buffer = []
            yield batch
    if buffer:
        yield encode_batch(out_type, buffer)


def _where(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    at_line = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{at_line}"


def _name(fn: object) -> str:
    if isinstance(fn, Watched):
        return _name(fn.fn)
    return getattr(fn, "__qualname__", type(fn).__qualname__)


def _marked(family: str, message: str) -> str:
    return f"[[medhelm-spark {family}]] {message} [[/medhelm-spark]]"


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise an executor's error as the error it was, without Spark's stack traces.

    Spark's own errors about a value quote it: their condition alone is passed on.
    """
    try:
        yield
    except Exception as error:  # a failed write reaches Python as the JVM's own
        mark = _MARK.search(str(error))
        if not mark and (refused := _VALUE.search(str(error))):
            raise errors.DataError(
                f"Spark cannot read a value of the data as a table or view asks ({refused[1]}); "
                "look there for a cast or a computation that not every row allows."
            ) from None
        if not mark:
            raise
        family = getattr(errors, mark.group(1), errors.StageError)
        raise _rebuilt(family, mark.group(2)) from None


def _rebuilt(family: type[Exception], message: str) -> Exception:
    error = family.__new__(family)
    Exception.__init__(error, message)
    return error


@contextmanager
def without_text(fn: object) -> Iterator[None]:
    """Raise what a function that reads text raises on the driver as one line without that text."""
    try:
        yield
    except errors.MedhelmSparkError:
        raise
    except Exception as error:
        raise errors.StageError(f"{_name(fn)} failed with {_where(error)}") from None


def rows_of(df: Frame, row_type: type[Row]) -> list[Row]:
    """Collect a small frame as `row_type` rows; never for anything with text."""
    if isinstance(df, LocalFrame):
        return decode(df.rows, row_type)
    with plain_errors():
        table = df.selectExpr(*(field.name for field in fields(row_type))).toArrow()  # type: ignore[arg-type]
    return decode_batch(row_type, table)


def arrow_of(rows: Iterable[Any], row_type: type) -> pa.Table:
    """Driver-side rows as an Arrow table, for `createDataFrame`."""
    return pa.Table.from_batches(
        [encode_batch(row_type, list(rows))], schema=arrow_schema(row_type)
    )
