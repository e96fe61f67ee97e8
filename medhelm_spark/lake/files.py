"""A lake's small tables without Spark's Delta: what the driver itself reads and appends.

A commit by Spark costs half a second and more, even for three rows, and a first read of a table's
log a tenth; a run has a score of both. Where the lake is a folder of the machine that runs driver
and executors alike, they go through delta-rs, which reads and writes the same tables in ten
milliseconds. Few rows that Spark computes take this way too, in both directions.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from medhelm_spark.errors import LakeError
from medhelm_spark.lake.condition import RowCondition, ScannedFiles, files_with
from medhelm_spark.lake.literals import between, literals
from medhelm_spark.lake.reader import FileReader, commit_of, refuse_empty_commits, table_schema
from medhelm_spark.lake.tables import (
    CHECKPOINT_INTERVAL,
    RESTORE,
    TABLES,
    WRITE_ID,
    properties,
)
from medhelm_spark.lake.threads import made_ahead

if TYPE_CHECKING:
    from deltalake import DeltaTable

ATTEMPTS = 20
FEW_TEXTS, FEW_ROWS = 500, 20_000
"""How many rows pass through the driver, with text and without: some ten MB."""

FEW_BYTES = 4 << 20
"""How large the files may be that the driver reads whole."""

PROBED_BYTES = 32 << 20
"""How large the files may be in which the driver looks whether few rows meet a condition."""

PROBE_BYTES = 1 << 16
"""How much free space an append finds before it begins."""


def is_few(name: str, rows: int) -> bool:
    """Whether so many rows of a table may pass through the driver."""
    return rows <= (FEW_TEXTS if TABLES[name].has_text else FEW_ROWS)


@dataclass(slots=True)
class _Lookup:
    """The files in which some ids were looked for, and the writes that have them."""

    files: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)


class FileTables(FileReader):
    """A lake in a folder of this machine, read and written by this process."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self._lookups: dict[tuple[str, str], _Lookup] = {}

    def few(self, name: str, where: RowCondition | None = None) -> pa.Table | None:
        """The rows of a table, or those that meet a condition, where few have to be read for them.

        None where more have to be; they have the columns that the table has. A table that does not
        exist has none.
        """
        table = self._open(name)
        where = where and self._narrowed(name, table, where)
        sql = _selecting(name, where)
        scanned = _scanned(table, where)
        rows = scanned.rows if scanned.size <= FEW_BYTES else None
        if rows is not None and is_few(name, rows):
            return self.query(sql, {name: table})
        if where is None or not (where.at_most is not None or scanned.size <= PROBED_BYTES):
            return None
        most = FEW_TEXTS if TABLES[name].has_text else FEW_ROWS
        found = self.query(f"{sql} LIMIT {most + 1}", {name: table})
        return found if is_few(name, found.num_rows) else None

    def read(
        self, name: str, where: RowCondition | None = None, only: Sequence[str] = ()
    ) -> pa.Table:
        """The rows of a table, or those that meet a condition, however many there are.

        With all columns where none is named.
        """
        table = self._open(name)
        where = where and self._narrowed(name, table, where)
        return self.query(_selecting(name, where, only), {name: table})

    def narrowed(self, name: str, where: RowCondition) -> RowCondition:
        """The condition with the writes that have such rows, where these are known to be few."""
        return self._narrowed(name, self._open(name), where)

    def _narrowed(self, name: str, table: "DeltaTable", where: RowCondition) -> RowCondition:
        """See `narrowed`: the ids are looked for once, and then in the files that came since."""
        if where.at_most is None:
            return where
        files = pa.table(table.get_add_actions(flatten=True))
        if not files.num_rows:
            return where
        indices = files_with(files, where.values)
        paths = files["path"].to_pylist()
        lookup = self._lookups.setdefault((name, where.sql), _Lookup())
        new = [index for index in indices if paths[index] not in lookup.files]
        if new:
            of_new = _single_writes(files, new) if lookup.files else None
            among = f"{WRITE_ID} IN ({literals(of_new)}) AND " if of_new else ""
            sql = f"SELECT DISTINCT {WRITE_ID} FROM {{{name}}} WHERE {among}({where.sql})"
            lookup.writes.update(self.query(sql, {name: table})[WRITE_ID].to_pylist())
            lookup.files.update(paths[index] for index in indices)
        wrote = f"{WRITE_ID} IN ({literals(lookup.writes)}) AND ({where.sql})"
        return RowCondition(
            sql=wrote if lookup.writes else "false",
            values={**where.values, WRITE_ID: lookup.writes},
            at_most=where.at_most,
        )

    def scanned(self, name: str, where: RowCondition | None = None) -> ScannedFiles:
        """The files with requested rows."""
        return _scanned(self._open(name), where)

    def takes(self, name: str, rows: int) -> bool:
        """Whether so many rows that Spark computed pass through the driver."""
        return is_few(name, rows)

    def lacks(self, name: str, write_ids: Iterable[str]) -> set[str]:
        """The writes that have no row in the table, by the statistics of Delta's files.

        None where a file of the table has no statistics.
        """
        table = self.existing(name)
        files = pa.table(table.get_add_actions(flatten=True)) if table else pa.table({})
        bounds = [f"{bound}.{WRITE_ID}" for bound in ("min", "max")]
        if files.num_rows and not set(bounds) <= set(files.column_names):
            return set()
        low, high = (files[bound].to_pylist() if files.num_rows else [] for bound in bounds)
        if None in low or None in high:
            return set()
        spans = sorted(set(zip(low, high, strict=True)))
        exact = {least for least, most in spans if least == most}
        wide = [(least, most) for least, most in spans if least != most]
        return {
            each
            for each in set(write_ids) - exact
            if not any(least <= each <= most for least, most in wide)
        }

    def append(self, name: str, rows: pa.Table, txn: tuple[str, int] | None = None) -> bool:
        """Append in one commit; False where `txn` (application id, version) was committed before.

        A commit that conflicts with another writer's is tried again: delta-rs itself retries
        commits without a conflict, and refuses one where the table's schema or this `txn` changed.
        """
        return self.append_stream(name, lambda: iter([rows]), txn)

    def append_stream(
        self, name: str, parts: Callable[[], Iterator[pa.Table]], txn: tuple[str, int] | None = None
    ) -> bool:
        """The same for rows that come part by part, anew where a commit is tried again."""
        from deltalake.exceptions import CommitFailedError

        self.ensure(name)
        self._refuse_full_disk()
        for _ in range(ATTEMPTS - 1):
            with suppress(CommitFailedError):
                return self._append_once(name, parts(), txn)
        return self._append_once(name, parts(), txn)

    def _append_once(
        self, name: str, parts: Iterator[pa.Table], txn: tuple[str, int] | None
    ) -> bool:
        from deltalake import (
            CommitProperties,
            PostCommitHookProperties,
            Transaction,
            write_deltalake,
        )

        table = self._taken(name)
        if txn and (table.transaction_version(txn[0]) or 0) >= txn[1]:
            return False
        schema, is_checkpoint = table_schema(name), not (table.version() + 1) % CHECKPOINT_INTERVAL
        # delta-rs asks for them in a thread of its own, where none of its tables can be opened.
        tables = made_ahead(part.cast(schema) for part in parts)
        batches = (batch for part in tables for batch in part.to_batches())
        write_deltalake(
            table,
            pa.RecordBatchReader.from_batches(schema, batches),
            mode="append",
            schema_mode="merge",
            commit_properties=CommitProperties(app_transactions=[Transaction(*txn)])
            if txn
            else None,
            # Spark's Delta looks for expired files of the log at a checkpoint only, too.
            post_commithook_properties=PostCommitHookProperties(
                cleanup_expired_logs=None if is_checkpoint else False
            ),
        )
        self._newest[name] = (commit_of(Path(self._folder(name)), table.version()), table)
        return True

    def _taken(self, name: str) -> "DeltaTable":
        """The newest version of a table, for one append; another one opens its own."""
        from deltalake import DeltaTable

        folder = Path(self._folder(name))
        commit, table = self._newest.pop(name, (None, None))
        with suppress(FileNotFoundError):
            if table and commit == commit_of(folder, table.version()):
                table.update_incremental()
                return table
        return DeltaTable(folder)

    def _refuse_full_disk(self) -> None:
        """Raise OSError where nothing can be written; delta-rs would print its own stack too."""
        with tempfile.TemporaryFile(dir=self.location) as probe:
            probe.write(bytes(PROBE_BYTES))

    def ensure(self, name: str) -> None:
        """Create a table that does not exist.

        It is created in a temporary folder and renamed, so that of two drivers one creates it: in
        delta-rs the slower one would commit its schema again, and fail the writers between.
        """
        from deltalake import DeltaTable, Schema

        folder = self._folder(name)
        seen, _ = self._newest.get(name, (None, None))
        if refuse_empty_commits(Path(folder), seen) or DeltaTable.is_deltatable(folder):
            return
        Path(self.location).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=self.location) as temporary:
            created = Path(temporary, name)
            schema = Schema.from_arrow(table_schema(name))
            DeltaTable.create(str(created), schema=schema, configuration=properties(TABLES[name]))
            try:
                created.rename(folder)
            except OSError as error:  # another driver's table is there, or something else
                if not DeltaTable.is_deltatable(folder):
                    raise LakeError(
                        f"{folder} is in the way of the lake's table {name!r}; move it elsewhere."
                    ) from error

    def version(self, name: str) -> int | None:
        """The table's newest version, None where it does not exist."""
        table = self.existing(name)
        return table.version() if table else None

    def restored(self, name: str) -> list[int]:
        """The versions at which a table was taken back to an earlier one; newest first."""
        table = self.existing(name)
        history = table.history() if table else []
        return [int(row["version"]) for row in history if row.get("operation") == RESTORE]

    def _folder(self, name: str) -> str:
        return f"{self.location.rstrip('/')}/{name}"


def _scanned(table: "DeltaTable", where: RowCondition | None) -> ScannedFiles:
    files = pa.table(table.get_add_actions(flatten=True))
    if not files.num_rows:
        return ScannedFiles(rows=0, size=0)
    indices = files_with(files, where.values if where else {})
    counts, sizes = (files[name].to_pylist() for name in ("num_records", "size_bytes"))
    known = [counts[index] for index in indices]
    return ScannedFiles(
        rows=None if None in known else sum(known), size=sum(sizes[index] for index in indices)
    )


def _selecting(name: str, where: RowCondition | None, only: Sequence[str] = ()) -> str:
    """The SQL of the requested rows; parts of a file are skipped by the least and largest values.

    The engine looks at them for few literals, and for a span.
    """
    selected = f"SELECT {', '.join(only) or '*'} FROM {{{name}}}"
    if where is None:
        return selected
    spans = (between(column, names) for column, names in where.values.items())
    return f"{selected} WHERE {' AND '.join([f'({where.sql})', *spans])}"


def _single_writes(files: pa.Table, indices: Iterable[int]) -> set[str] | None:
    """The writes of these files, where each has the rows of one; None where that is not known."""
    bounds = [f"{bound}.{WRITE_ID}" for bound in ("min", "max")]
    if not set(bounds) <= set(files.column_names):
        return None
    low, high = (files[bound].to_pylist() for bound in bounds)
    if any(low[index] is None or low[index] != high[index] for index in indices):
        return None
    return {low[index] for index in indices}
