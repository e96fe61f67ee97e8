"""Rows that were paid for, on their way into a table: whole, where nobody else writes.

Delta refuses a commit when another writer changed the table's schema, properties or protocol since
it began, and its rows are lost then. Asking takes minutes; so the answers of a round are written
apart first, and a commit that was refused is made again from there.

In a lake with a path it is a folder of Parquet files under `_staged`, in a catalog a table whose
name begins with `staged_`. What slots and the driver write by themselves is in a folder that all of
them see by one path: `_staged` of such a lake, else the folder that the settings name, if any. What
a killed driver left is found by `names`.
"""

from collections.abc import Callable
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from medhelm_spark.domain.ids import content_id
from medhelm_spark.lake.driver_files import DriverFiles, LocalFiles
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.rows import parsed
from medhelm_spark.lake.spark_tables import ABSENT, is_condition

FOLDER = "_staged"
PREFIX = "staged"
ORDER = "order"
"""Ends the name of staged rows that are requests, not answers."""


def staged_name(suite: str, holder: str, write_id: str) -> str:
    """What a driver's write for a suite is called while it is staged."""
    return "_".join((PREFIX, content_id(suite)[:12], content_id(holder)[:12], write_id))


def order_name(suite: str, holder: str, write_id: str) -> str:
    """What a driver's send order for a suite is called where Spark stages it."""
    return staged_name(suite, holder, write_id) + ORDER


def is_of(name: str, suite: str) -> bool:
    """Whether a staged name is of a suite."""
    return name.startswith(_prefix(suite))


def is_by(name: str, holder: str) -> bool:
    """Whether a staged name is of a driver."""
    return f"_{content_id(holder)[:12]}_" in name


def _prefix(suite: str) -> str:
    return f"{PREFIX}_{content_id(suite)[:12]}_"


def write_id_of(name: str) -> str:
    """The write id of a staged name."""
    return name.rpartition("_")[2]


class Staging:
    """The staged rows of a lake, by name."""

    def __init__(
        self,
        location: Location,
        files: DriverFiles | None,
        spark: Callable[[], SparkSession],
        named: str | None = None,
    ) -> None:
        self._location, self._files, self._spark = location, files, spark
        # Of several lakes each has its own.
        self._named = Path(named, content_id(location.name)[:12]) if named else None
        self.shared = self._named
        """The folder that slots and the driver see alike; None where there is none."""
        if isinstance(files, LocalFiles):
            self._named, self.shared = None, Path(location.name, FOLDER)

    @property
    def named_files(self) -> LocalFiles | None:
        """The files of the folder that the settings name for a lake that is none."""
        return LocalFiles(self._named) if self._named else None

    def location_of(self, name: str) -> str:
        """The folder, or the table."""
        if self._location.is_catalog:
            return self._location.table(name)
        return f"{self._location.name}/{FOLDER}/{name}"

    def write(self, name: str, rows: DataFrame) -> None:
        """Compute the rows, once, and keep them."""
        if self._location.is_catalog:
            rows.write.format("delta").saveAsTable(self.location_of(name))
        else:
            rows.write.parquet(self.location_of(name))

    def read(self, name: str, schema: str) -> DataFrame:
        """The rows; `schema` is their table's."""
        if self._location.is_catalog:
            return self._spark().read.table(self.location_of(name))
        return self._spark().read.schema(parsed(schema)).parquet(self.location_of(name))

    def names(self, suite: str | None = None) -> list[str]:
        """What is staged for a suite, or for all; nothing where Spark Connect shows no folders."""
        prefix = f"{PREFIX}_" if suite is None else _prefix(suite)
        named = self.named_files.names("") if self.named_files else []
        return sorted({*self._names(prefix), *(each for each in named if each.startswith(prefix))})

    def _names(self, prefix: str) -> list[str]:
        if self._location.is_catalog:
            schema = self._location.table(prefix).rpartition(".")[0]
            sql = f"SHOW TABLES IN {schema} LIKE '{prefix}*'"
            rows = self._spark().sql(sql).select("tableName").toArrow()
            names: list[str] = rows["tableName"].to_pylist()
            return names
        if self._files is None:
            return []
        return [name for name in self._files.names(FOLDER) if name.startswith(prefix)]

    def remove(self, name: str) -> None:
        """Remove the rows, if any; where Spark Connect removes no folder, an empty one stays."""
        if self.named_files and self.named_files.names(name):
            self.named_files.remove(name)
        elif self._location.is_catalog:
            self._spark().sql(f"DROP TABLE IF EXISTS {self.location_of(name)}")
        elif self._files is not None:
            self._files.remove(f"{FOLDER}/{name}")
        else:
            try:
                schema = self._spark().read.parquet(self.location_of(name)).schema
            except PySparkException as error:
                if is_condition(error, ABSENT):  # nothing was staged
                    return
                raise
            none = self._spark().createDataFrame([], schema)
            none.write.mode("overwrite").parquet(self.location_of(name))
