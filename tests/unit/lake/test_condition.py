"""Which rows of a table the driver reads for a condition: by files' statistics."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from medhelm_spark.lake import files
from medhelm_spark.lake.condition import RowCondition, one_of
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.reader import table_schema

SCHEMA = table_schema("runs")


def rows(write_id: str, *units: str) -> pa.Table:
    known = {"write_id": [write_id] * len(units), "unit_id": list(units), "stage": ["score"]}
    columns = [
        pa.array(known[field.name] * (len(units) // len(known[field.name])), field.type)
        if field.name in known
        else pa.nulls(len(units), field.type)
        for field in SCHEMA
    ]
    return pa.table(columns, schema=SCHEMA)


def found(table: pa.Table | None) -> list[tuple[str, str]] | None:
    if table is None:
        return None
    pairs = zip(table["write_id"].to_pylist(), table["unit_id"].to_pylist(), strict=True)
    return sorted(pairs)


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileTables:
    """Three writes of two rows each, where two rows are few and four are not."""
    monkeypatch.setattr(files, "FEW_ROWS", 2)
    monkeypatch.setattr(files, "PROBED_BYTES", 0)
    made = FileTables(str(tmp_path / "lake"))
    for write_id in ("a", "b", "c"):
        made.append("runs", rows(write_id, f"{write_id}1", f"{write_id}2"))
    return made


def merged(tables: FileTables) -> None:
    DeltaTable(f"{tables.location}/runs").optimize.compact()


def test_the_small_part_of_a_large_table_is_read_by_the_driver(tables: FileTables) -> None:
    assert tables.few("runs") is None
    assert tables.scanned("runs").rows == 6
    part = one_of("write_id", ["b"])
    assert tables.scanned("runs", part).rows == 2
    assert found(tables.few("runs", part)) == [("b", "b1"), ("b", "b2")]
    both = RowCondition(
        sql="write_id = 'b' AND unit_id IN ('b2')", values={"write_id": ["b"], "unit_id": ["b2"]}
    )
    assert found(tables.few("runs", both)) == [("b", "b2")]
    assert found(tables.few("runs", one_of("write_id", []))) == []
    assert tables.few("runs", one_of("write_id", ["a", "c"])) is None


def test_a_column_without_statistics_narrows_no_file_and_still_the_rows(tables: FileTables) -> None:
    by_version = RowCondition(sql="code_version IS NULL", values={"code_version": ["1"]})
    assert tables.scanned("runs", by_version).rows == 6
    assert tables.few("runs", by_version) is None


def test_few_rows_of_a_large_file_are_read_where_they_are_known_to_be_few(
    tables: FileTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged(tables)
    assert tables.few("runs", one_of("unit_id", ["b1"])) is None
    assert found(tables.few("runs", one_of("unit_id", ["b1"], 1))) == [("b", "b1")]
    three = one_of("unit_id", ["a1", "b1", "c1"], 1)
    assert tables.few("runs", three) is None, "there are more than was thought"
    monkeypatch.setattr(files, "PROBED_BYTES", 1 << 20)
    assert found(tables.few("runs", one_of("unit_id", ["b1"]))) == [("b", "b1")]
    assert tables.few("runs", one_of("unit_id", ["a1", "b1", "c1"])) is None


def test_ids_are_looked_for_once_and_then_only_in_what_was_added(
    tables: FileTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: list[str] = []
    query = FileTables.query

    def noted(self: FileTables, sql: str, *args: object) -> pa.Table:
        queries.append(sql)
        return query(self, sql, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(FileTables, "query", noted)
    where = one_of("unit_id", ["b1", "b2"], 2)
    narrowed = tables.narrowed("runs", where)
    assert narrowed.values["write_id"] == {"b"}
    assert tables.narrowed("runs", where) == narrowed
    assert len(queries) == 1
    tables.append("runs", rows("d", "b1", "d2"))
    assert found(tables.few("runs", where)) is None, "three rows are not few"
    assert tables.narrowed("runs", where).values["write_id"] == {"b", "d"}
    assert "write_id IN ('d')" in queries[1]
    merged(tables)
    assert tables.narrowed("runs", where).values["write_id"] == {"b", "d"}


def test_ids_that_no_row_has_are_no_reason_to_read(tables: FileTables) -> None:
    where = one_of("unit_id", ["b11"], 1)
    assert tables.narrowed("runs", where).sql == "false"
    assert found(tables.few("runs", where)) == []
    tables.append("runs", rows("e", "b11"))
    assert found(tables.few("runs", where)) == [("e", "b11")]
