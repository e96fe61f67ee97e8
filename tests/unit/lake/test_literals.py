"""Ids and conditions as SQL text."""

from pathlib import Path

import pyarrow as pa

from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.literals import among, any_of, literal
from medhelm_spark.lake.reader import table_schema


def test_rows_of_twenty_thousand_writes_are_asked_for_at_once(tmp_path: Path) -> None:
    lake, schema = FileTables(str(tmp_path)), table_schema("requests")
    written = ["w0", "w19999", "other"]
    columns = {name: pa.nulls(len(written), schema.field(name).type) for name in schema.names}
    columns["write_id"] = pa.array(written)
    lake.append("requests", pa.table(columns, schema=schema))
    writes = any_of([f"write_id = {literal(f'w{number}')}" for number in range(20_000)])
    rows = lake.query(f"SELECT write_id FROM {{requests}} WHERE {writes}")
    assert sorted(rows["write_id"].to_pylist()) == ["w0", "w19999"]


def test_names_that_need_escaping_filter_nothing() -> None:
    assert among("name", ["b/c:8b", "a"]) == "name IN ('a', 'b/c:8b')"
    assert among("name", []) == "name IN (NULL)"
    assert among("name", ["a", "b\\c"]) == among("name", ["x' OR 'y"]) == "true"
    assert among("name", ["{requests}"]) == "true"
