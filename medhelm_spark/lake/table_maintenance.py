"""Removing rows, rewriting small files and deleting old ones: what no stage ever does to a table.

Every table is append-only by a property of its own, which Delta enforces. `remove` and `replace`
take it away in one commit, write in a second and put it back in a third; all three are in the
table's history.
Rewriting rows into fewer files changes none and needs no such thing. Another writer's commit
between may make one of ours conflict: it is then tried again, and appends of others are as well.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol, TypeVar

from medhelm_spark.errors import LakeError
from medhelm_spark.lake.rows import Frame
from medhelm_spark.lake.tables import STATISTICS, TABLES, WRITE_ID, properties

APPEND_ONLY = "delta.appendOnly"
ATTEMPTS = 8
DATA_FILE = ".parquet"

FEW_FILES = 8
LARGE_FILE = 64 << 20
"""A table of fewer files, or whose files have so many bytes on average, is left as it is."""

MANY_SMALL_FILES = 200
SMALL_FILE = 1 << 20
MERGED_FILE = 8 << 20
"""At the end of a run a table of more than so many files, each smaller than `SMALL_FILE` bytes, has
its files below `MERGED_FILE` bytes merged up to that; larger ones are not read for it."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The number of files of a table's newest version, and their bytes.

    `small` are those of less than `SMALL_FILE` bytes; all or none, by their mean, where Spark
    counts.
    """

    count: int
    size: int
    small: int = 0

    @property
    def are_small(self) -> bool:
        """Whether they are many and small."""
        return self.count >= FEW_FILES and self.size < self.count * LARGE_FILE


class Maintenance(Protocol):
    """What is done to tables beside reading and appending."""

    def exists(self, table: str) -> bool:
        """Whether there is such a table."""

    def remove(self, table: str, condition: str) -> None:
        """Delete the rows that meet a condition, in SQL alike in Spark and DataFusion.

        Raises:
            LakeError: Other writers kept changing the table.
        """

    def replace(self, table: str, condition: str, rows: Frame) -> None:
        """Replace the rows that meet a condition by these rows, in one commit.

        The rows have the table's columns, `write_id` among them, and meet the condition.

        Raises:
            LakeError: Other writers kept changing the table.
        """

    def forget(self, table: str, column: str, values: Collection[str], *, dry_run: bool) -> int:
        """Delete the files that the newest version does not have and that have one of these values.

        Earlier versions with such a file cannot be read any more. A file that cannot be read is
        what a killed writer left, and is deleted too. In a catalog, whose files nobody lists, it is
        all files of earlier versions.

        Returns:
            How many files; Spark counts a thousand at most in a catalog.
        """

    def files(self, table: str) -> Files:
        """The table's files."""

    def rewrite(self, table: str) -> None:
        """Rewrite the table's rows into few files, those that are read together beside each other.

        Readers narrow by the columns in whose order the files then are (`Table.indexed`, and the
        write), so that they still open few of them.

        Raises:
            LakeError: Other writers kept changing the table.
        """

    def merge(self, table: str) -> bool:
        """Merge the table's small files; false where another process rewrites files.

        Rows that are appended meanwhile stay, and earlier versions stay readable.
        """

    def vacuum(self, table: str, days: int, *, dry_run: bool) -> int:
        """Delete files that no version of the last `days` days has; returns how many.

        Spark counts a thousand at most.
        """


def order_of(table: str) -> list[str]:
    """The columns in whose order the rows of a rewritten table are."""
    return [*(TABLES[table].sorted_by or (*TABLES[table].indexed, WRITE_ID))]


def statistics_of(table: str) -> str:
    """The columns that files' statistics are of; an older table has fewer."""
    return properties(TABLES[table])[STATISTICS]


def retried(table: str, action: Callable[[], T], is_conflict: Callable[[Exception], bool]) -> T:
    """Act again after another writer's commit.

    Raises:
        LakeError: Other writers kept changing the table.
    """
    for attempt in range(ATTEMPTS):
        try:
            return action()
        except Exception as error:  # Delta's conflicts reach Python as the JVM's own
            if not is_conflict(error):
                raise
            time.sleep(0.1 * 2**attempt)
    raise LakeError(
        f"table {table!r}: others wrote it at each of {ATTEMPTS} tries; run the same command "
        "again later."
    )
