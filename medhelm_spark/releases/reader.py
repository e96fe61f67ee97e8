"""A lake as a release froze it: the release's own rows in place of the current ones.

Boards, pairs and answers of a release are then made by the same SQL as those of a suite.
"""

from collections.abc import Sequence
from typing import TypeVar

import pyarrow as pa

from medhelm_spark.domain.stages import SCORE, SUMMARIZE
from medhelm_spark.lake.literals import literal, literals
from medhelm_spark.lake.reader import Part, Reader, decode
from medhelm_spark.lake.tables import TABLES, WRITE_ID, columns
from medhelm_spark.releases.pinned import COPIES, copy_of
from medhelm_spark.releases.tables import ReleaseMember

Row = TypeVar("Row")

ORIGINALS = dict(zip(("stats", "per_instance_stats"), COPIES, strict=True))
"""By table of the lake, the table of a release's own rows."""

_COPY = "(SELECT {columns} FROM {{{table}}} WHERE {write_id} = {copy})"
_COPY_AND_BESIDE = """(SELECT {columns} FROM {{{table}}} WHERE {write_id} = {copy} UNION ALL
SELECT {columns} FROM {{{original}}} WHERE {is_beside})"""
_PINNED = "(SELECT {columns} FROM {{{table}}} WHERE {write_id} IN ({writes}))"
_PINNED_AND_BESIDE = """(SELECT {columns} FROM {{{table}}}
WHERE {write_id} IN ({writes}) OR {is_beside})"""


def release_reader(
    reader: Reader, members: Sequence[ReleaseMember], beside: Sequence[str] = ()
) -> Reader:
    """A reader that answers as of the release; the lake's for a release without rows of its own.

    Args:
        reader: the lake's.
        members: the rows of the release.
        beside: other RunSpecs and data versions, of which the reader has the current rows.
    """
    reader = reader.lake if isinstance(reader, _ReleaseReader) else reader
    copies = {copy_of(member) for member in members}
    copy = copies.pop() if len(copies) == 1 else ""
    return _ReleaseReader(reader, members, copy, beside) if copy else reader


class _ReleaseReader:
    """The lake's reader, with subqueries for the tables that a release pins."""

    def __init__(
        self, reader: Reader, members: Sequence[ReleaseMember], copy: str, beside: Sequence[str]
    ) -> None:
        self.lake, self.location = reader, reader.location
        self._sources = _Sources(_sources(members, copy, beside))

    def query(self, sql: str, *, each: Part | None = None) -> pa.Table:
        """Answer SQL over the release's rows."""
        return self.lake.query(sql.format_map(self._sources), each=each)

    def rows(self, sql: str, row_type: type[Row]) -> list[Row]:
        """Answer SQL as rows of a dataclass."""
        return decode(self.query(sql), row_type)


class _Sources(dict[str, str]):
    """The SQL in place of a table's name; a table without an entry keeps its name."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def _sources(members: Sequence[ReleaseMember], copy: str, beside: Sequence[str]) -> dict[str, str]:
    pinned = [text.split() for member in members for text in (member.writes or {}).values()]
    writes = {write for each in pinned for write in each} | {row.stats_write_id for row in members}
    # The ledger says that the release's own rows are what score and summarize wrote.
    made_here = f"stage IN ({literals([SCORE.name, SUMMARIZE.name])})"
    if beside:
        made_here += f" AND unit_id NOT IN ({literals(beside)})"
    own = f"CASE WHEN {made_here} THEN {literal(copy)} ELSE {WRITE_ID} END AS {WRITE_ID}"
    ledger = ", ".join(own if name == WRITE_ID else name for name in columns(TABLES["runs"]))
    arguments = {"write_id": WRITE_ID, "writes": literals(writes)}
    results = ", ".join(columns(TABLES["request_results"]))
    records, copies = (_PINNED_AND_BESIDE, _COPY_AND_BESIDE) if beside else (_PINNED, _COPY)
    units = literals(beside)
    return {
        "runs": records.format(
            columns=ledger, table="runs", is_beside=f"unit_id IN ({units})", **arguments
        ),
        "request_results": _PINNED.format(columns=results, table="request_results", **arguments),
        **{
            table: copies.format(
                columns=", ".join(columns(TABLES[table])),
                table=own_table,
                original=table,
                write_id=WRITE_ID,
                copy=literal(copy),
                is_beside=f"run_spec_id IN ({units})",
            )
            for table, own_table in ORIGINALS.items()
        },
    }
