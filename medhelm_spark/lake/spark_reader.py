"""The Reader of a lake whose tables only Spark can open, such as a catalog's."""

from typing import TypeVar

import pyarrow as pa

from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.reader import decode
from medhelm_spark.lake.rows import plain_errors

Row = TypeVar("Row")


class SparkReader:
    """Answers a reader's SQL through the lake's SparkSession."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    @property
    def location(self) -> str:
        """The lake, as the user named it."""
        return self._lake.place.location

    def query(self, sql: str) -> pa.Table:
        """Answer SQL on the cluster and bring the result to the driver."""
        with plain_errors():
            found: pa.Table = self._lake.query(sql).toArrow()
        return found

    def rows(self, sql: str, row_type: type[Row]) -> list[Row]:
        """Answer SQL as rows of a dataclass."""
        return decode(self.query(sql), row_type)
