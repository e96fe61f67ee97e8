"""The maintenance of tables in a folder of this machine, by delta-rs: Spark need not start."""

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.in_process import LocalFrame
from medhelm_spark.lake.reader import as_schema, refuse_empty_commits, table_schema
from medhelm_spark.lake.rows import Frame, plain_errors
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
from medhelm_spark.lake.tables import STATISTICS
from medhelm_spark.operating_system import take_lock

if TYPE_CHECKING:
    from deltalake import DeltaTable

REWRITING = "_rewriting.lock"
"""The file in a lake's folder that is locked while files are rewritten."""

PARTIAL_FILE = f"{DATA_FILE}#*"
"""How the name of a data file ends that delta-rs writes; its vacuum passes over what a killed
process left of one."""

SECONDS_A_DAY = 86_400


class FolderMaintenance:
    """See Maintenance."""

    def __init__(self, tables: FileTables) -> None:
        self._tables = tables
        self._location = tables.location

    def exists(self, table: str) -> bool:
        return self._tables.existing(table) is not None

    def remove(self, table: str, condition: str) -> None:
        def once() -> None:
            with self._removable(table):
                self._open(table).delete(condition)

        retried(table, once, _is_conflict)

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

        retried(table, once, _is_conflict)

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

            retried(table, once, _is_conflict)

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
            self._open(table).optimize.z_order(order_of(table))

        def widen() -> None:
            opened = self._open(table)
            if opened.metadata().configuration.get(STATISTICS) != statistics_of(table):
                opened.alter.set_table_properties({STATISTICS: statistics_of(table)})

        with self._rewriting(wait=True):
            retried(table, widen, _is_conflict)
            retried(table, once, _is_conflict)

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
