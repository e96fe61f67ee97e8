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
_PINNED = "(SELECT {columns} FROM {{{table}}} WHERE {write_id} IN ({writes}))"


def release_reader(reader: Reader, members: Sequence[ReleaseMember]) -> Reader:
    """A reader that answers as of the release; the given one for a release without own rows."""
    reader = reader.lake if isinstance(reader, _ReleaseReader) else reader
    copies = {copy_of(member) for member in members}
    copy = copies.pop() if len(copies) == 1 else ""
    return _ReleaseReader(reader, members, copy) if copy else reader


class _ReleaseReader:
    """The lake's reader, with subqueries for the tables that a release pins."""

    def __init__(self, reader: Reader, members: Sequence[ReleaseMember], copy: str) -> None:
        self.lake, self.location = reader, reader.location
        self._sources = _Sources(_sources(members, copy))

    def query(self, sql: str, *, each: Part | None = None) -> pa.Table:
        """Answer SQL over the release's rows."""
        return self.lake.query(sql.format_map(self._sources), each=each)

    def rows(self, sql: str, row_type: type[Row]) -> list[Row]:
        """Answer SQL as rows of a dataclass."""
        return decode(self.query(sql), row_type)


class _Sources(dict[str, str]):
    """What stands for tables in SQL; a table that is not named stands for itself."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def _sources(members: Sequence[ReleaseMember], copy: str) -> dict[str, str]:
    pinned = [text.split() for member in members for text in (member.writes or {}).values()]
    writes = {write for each in pinned for write in each} | {row.stats_write_id for row in members}
    # The ledger says that the release's own rows are what score and summarize wrote.
    made_here = literals([SCORE.name, SUMMARIZE.name])
    own = f"CASE WHEN stage IN ({made_here}) THEN {literal(copy)} ELSE {WRITE_ID} END AS {WRITE_ID}"
    ledger = ", ".join(own if name == WRITE_ID else name for name in columns(TABLES["runs"]))
    given = {"write_id": WRITE_ID, "writes": literals(writes)}
    results = ", ".join(columns(TABLES["request_results"]))
    return {
        "runs": _PINNED.format(columns=ledger, table="runs", **given),
        "request_results": _PINNED.format(columns=results, table="request_results", **given),
        **{
            table: _COPY.format(
                columns=", ".join(columns(TABLES[table])),
                table=own_table,
                write_id=WRITE_ID,
                copy=literal(copy),
            )
            for table, own_table in ORIGINALS.items()
        },
    }
