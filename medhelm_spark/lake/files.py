"""A lake's small tables without Spark: what the driver itself notes and asks for.

A Spark job costs half a second and more, even for three rows; a run has a dozen such reads and
commits. Where the lake is a folder of the machine that runs driver and executors alike, they go
through delta-rs, which reads and writes the same tables in ten milliseconds.
"""

import os
from collections.abc import Mapping

import pyarrow as pa

from medhelm_spark.lake.place import Place
from medhelm_spark.lake.reader import FileReader, table_schema
from medhelm_spark.lake.tables import TABLES, properties

# Where a bare path is not this machine's disk but a mount without hard links, or a cluster's.
ELSEWHERE = ("DATABRICKS_RUNTIME_VERSION", "HADOOP_CONF_DIR", "YARN_CONF_DIR")


def is_at_hand(place: Place, spark_master: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether this process sees the lake's files as Spark does: local master, local folder."""
    return (
        spark_master.startswith("local")
        and not place.is_catalog
        and "://" not in place.location
        and not any(name in environ for name in ELSEWHERE)
    )


class FileTables(FileReader):
    """A lake in a folder of this machine, read and written by this process."""

    def append(self, name: str, rows: pa.Table, txn: tuple[str, int] | None = None) -> bool:
        """Append in one commit; False where `txn` (application id, version) was committed before.

        Two processes that commit the same version at once are told apart by Delta's own conflict
        check; both creating a table is none.
        """
        from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
        from deltalake.exceptions import CommitFailedError

        self.ensure(name)
        table = DeltaTable(self._folder(name))
        if txn and (table.transaction_version(txn[0]) or 0) >= txn[1]:
            return False
        own = CommitProperties(app_transactions=[Transaction(*txn)]) if txn else None
        try:
            write_deltalake(
                table,
                rows.cast(table_schema(name)),
                mode="append",
                schema_mode="merge",
                commit_properties=own,
            )
        except CommitFailedError:
            if txn:
                return False
            raise
        return True

    def ensure(self, name: str) -> None:
        """Create a table that does not exist."""
        from deltalake import DeltaTable, Schema
        from deltalake.exceptions import CommitFailedError

        folder = self._folder(name)
        if DeltaTable.is_deltatable(folder):
            return
        try:
            DeltaTable.create(
                folder,
                schema=Schema.from_arrow(table_schema(name)),
                mode="ignore",
                configuration=properties(TABLES[name]),
            )
        except CommitFailedError:  # another driver has just created it
            if not DeltaTable.is_deltatable(folder):
                raise

    def version(self, name: str) -> int | None:
        """The table's newest version, None where it does not exist."""
        from deltalake import DeltaTable

        folder = self._folder(name)
        return DeltaTable(folder).version() if DeltaTable.is_deltatable(folder) else None

    def _folder(self, name: str) -> str:
        return f"{self.location.rstrip('/')}/{name}"
