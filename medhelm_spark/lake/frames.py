"""What a lake is read and written by: the driver's own tables, and the rows of stages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from medhelm_spark.lake.condition import RowCondition, ScannedFiles
from medhelm_spark.lake.in_process import LocalStream
from medhelm_spark.lake.rows import Frame

Row = TypeVar("Row")


class Tables(Protocol):
    """What the driver itself reads from a lake's tables and appends to them."""

    def rows(self, sql: str, row_type: type[Row]) -> list[Row]:
        """The answer to SQL whose `{name}` placeholders are tables of the lake."""

    def few(self, name: str, where: RowCondition | None = None) -> pa.Table | None:
        """The requested rows if they are few, none of an absent table; None where Spark reads."""

    def narrowed(self, name: str, where: RowCondition) -> RowCondition:
        """The condition with the writes that have such rows, where these are known to be few."""

    def scanned(self, name: str, where: RowCondition | None = None) -> ScannedFiles | None:
        """The files with requested rows; None where the files are not listed."""

    def takes(self, name: str, rows: int) -> bool:
        """Whether so many rows that Spark computed are appended by the driver."""

    def append(self, name: str, rows: pa.Table, txn: tuple[str, int] | None = None) -> bool:
        """Append in one commit; False where `txn` was committed before."""

    def ensure(self, name: str) -> None:
        """Create a table that does not exist."""

    def version(self, name: str) -> int | None:
        """The table's newest version, None where it does not exist."""

    def lacks(self, name: str, write_ids: Iterable[str]) -> set[str]:
        """The writes that have no row in the table, where its files show it."""

    def restored(self, name: str) -> list[int]:
        """The versions at which a table was taken back to an earlier one."""


class Frames(Protocol):
    """What computes the rows of stages: Spark, or this process where they are few."""

    def read(self, table: str, where: RowCondition | None, only: Sequence[str]) -> Frame:
        """A table's rows, all or those that meet a condition, with these columns at least.

        With all columns where none is named.
        """

    def query(self, sql: str, frames: Mapping[str, Any]) -> Frame:
        """The answer to SQL whose `{name}` placeholders are these frames."""

    def streamed(self, sql: str) -> Frame | LocalStream:
        """The answer to SQL whose `{name}` placeholders are the lake's tables, never all at once.

        The SQL is what Spark and DataFusion have in common.
        """

    def numbers(self, count: int) -> Frame:
        """The numbers from 0 on as the column `number`, each in a partition of its own."""

    def from_rows(self, rows: pa.Table, row_type: type) -> Frame:
        """Rows of the driver as a frame."""

    def append(
        self,
        table: str,
        df: Any,
        write_id: str,
        *,
        txn: tuple[str, int] | None,
        at_most: int | None,
    ) -> bool:
        """Append a frame in one commit; False where `txn` was committed before."""
