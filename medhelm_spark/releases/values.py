"""The hashes of a release's values: the writes that it pins in each table, and their rows' hashes.

The executors hash the rows by the rules of `releases.value_hash`; only hashes reach the driver. A
member is a run of the release.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby, repeat
from operator import attrgetter

import pyarrow as pa

from medhelm_spark.domain.request import Annotation, PlannedRequest, Prompt, RequestResult
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.domain.stats import PerInstanceStats
from medhelm_spark.lake.columnar import arrow_schema
from medhelm_spark.lake.condition import RowCondition, of_writes
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.literals import literal, literals
from medhelm_spark.lake.progress import Rows, Watch
from medhelm_spark.lake.rows import Frame, map_batches, map_rows, rows_of, sorted_rows, united
from medhelm_spark.lake.tables import TABLES, WRITE_ID
from medhelm_spark.lake.threads import in_threads
from medhelm_spark.operating_system import usable_cpus
from medhelm_spark.releases.parts import parts_of
from medhelm_spark.releases.pinned import COPIES, Change, ReleaseRows, copy_of, recorded_purges
from medhelm_spark.releases.tables import ReleaseMember, Tombstone
from medhelm_spark.releases.value_hash import DIGITS, batch_digests, hash_of_digests


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
class _RowKind:
    """The type of a table's rows, and how they belong to a run or to its data."""

    row: type
    """The type of the rows, with their `write_id` where a unit's rows differ in it."""

    key: str
    """The column that names the run, the prompt, the request or the data version of a row."""


def _group_kinds(**keys: str) -> dict[str, _RowKind]:
    """The tables of groups of patients by their key column, where the feature is there."""
    return {
        name: _RowKind(row=TABLES[name].row, key=key)
        for name, key in keys.items()
        if name in TABLES
    }


OF_RUNS: Mapping[str, _RowKind] = {
    "requests": _RowKind(row=_Request, key="run_spec_id"),
    "annotations": _RowKind(row=_Annotation, key="run_spec_id"),
    "per_instance_stats": _RowKind(row=_PerInstanceStats, key="run_spec_id"),
    **_group_kinds(stats_by_group="run_spec_id"),
}
OF_REQUESTS: Mapping[str, _RowKind] = {
    "prompts": _RowKind(row=_Prompt, key="prompt_id"),
    "request_results": _RowKind(row=_Result, key="request_id"),
}
OF_DATA: Mapping[str, _RowKind] = {
    "instances": _RowKind(row=_Instance, key="data_version"),
    **_group_kinds(instance_groups="data_version"),
}

LATER = ("stats_by_group", "instance_groups")
"""The tables whose rows releases of earlier versions did not hash."""

ROW_TABLES = (*OF_RUNS, *OF_REQUESTS, *OF_DATA)
"""The tables from whose rows the numbers of a board and of its groups of patients come."""

ROW_OF: Mapping[str, type] = {
    table: row_kind.row for table, row_kind in {**OF_RUNS, **OF_REQUESTS, **OF_DATA}.items()
}
"""By table the type of the rows that are hashed."""

ORIGINAL, COPIED = "per_instance_stats", COPIES[1]
"""The lake's table of scores, and the table with a release's own copy of them."""

_ASKED = "{key} IN (SELECT {key} FROM {{requests}} WHERE {pinned})"
_BY_RUN = """
SELECT q.run_spec_id AS unit, d.write_id,
       array_join(collect_list(d.digests), '') AS digests, '' AS replaced_by
FROM {{digests}} d JOIN (SELECT DISTINCT run_spec_id, {key} FROM {{requests}}) q ON q.{key} = d.unit
GROUP BY q.run_spec_id, d.write_id
"""
_TOMBSTONES = """
SELECT DISTINCT unit, row_write_id AS write_id, digest AS digests, replaced_by FROM {{tombstones}}
WHERE table_name = '{table}' AND purge_id IN ({purges})
"""
_TOMBSTONES_OF_REQUESTS = """
SELECT q.run_spec_id AS unit, s.write_id, s.digests, s.replaced_by FROM ({tombstones}) s
JOIN (SELECT DISTINCT run_spec_id, {key} FROM {{requests}}) q ON q.{key} = s.unit
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Digests:
    """The digests of the rows of a unit and a write, concatenated: millions of rows become few.

    `write_id` is empty of tables whose rows are hashed by unit alone. With `replaced_by` it is a
    tombstone: the digest that a row had before its text was purged, in place of the one it has now.
    """

    unit: str
    write_id: str
    digests: str
    replaced_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsHash:
    """The hash of all rows of a unit, and their writes, of tables whose rows name theirs."""

    unit: str
    digest: str
    writes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _HashRows:
    """Computes the digests of rows, those of a batch together; the executors call it."""

    kind: type
    """The row type whose fields are hashed."""

    key: str
    """The column that names a row's unit, or the prompt or request that units ask."""

    counted: Rows
    """Counts the rows and passes them on unchanged."""

    threads: int = 1
    """How many batches are hashed at once."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from in_threads(self._hashed, self.counted(batches), self.threads)

    def _hashed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        names, groups = batch.schema.names, dict[tuple[str, str], list[str]]()
        writes = batch[WRITE_ID].to_pylist() if WRITE_ID in names else repeat("", batch.num_rows)
        units, digests = batch[self.key].to_pylist(), batch_digests(self.kind, batch)
        for unit, write_id, digest in zip(units, writes, digests, strict=True):
            groups.setdefault((unit, write_id), []).append(digest)
        joined = list(map("".join, groups.values()))
        columns = [*zip(*groups, strict=True), joined, [""] * len(groups)] if groups else [[]] * 4
        schema = arrow_schema(_Digests)
        arrays = [pa.array(column, pa.string()) for column in columns]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


def data_versions(rows: ReleaseRows) -> dict[str, str]:
    """The data version of every member, by run_spec_id."""
    return {row.run_spec_id: row.run_spec.data_version for row in rows.planned.values()}


def pinned(table: str, pins: Iterable[ValuePin]) -> RowCondition:
    """The rows of the pinned writes in a table of OF_RUNS or OF_DATA."""
    key = {**OF_RUNS, **OF_DATA}[table].key
    return of_writes(key, ((pin.write_id, pin.unit) for pin in pins))


def copied_changes(lake: Lake, rows: ReleaseRows, watch: Watch) -> Iterator[Change]:
    """A Change for each member whose rows in the release's own copy of scores differ from before.

    A release that an earlier version of the package made has no such copy: it yields nothing.
    """
    writes = [write for write in map(copy_of, rows.members) if write]
    if not writes:
        return
    where = f"write_id IN ({literals(writes)})"
    current = _combined(_digests(lake, ORIGINAL, where, watch, COPIED))
    for member in rows.members:
        now = current.get(member.run_spec_id)
        if (member.value_hashes or {}).get(ORIGINAL, "") != (now.digest if now else ""):
            yield Change(table=COPIED, name=member.name)


def row_changes(lake: Lake, rows: ReleaseRows, watch: Watch) -> list[Change]:
    """A Change for each member and table of ROW_TABLES whose rows differ from those published."""
    published = {member.run_spec_id: member.value_hashes or {} for member in rows.members}
    current = member_hashes(lake, rows, watch)
    return [
        Change(table=table, name=member.name, is_gone=table not in current[member.run_spec_id])
        for member in rows.members
        for table in ROW_TABLES
        if table not in LATER or table in published[member.run_spec_id]
        if published[member.run_spec_id].get(table, "")
        != current[member.run_spec_id].get(table, "")
    ]


def member_hashes(lake: Lake, rows: ReleaseRows, watch: Watch) -> dict[str, dict[str, str]]:
    """The hash of the rows that a member pins, by run_spec_id and then by table."""
    pins: dict[str, set[tuple[str, str]]] = {table: set() for table in ROW_TABLES}
    for member, units in _units(rows):
        for table, unit in units.items():
            writes = (member.writes or {}).get(table, "").split()
            pins[table].update((unit, write_id) for write_id in writes)
    pinned = {
        table: [ValuePin(unit=unit, write_id=write_id) for unit, write_id in sorted(pairs)]
        for table, pairs in pins.items()
    }
    return by_member(rows, row_hashes(lake, pinned, watch))


def by_member(
    rows: ReleaseRows, hashes: Mapping[str, Mapping[str, RowsHash]]
) -> dict[str, dict[str, str]]:
    """The hashes of rows by run_spec_id and then by table, from those by table and unit."""
    return {
        member.run_spec_id: {
            table: hashes[table][unit].digest
            for table, unit in units.items()
            if unit in hashes[table]
        }
        for member, units in _units(rows)
    }


def _units(rows: ReleaseRows) -> Iterator[tuple[ReleaseMember, dict[str, str]]]:
    """Every member with the unit of its rows in each table."""
    versions = data_versions(rows)
    for member in rows.members:
        run = member.run_spec_id
        yield (
            member,
            {table: versions.get(run, "") if table in OF_DATA else run for table in ROW_TABLES},
        )


def row_hashes(
    lake: Lake, pins: Mapping[str, Sequence[ValuePin]], watch: Watch
) -> dict[str, dict[str, RowsHash]]:
    """The hash of each unit's pinned rows, by table and unit; a unit without rows is absent.

    Args:
        lake: where the rows are.
        pins: by table the writes of each unit. Of a table of OF_REQUESTS that is not there the rows
            of all writes count.
        watch: prints how many rows were hashed.
    """
    hashes = {}
    for table in (*OF_RUNS, *OF_DATA):
        of_table = pinned(table, pins.get(table, ())).sql
        digests = _digests(lake, table, of_table, watch)
        hashes[table] = _combined(_with_tombstones(lake, table, digests))
    of_runs = pins.get("requests", ())
    for table, row_kind in OF_REQUESTS.items():
        where = _ASKED.format(key=row_kind.key, pinned=pinned("requests", of_runs).sql)
        digests, by_run = _digests(lake, table, where, watch), _BY_RUN.format(key=row_kind.key)
        hashes[table] = {}
        for units in parts_of(lake, "requests", {pin.unit for pin in of_runs}):
            of_part = pinned("requests", (pin for pin in of_runs if pin.unit in units))
            requests = lake.read("requests", of_part)
            of_units = lake.query(by_run, digests=digests, requests=requests)
            with_tombstones = _with_tombstones(lake, table, of_units, requests)
            hashes[table] |= _combined(with_tombstones, pins.get(table))
    return hashes


def _digests(lake: Lake, table: str, where: str, watch: Watch, copy: str = "") -> Frame:
    """The digests of a table's rows, by write and by unit or by what units ask.

    Args:
        lake: where the rows are.
        table: whose rows they are.
        where: which rows, in SQL.
        watch: shows how many rows were hashed.
        copy: the table that is read, where that is another one.
    """
    row_kind = {**OF_RUNS, **OF_REQUESTS, **OF_DATA}[table]
    columns = ", ".join(field.name for field in fields(row_kind.row))
    rows = lake.streamed(f"SELECT {columns} FROM {{{copy or table}}} WHERE {where}")
    threads = usable_cpus() if lake.is_in_process else 1
    hash_rows = _HashRows(TABLES[table].row, row_kind.key, watch(_as_they_are), threads)
    return map_batches(rows, hash_rows, row_kind.row, _Digests)


def _as_they_are(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    return batches


def _with_tombstones(
    lake: Lake, table: str, digests: Frame, requests: Frame | None = None
) -> Frame:
    """The digests, and tombstones of the rows whose text was purged, of a lake that has any.

    Args:
        lake: where the tombstones are.
        table: whose rows were hashed.
        digests: of its rows.
        requests: the rows of `requests` that name the runs of a table of OF_REQUESTS.
    """
    if TABLES[table].purging is None or lake.version("tombstones") is None:
        return digests
    purges = recorded_purges(lake, table, tombstone_hashes(lake, table))
    if not purges:
        return digests
    sql = _TOMBSTONES.format(table=table, purges=literals(purges))
    if requests is None:
        return united([digests, lake.query(sql)])
    of_requests = _TOMBSTONES_OF_REQUESTS.format(tombstones=sql, key=OF_REQUESTS[table].key)
    return united([digests, lake.query(of_requests, requests=requests)])


def tombstone_hashes(lake: Lake, table: str) -> dict[str, str]:
    """By purge_id the hash of its tombstones of a table; the lake has the table of tombstones."""
    columns = ", ".join(field.name for field in fields(Tombstone))
    where = f"table_name = {literal(table)}"
    rows = lake.streamed(f"SELECT {columns} FROM {{tombstones}} WHERE {where}")
    threads = usable_cpus() if lake.is_in_process else 1
    hash_rows = _HashRows(Tombstone, "purge_id", _as_they_are, threads)
    hashes = _combined(map_batches(rows, hash_rows, Tombstone, _Digests))
    return {purge_id: row.digest for purge_id, row in hashes.items()}


def _combined(digests: Frame, pins: Iterable[ValuePin] | None = None) -> dict[str, RowsHash]:
    """The hash of each unit's digests, by unit, each made by one task; of these writes, or all."""
    ordered = sorted_rows(digests, "unit", by=("unit",))
    hash_units = _HashUnits(None if pins is None else frozenset(pins))
    hashes = rows_of(map_rows(ordered, hash_units, _Digests, RowsHash), RowsHash)
    return {row.unit: row for row in hashes}


@dataclass(frozen=True, slots=True)
class _HashUnits:
    """Computes the hash of each unit's rows, which come sorted by unit."""

    pins: frozenset[ValuePin] | None = None
    """Which writes of a unit count; None for all."""

    def __call__(self, rows: Iterable[_Digests]) -> Iterator[RowsHash]:
        for unit, group in groupby(rows, key=attrgetter("unit")):
            digests: dict[str, list[str]] = {}
            before: dict[tuple[str, str], str] = {}
            for row in group:
                if row.replaced_by:
                    before[row.write_id, row.replaced_by] = row.digests
                elif self._counts(row):
                    digests.setdefault(row.write_id, []).append(row.digests)
            if digests:
                texts = [
                    _as_before("".join(parts), write, before) for write, parts in digests.items()
                ]
                digest = hash_of_digests("".join(texts))
                yield RowsHash(unit=unit, digest=digest, writes=tuple(sorted(digests)))

    def _counts(self, row: _Digests) -> bool:
        return self.pins is None or ValuePin(unit=row.unit, write_id=row.write_id) in self.pins


def _as_before(digests: str, write_id: str, before: Mapping[tuple[str, str], str]) -> str:
    """The digests of a write, of rows whose text was purged those from before."""
    if not before:
        return digests
    each = (digests[at : at + DIGITS] for at in range(0, len(digests), DIGITS))
    return "".join(before.get((write_id, digest), digest) for digest in each)
