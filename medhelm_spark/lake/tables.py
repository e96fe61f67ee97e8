"""The tables of a lake: what one is, and all that the package's rooms declare.

Each room declares its tables in its module `tables`; `docs/tables.md` is generated from all of
them. The Delta properties keep clinical text out of the log (statistics would copy its first
characters there) and every table readable without a JVM.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cached_property
from typing import Any

from medhelm_spark import features
from medhelm_spark.errors import NewerLakeError

SCHEMA_VERSION = 1
WRITE_ID = "write_id"
STATISTICS = "delta.dataSkippingStatsColumns"
CHECKPOINT_INTERVAL = 50
"""Commits from one checkpoint of a table's log to the next."""

RESTORE = "RESTORE"
"""The operation of Delta's history by which an earlier version comes back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Purging:
    """How the text of a scenario is removed from a table."""

    by: str
    """The column that ties a row to the scenario, to a run of it or to what such a run asked."""

    row: type
    """The table's row with its `write_id`."""

    purged: Callable[[Any, str], Any]
    """The row with a note in the place of each text; None where the row is removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One Delta table; `indexed` are the columns whose statistics may be in the log.

    They are those that a reader narrows by and that are alike within a file: the smallest and
    largest of random ids would exclude nothing, and cost a comparison per row. `sorted_by` are the
    columns in whose order `optimize` brings the rows, which makes ids alike within a file too; by
    default `indexed` and the write. `level` is, in SQL, the access level of a row with text, and
    `purging` says how text, or a value of the data as a group's name, is removed.
    """

    name: str
    row: type
    key: tuple[str, ...]
    indexed: tuple[str, ...]
    has_text: bool = False
    level: str = "access_level"
    sorted_by: tuple[str, ...] = ()
    purging: Purging | None = None
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Row of `leases`: a driver's claim to ask one deployment for one suite until `expires_at`.

    Of lakes in a catalog, or through Spark Connect; others keep leases as files in `_leases`.

    `version` counts the suite's lease commits; two drivers cannot commit the same one. A released
    claim is a row whose `expires_at` is its `claimed_at`.
    """

    suite: str
    version: int
    model_deployment: str
    holder: str
    claimed_at: datetime
    expires_at: datetime


class _Tables(Mapping[str, Table]):
    """Every table by name, looked for when one is first used: rooms import this module."""

    @cached_property
    def _by_name(self) -> dict[str, Table]:
        declared = [table for module in features.parts("tables") for table in module.TABLES]
        return {table.name: table for table in (*declared, _LEASES)}

    def __getitem__(self, name: str) -> Table:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


_LEASES = Table(
    name="leases",
    row=Lease,
    key=("suite", "version", "model_deployment"),
    indexed=("suite", "version"),
    description="Which driver may infer for a suite's deployment, until when.",
)

TABLES: Mapping[str, Table] = _Tables()


def columns(table: Table) -> tuple[str, ...]:
    """A table's columns: its row's fields and `write_id` (which `runs` has as a field)."""
    names = tuple(field.name for field in fields(table.row))
    return names if WRITE_ID in names else (*names, WRITE_ID)


def properties(table: Table) -> dict[str, str]:
    """Delta table properties, set when the table is created.

    Every table is append-only, and Delta itself refuses to change or delete a row of it: whoever
    wants to has to take the property away first, in a commit that the table's history keeps.
    """
    return {
        STATISTICS: ",".join((*table.indexed, WRITE_ID)),
        "delta.appendOnly": "true",
        "delta.enableDeletionVectors": "false",
        "delta.checkpointPolicy": "classic",
        "delta.checkpointInterval": str(CHECKPOINT_INTERVAL),
        "delta.setTransactionRetentionDuration": "interval 3650 days",
        "delta.autoOptimize.optimizeWrite": "false",
    }


def refuse_newer(version: int | None, what: str = "the lake") -> None:
    """Raise NewerLakeError for what was written by a newer schema than this package reads."""
    if version is not None and version > SCHEMA_VERSION:
        raise NewerLakeError(
            f"{what} was written with schema version {version}; this package reads up to "
            f"{SCHEMA_VERSION}. Install a newer medhelm-spark."
        )
