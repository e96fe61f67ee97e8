"""Tombstones: the digests of rows whose text was purged, so that earlier manifests still verify.

A digest is no text; whoever has a text can see by its digest whether the lake had it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from medhelm_spark.domain.purge import Purge
from medhelm_spark.lake.rows import Frame, map_rows
from medhelm_spark.lake.tables import TABLES, WRITE_ID
from medhelm_spark.releases.manifest import FROZEN
from medhelm_spark.releases.tables import Tombstone
from medhelm_spark.releases.value_hash import row_digest
from medhelm_spark.releases.values import ROW_OF, tombstone_hashes
from medhelm_spark.stages.context import Context


@dataclass(frozen=True, slots=True)
class _MakeTombstones:
    """Computes the tombstone of each row; the executors call it."""

    purge: Purge
    table: str
    key: str
    purged: Callable[[Any, str], Any]
    has_write: bool

    def __call__(self, rows: Iterable[Any]) -> Iterator[Tombstone]:
        for row in rows:
            digest, after = row_digest(row), self.purged(row, self.purge.note)
            if (replaced_by := row_digest(after)) != digest:
                yield Tombstone(
                    purge_id=self.purge.purge_id,
                    table_name=self.table,
                    unit=getattr(row, self.key),
                    row_write_id=getattr(row, WRITE_ID) if self.has_write else "",
                    digest=digest,
                    replaced_by=replaced_by,
                )


def write_tombstones(ctx: Context, purge: Purge, table: str, rows: Frame, write_id: str) -> None:
    """Write the tombstones of a table's rows before their text is purged.

    Nothing is written of a table that no manifest covers.

    Args:
        ctx: the lake.
        purge: the purge.
        table: the table.
        rows: its rows, with their text.
        write_id: the id of the write; a write that is made twice is one.
    """
    purging = TABLES[table].purging
    if table not in FROZEN or purging is None:
        return
    named = [field.name for field in fields(ROW_OF[table])] if table in ROW_OF else [WRITE_ID]
    make = _MakeTombstones(purge, table, purging.by, purging.purged, WRITE_ID in named)
    tombstones = map_rows(rows, make, purging.row, Tombstone)
    ctx.lake.append("tombstones", tombstones, write_id, txn=(write_id, 1))


def hashes_of(ctx: Context, purge: Purge) -> dict[str, str]:
    """By table the hash of a purge's tombstones, for its record, which the chain covers."""
    if ctx.lake.version("tombstones") is None:
        return {}
    tables = (table for table in FROZEN if TABLES[table].purging)
    hashes = {table: tombstone_hashes(ctx.lake, table).get(purge.purge_id) for table in tables}
    return {table: digest for table, digest in hashes.items() if digest}
