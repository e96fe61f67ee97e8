"""A lake's small tables without Spark's Delta: what the driver itself reads and appends.

A commit by Spark costs half a second and more, even for three rows, and a first read of a table's
log a tenth; a run has a score of both. Where the lake is a folder of the machine that runs driver
and executors alike, they go through delta-rs, which reads and writes the same tables in ten
milliseconds. Few rows that Spark computes take this way too, in both directions.
"""

import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from medhelm_spark.errors import LakeError
from medhelm_spark.lake.reader import FileReader, refuse_empty_commits, table_schema
from medhelm_spark.lake.tables import RESTORE, TABLES, WRITE_ID, properties

ATTEMPTS = 20
FEW_TEXTS, FEW_ROWS = 500, 20_000
"""How many rows pass through the driver, with text and without: some ten MB."""

FEW_BYTES = 4 << 20
"""How large the files of a table may be that the driver reads whole."""

PROBE_BYTES = 1 << 16
"""How much free space an append finds before it begins."""


def is_few(name: str, rows: int) -> bool:
    """Whether so many rows of a table may pass through the driver."""
    return rows <= (FEW_TEXTS if TABLES[name].has_text else FEW_ROWS)


class FileTables(FileReader):
    """A lake in a folder of this machine, read and written by this process."""

    def few(self, name: str) -> pa.Table | None:
        """All rows of a table that has few, with the columns that it has; None of a larger one.

        One that does not exist has none.
        """
        table = self._open(name)
        files = pa.table(table.get_add_actions(flatten=True))
        counts = files["num_records"].to_pylist() if files.num_rows else []
        if None in counts or not is_few(name, sum(counts)):
            return None
        if sum(files["size_bytes"].to_pylist() if counts else []) > FEW_BYTES:
            return None
        return self.query(f"SELECT * FROM {{{name}}}", {name: table})

    def takes(self, name: str, rows: int) -> bool:
        """Whether so many rows that Spark computed pass through the driver."""
        return is_few(name, rows)

    def lacks(self, name: str, write_ids: Iterable[str]) -> set[str]:
        """The writes that have no row in the table, by the statistics of Delta's files.

        None where a file of the table has no statistics.
        """
        table = self._existing(name)
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
        from deltalake.exceptions import CommitFailedError

        self.ensure(name)
        self._refuse_full_disk()
        for _ in range(ATTEMPTS - 1):
            with suppress(CommitFailedError):
                return self._append_once(name, rows, txn)
        return self._append_once(name, rows, txn)

    def _append_once(self, name: str, rows: pa.Table, txn: tuple[str, int] | None) -> bool:
        from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

        table = DeltaTable(self._folder(name))
        if txn and (table.transaction_version(txn[0]) or 0) >= txn[1]:
            return False
        write_deltalake(
            table,
            rows.cast(table_schema(name)),
            mode="append",
            schema_mode="merge",
            commit_properties=CommitProperties(app_transactions=[Transaction(*txn)])
            if txn
            else None,
        )
        return True

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
        refuse_empty_commits(Path(folder))
        if DeltaTable.is_deltatable(folder):
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
        table = self._existing(name)
        return table.version() if table else None

    def restored(self, name: str) -> list[int]:
        """The versions at which a table was taken back to an earlier one; newest first."""
        table = self._existing(name)
        history = table.history() if table else []
        return [int(row["version"]) for row in history if row.get("operation") == RESTORE]

    def _folder(self, name: str) -> str:
        return f"{self.location.rstrip('/')}/{name}"
