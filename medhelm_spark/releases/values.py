"""The hashes of a release's values: the writes that it pins in each table, and their rows' hashes.

The executors hash the rows by the rules of `releases.value_hash`; only hashes reach the driver. A
member is a run of the release.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from medhelm_spark.domain.request import Annotation, PlannedRequest, Prompt, RequestResult
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.stats import PerInstanceStats
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.progress import Watch
from medhelm_spark.lake.rows import Frame, map_rows, rows_of
from medhelm_spark.lake.tables import TABLES, WRITE_ID
from medhelm_spark.releases.pinned import COPIES, Change, ReleaseRows, copy_of
from medhelm_spark.releases.value_hash import COMBINED, row_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuePin:
    """One write that added rows of a unit; a unit is a run or a data version."""

    unit: str
    write_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request(PlannedRequest):
    write_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Annotation(Annotation):
    write_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _PerInstanceStats(PerInstanceStats):
    write_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prompt(Prompt):
    write_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result(RequestResult):
    write_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Instance(Instance):
    write_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """How the rows of a table belong to a run or to its data."""

    row: type
    """The type of the rows, with their `write_id` where a unit's rows are told apart by it."""

    key: str
    """The column that names the run, the prompt, the request or the data version of a row."""


def _places(**keys: str) -> dict[str, _Place]:
    """The tables of groups of patients by their key column, where the feature is there."""
    return {
        name: _Place(row=TABLES[name].row, key=key) for name, key in keys.items() if name in TABLES
    }


OF_RUNS: Mapping[str, _Place] = {
    "requests": _Place(row=_Request, key="run_spec_id"),
    "annotations": _Place(row=_Annotation, key="run_spec_id"),
    "per_instance_stats": _Place(row=_PerInstanceStats, key="run_spec_id"),
    **_places(stats_by_group="run_spec_id"),
}
OF_REQUESTS: Mapping[str, _Place] = {
    "prompts": _Place(row=_Prompt, key="prompt_id"),
    "request_results": _Place(row=_Result, key="request_id"),
}
OF_DATA: Mapping[str, _Place] = {
    "instances": _Place(row=_Instance, key="data_version"),
    **_places(instance_groups="data_version"),
}

LATER = ("stats_by_group", "instance_groups")
"""The tables whose rows releases of earlier versions did not hash."""

ROW_TABLES = (*OF_RUNS, *OF_REQUESTS, *OF_DATA)
"""The tables from whose rows the numbers of a board and of its groups of patients come."""

ROW_OF: Mapping[str, type] = {
    table: place.row for table, place in {**OF_RUNS, **OF_REQUESTS, **OF_DATA}.items()
}
"""By table the type of the rows that are hashed."""

ORIGINAL, COPIED = "per_instance_stats", COPIES[1]
"""The lake's table of scores, and the table with a release's own copy of them."""

_PINNED = """
SELECT {columns} FROM {{{table}}} t
JOIN {{pins}} p ON p.unit = t.{key} AND p.write_id = t.write_id
"""
_ASKED = "SELECT DISTINCT run_spec_id, {key} FROM {{requests}}"
_WRITES = """
SELECT DISTINCT q.run_spec_id AS unit, t.write_id FROM ({asked}) q
JOIN {{{table}}} t ON t.{key} = q.{key}
"""
_OF_REQUESTS = """
SELECT t.* FROM {{{table}}} t
JOIN (SELECT DISTINCT q.{key}, p.write_id FROM ({asked}) q
      JOIN {{pins}} p ON p.unit = q.run_spec_id) k
  ON k.{key} = t.{key} AND k.write_id = t.write_id
"""
_AS_BEFORE = """
SELECT d.unit, d.write_id, coalesce(s.digest, d.digest) AS digest FROM {{digests}} d
LEFT JOIN (SELECT DISTINCT unit, row_write_id, digest, replaced_by FROM {{tombstones}}
           WHERE table_name = '{table}') s
  ON s.unit = d.unit AND s.row_write_id = d.write_id AND s.replaced_by = d.digest
"""
"""The digests of rows, of those whose text was purged the digest from before."""

_DIGESTS_OF_RUNS = """
SELECT q.run_spec_id AS unit, d.digest FROM ({asked}) q
JOIN {{digests}} d ON d.unit = q.{key}
JOIN {{pins}} p ON p.unit = q.run_spec_id AND p.write_id = d.write_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Digest:
    """The digest of one row, with the value of its key column (`unit`).

    `write_id` is empty of tables whose rows are hashed by unit alone.
    """

    unit: str
    write_id: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hash:
    """The hash of all rows of a unit."""

    unit: str
    digest: str


@dataclass(frozen=True, slots=True)
class _Digests:
    """Computes the digest of each row; the executors call it."""

    key: str

    def __call__(self, rows: Iterable[Any]) -> Iterator[_Digest]:
        for row in rows:
            write_id = getattr(row, WRITE_ID, "")
            yield _Digest(unit=getattr(row, self.key), write_id=write_id, digest=row_digest(row))


def data_versions(rows: ReleaseRows) -> dict[str, str]:
    """The data version of every member, by run_spec_id."""
    return {row.run_spec_id: row.run_spec.data_version for row in rows.planned.values()}


def pinned_rows(lake: Lake, table: str, pins: Iterable[ValuePin]) -> Frame:
    """The rows of the pinned writes in a table of OF_RUNS, with their `write_id`."""
    sql = _PINNED.format(columns="t.*", table=table, key=OF_RUNS[table].key)
    return lake.query(sql, pins=lake.frame(pins, ValuePin))


def copied_changes(lake: Lake, rows: ReleaseRows, watch: Watch) -> Iterator[Change]:
    """A Change for each member whose rows in the release's own copy of scores differ from before.

    A release that an earlier version of the package made has no such copy: it yields nothing.
    """
    writes = [write for write in map(copy_of, rows.members) if write]
    if not writes:
        return
    sql = f"SELECT * FROM {{{COPIED}}} WHERE write_id IN ({literals(writes)})"
    current = _combined(lake, _digests(lake.query(sql), OF_RUNS[ORIGINAL], watch))
    for member in rows.members:
        if (member.value_hashes or {}).get(ORIGINAL, "") != current.get(member.run_spec_id, ""):
            yield Change(table=COPIED, name=member.name)


def row_changes(lake: Lake, rows: ReleaseRows, watch: Watch) -> list[Change]:
    """A Change for each member and table of ROW_TABLES whose rows differ from those published."""
    held = {member.run_spec_id: member.value_hashes or {} for member in rows.members}
    current = member_hashes(lake, rows, watch)
    return [
        Change(table=table, name=member.name, is_gone=table not in current[member.run_spec_id])
        for member in rows.members
        for table in ROW_TABLES
        if table not in LATER or table in held[member.run_spec_id]
        if held[member.run_spec_id].get(table, "") != current[member.run_spec_id].get(table, "")
    ]


def member_hashes(lake: Lake, rows: ReleaseRows, watch: Watch) -> dict[str, dict[str, str]]:
    """The hash of the rows that a member pins, by run_spec_id and then by table."""
    versions = data_versions(rows)
    units = {
        member.run_spec_id: {
            table: versions.get(member.run_spec_id, "") if table in OF_DATA else member.run_spec_id
            for table in ROW_TABLES
        }
        for member in rows.members
    }
    pins = {
        table: sorted(
            {
                (units[member.run_spec_id][table], write_id)
                for member in rows.members
                for write_id in (member.writes or {}).get(table, "").split()
            }
        )
        for table in ROW_TABLES
    }
    hashes = row_hashes(
        lake,
        {
            table: [ValuePin(unit=unit, write_id=write_id) for unit, write_id in places]
            for table, places in pins.items()
        },
        watch,
    )
    return {
        run: {table: hashes[table][unit] for table, unit in of_run.items() if unit in hashes[table]}
        for run, of_run in units.items()
    }


def writes_of_requests(lake: Lake, requests: Sequence[ValuePin]) -> dict[str, list[ValuePin]]:
    """The writes that added the prompts and the results of the pinned requests, by table."""
    planned = _planned(lake, requests)
    writes = {}
    for table, place in OF_REQUESTS.items():
        asked = _ASKED.format(key=place.key)
        sql = _WRITES.format(asked=asked, table=table, key=place.key)
        writes[table] = rows_of(lake.query(sql, requests=planned), ValuePin)
    return writes


def row_hashes(
    lake: Lake, pins: Mapping[str, Sequence[ValuePin]], watch: Watch
) -> dict[str, dict[str, str]]:
    """The hash of each unit's pinned rows, by table and unit; a unit without rows is absent."""
    hashes = {}
    for table, place in {**OF_RUNS, **OF_DATA}.items():
        frame = lake.frame(pins.get(table, ()), ValuePin)
        sql = _PINNED.format(columns="t.*", table=table, key=place.key)
        rows = lake.query(sql, pins=frame)
        hashes[table] = _combined(lake, _as_before(lake, table, _digests(rows, place, watch)))
    planned = _planned(lake, pins.get("requests", ()))
    for table, place in OF_REQUESTS.items():
        frame = lake.frame(pins.get(table, ()), ValuePin)
        asked = _ASKED.format(key=place.key)
        names = {"asked": asked, "table": table, "key": place.key}
        rows = lake.query(_OF_REQUESTS.format(**names), requests=planned, pins=frame)
        of_runs = _DIGESTS_OF_RUNS.format(**names)
        hashed = _as_before(lake, table, _digests(rows, place, watch))
        digests = lake.query(of_runs, requests=planned, pins=frame, digests=hashed)
        hashes[table] = _combined(lake, digests)
    return hashes


def _planned(lake: Lake, pins: Sequence[ValuePin]) -> Frame:
    sql = _PINNED.format(columns="t.*", table="requests", key="run_spec_id")
    return lake.query(sql, pins=lake.frame(pins, ValuePin))


def _digests(rows: Frame, place: _Place, watch: Watch) -> Frame:
    return map_rows(rows, watch(_Digests(place.key)), place.row, _Digest)


def _as_before(lake: Lake, table: str, digests: Frame) -> Frame:
    """The digests that the rows had before their text was purged; Spark joins if any was."""
    if TABLES[table].purging is None or lake.version("tombstones") is None:
        return digests
    return lake.query(_AS_BEFORE.format(table=table), digests=digests)


def _combined(lake: Lake, digests: Frame) -> dict[str, str]:
    rows = rows_of(lake.query(COMBINED, digests=digests), _Hash)
    return {row.unit: row.digest for row in rows}
