"""Reading a lake without Spark or a JVM: SQL over its Delta files, rows as dataclasses.

`Reader` is the one interface that boards and the dashboard read through. Its SQL is the common part
of Spark SQL and DataFusion, so that another back end answers the same text.
"""

import os
import re
import string
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pyarrow as pa

from medhelm_spark.domain.data_uri import is_uri
from medhelm_spark.errors import ConfigError, LakeError, SetupError
from medhelm_spark.lake.columnar import arrow_schema, decode_batch
from medhelm_spark.lake.file_permissions import work_folder
from medhelm_spark.lake.location import is_catalog
from medhelm_spark.lake.tables import TABLES, WRITE_ID, refuse_newer

if TYPE_CHECKING:
    from deltalake import DeltaTable

    from medhelm_spark.domain.warehouse import Warehouse

Row = TypeVar("Row")

Part = Callable[[pa.Table], pa.Table]
"""What is done with rows as they come: fewer of them, or other columns."""

DBFS = "dbfs:/"

# delta-rs and DataFusion take a path for an address, and decode or refuse these.
REFUSED_NAMES = re.compile(r"[\[\]^|\\\x00-\x1f\x7f]|%[0-9A-Fa-f]{2}")

_NEWEST_SCHEMA = "SELECT max(schema_version) AS newest FROM {runs}"


class Reader(Protocol):
    """Where SQL over a lake's tables is answered."""

    @property
    def location(self) -> str:
        """The lake, as the user named it."""

    def query(self, sql: str, *, each: Part | None = None) -> pa.Table:
        """The answer to SQL whose `{name}` placeholders are tables of the lake.

        A table that does not exist yet has no rows; a column it lacks is null. `each` is applied to
        the rows, part by part as they come where the reader can, so that what it drops is never in
        memory together; its result depends on no other row.
        """

    def rows(self, sql: str, row_type: type[Row]) -> list[Row]:
        """The answer decoded: its columns include the fields of `row_type`."""


def decode(table: pa.Table, row_type: type[Row]) -> list[Row]:
    """Rows of a query's answer, whatever string types its engine uses."""
    if not table.num_rows:  # a cast would import pandas, before the JVM of a first run starts
        return []
    rows: list[Row] = decode_batch(row_type, as_schema(table, arrow_schema(row_type)))
    return rows


def as_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of a schema, whatever types of strings and numbers an engine gave them."""
    columns = [_as(table.column(field.name), field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _as(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), kind)
    return column.combine_chunks().cast(kind)


def table_schema(name: str) -> pa.Schema:
    """The Arrow schema of a lake table, `write_id` included."""
    schema = arrow_schema(TABLES[name].row)
    return schema if WRITE_ID in schema.names else schema.append(pa.field(WRITE_ID, pa.string()))


def named_tables(sql: str) -> list[str]:
    """The lake tables that some SQL names, each once."""
    return sorted({name for _, name, _, _ in string.Formatter().parse(sql) if name})


class FileReader:
    """A lake in a folder or object store, read from its Delta files."""

    def __init__(self, location: str) -> None:
        if not is_uri(location) and (refused := REFUSED_NAMES.search(location)):
            raise ConfigError(
                f"the lake is {location!r}, and its files cannot be read below a folder with "
                f"{refused[0]!r} in its name: give it another name."
            )
        self.location = location
        self._newest: dict[str, tuple[Commit, DeltaTable]] = {}

    def query(
        self,
        sql: str,
        opened: Mapping[str, "DeltaTable"] | None = None,
        *,
        each: Part | None = None,
    ) -> pa.Table:
        """Answer SQL over the tables that it names, the newest version of those not `opened`."""
        stream = self._begun(sql, opened or {})
        with self._read(sql):
            if each is None:
                return without_views(stream.read_all())
            parts = [
                _copied(each(without_views(pa.Table.from_batches([batch])))) for batch in stream
            ]
            return pa.concat_tables(parts or [each(without_views(stream.schema.empty_table()))])

    def stream(self, sql: str) -> Iterator[pa.Table]:
        """The answer to SQL part by part, of some thousand rows each, as they are read."""
        stream = self._begun(sql, {})
        while True:
            with self._read(sql):
                batch = next(stream, None)
            if batch is None:
                return
            yield without_views(pa.Table.from_batches([batch]))

    def _begun(self, sql: str, opened: Mapping[str, "DeltaTable"]) -> pa.RecordBatchReader:
        from deltalake import QueryBuilder

        builder, sources = QueryBuilder(), {}
        for name in named_tables(sql):
            table = opened.get(name) or self._open(name)
            builder.register(name, table)
            sources[name] = _source(name, {field.name for field in table.schema().fields})
        return pa.RecordBatchReader.from_stream(builder.execute(sql.format_map(sources)))

    @contextmanager
    def _read(self, sql: str) -> Iterator[None]:
        """Raise a LakeError for what the files of the tables do to the engine."""
        try:
            yield
        except Exception as error:  # the engine has no class of its own for it
            names = ", ".join(named_tables(sql))
            raise LakeError(
                f"{self.location}: {names} cannot be read ({type(error).__name__}); a file of the "
                "table is missing or damaged. Restore it, or make the lake anew."
            ) from None

    def rows(self, sql: str, row_type: type[Row]) -> list[Row]:
        """Answer SQL as rows of a dataclass."""
        return decode(self.query(sql), row_type)

    def versions(self, names: Iterable[str]) -> tuple[int, ...]:
        """The newest version of each table, -1 of one that does not exist."""
        found = (self.existing(name) for name in names)
        return tuple(-1 if table is None else table.version() for table in found)

    def _open(self, name: str) -> "DeltaTable":
        return self.existing(name) or _empty(name)

    def existing(self, name: str) -> "DeltaTable | None":
        """The newest version of a table; None of one that does not exist."""
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError, TableNotFoundError

        folder = f"{self.location.rstrip('/')}/{name}"
        seen, cached = self._newest.get(name, (None, None))
        commit = None if is_uri(folder) else refuse_empty_commits(Path(folder), seen)
        if commit and commit == seen:
            return cached
        try:
            table = DeltaTable(folder)
        except TableNotFoundError:
            return None
        except (DeltaError, OSError, ValueError) as error:  # the last for a scheme it lacks
            raise LakeError(
                f"{self.location}: the Delta log of table {name!r} cannot be read "
                f"({type(error).__name__}). Restore its _delta_log folder, or make the lake anew."
            ) from error
        if commit:
            self._newest[name] = (commit, table)
        return table


CHECKPOINT = ".checkpoint.parquet"

Commit = tuple[str, int, int]
"""A file of a Delta log: its name, its inode and when it was written, in ns since 1970."""


def refuse_empty_commits(table: Path, seen: Commit | None = None) -> Commit | None:
    """Refuse a table of this machine's disk with a commit that lost its content.

    Returns the newest commit, None where there is none; those up to the one that was `seen` before
    and those of a checkpoint, which readers read instead, are not looked at. A file system may keep
    the name of a file and not its content when power fails, and Delta's readers take an empty file
    for a commit that changed nothing: rows would be lost unnoticed (tests/unit/lake/test_files.py).

    Raises:
        LakeError: a file of the table's Delta log is empty.
    """
    log = table / "_delta_log"
    try:
        with os.scandir(log) as entries:
            names = [entry.name for entry in entries]
        commits = {name for name in names if name.endswith(".json")}
        if not commits:
            return None
        is_known = seen is not None and seen[0] in commits and _commit(log, seen[0]) == seen
        known = seen[0] if is_known and seen else _checkpoint(log, names)
        empty = sorted(name for name in commits if name > known and not _size(log, name))
        newest = _commit(log, max(commits))
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise LakeError(
            f"{table} is in the way of a table of the lake; move it elsewhere."
        ) from None
    if empty:
        cure = (
            "Remove it: the command that wrote it makes its rows again"
            if empty[0] == newest[0]
            else "Restore it"
        )
        raise LakeError(f"{log / empty[0]} is empty, as after a power failure. {cure}.")
    return newest


def commit_of(table: Path, version: int) -> Commit:
    """The commit of a version of a table of this machine's disk."""
    return _commit(table / "_delta_log", f"{version:020}.json")


def _commit(log: Path, name: str) -> Commit:
    found = (log / name).stat()
    return name, found.st_ino, found.st_mtime_ns


def _size(log: Path, name: str) -> int:
    return (log / name).stat().st_size


def _checkpoint(log: Path, names: Iterable[str]) -> str:
    """The last commit that is in a checkpoint of one file, "" where there is none."""
    found = (name for name in names if name.endswith(CHECKPOINT))
    last = max(found, default="")
    return last.replace(CHECKPOINT, ".json") if last and _size(log, last) else ""


def _source(name: str, present: set[str]) -> str:
    """A table in SQL: its name, or a subquery that adds the columns it lacks."""
    names = table_schema(name).names
    if present.issuperset(names):
        return name
    columns = (column if column in present else f"NULL AS {column}" for column in names)
    return f"(SELECT {', '.join(columns)} FROM {name})"


@cache
def _empty(name: str) -> "DeltaTable":
    """A table without rows; the query engine takes Delta tables only, so it lies in a folder."""
    from deltalake import DeltaTable, Schema

    folder = tempfile.TemporaryDirectory(prefix="empty-", dir=work_folder())
    _EMPTY_FOLDERS.append(folder)
    return DeltaTable.create(folder.name, schema=Schema.from_arrow(table_schema(name)))


_EMPTY_FOLDERS: list[Any] = []  # the folders of empty tables go when the process ends


def _copied(rows: pa.Table) -> pa.Table:
    """The rows in memory of their own: a column of an engine's batch keeps the whole batch."""
    return rows.take(pa.array(range(len(rows)), pa.int64()))


def without_views(table: pa.Table) -> pa.Table:
    """Plain strings in place of string views, which few Arrow kernels take."""
    schema = pa.schema([(field.name, _plain(field.type)) for field in table.schema])
    return table.cast(schema)


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _plain(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_plain(kind.key_type), _plain(kind.item_type))
    return kind


def open_reader(location: str, warehouse: "Warehouse | None" = None) -> Reader:
    """A reader of the lake at a folder, object-store URI or, by a SQL warehouse, `catalog.schema`.

    Raises:
        SetupError: A package is missing, or no warehouse is named for a `catalog.schema`.
        LakeError: There is no lake, or a newer package wrote it.
    """
    reader = _opened(location, warehouse)
    refuse_newer(reader.query(_NEWEST_SCHEMA).to_pylist()[0]["newest"])
    return reader


def _opened(location: str, warehouse: "Warehouse | None") -> Reader:
    if is_catalog(location):
        return _in_catalog(location, warehouse)
    _check_deltalake()
    if location.startswith(DBFS):  # Spark alone knows the scheme
        location = f"/dbfs/{location.removeprefix(DBFS)}"
    if not is_uri(location) and not Path(location).is_dir():
        raise LakeError(
            f"there is no lake at {location!r}; `medhelm-spark run --output-path {location}` "
            "makes one."
        )
    return FileReader(location)


def _in_catalog(location: str, warehouse: "Warehouse | None") -> Reader:
    # Not at the top: it is made of this module's parts.
    from medhelm_spark.lake.warehouse import WarehouseReader, connect

    if warehouse is None:
        raise SetupError(
            f"{location!r} names a catalog and schema, which are read through Spark or a SQL "
            "warehouse: name one by sql_warehouse in settings.yaml or by "
            "MEDHELM_SPARK_SQL_WAREHOUSE, or give the lake's folder or object-store URI."
        )
    return WarehouseReader(location, lambda: connect(warehouse))


def _check_deltalake() -> None:
    try:
        import deltalake  # noqa: F401 (only whether it is there)
    except ImportError as error:
        raise SetupError(
            "reading a lake without Spark needs the package deltalake: "
            "pip install 'medhelm-spark[local]'."
        ) from error
