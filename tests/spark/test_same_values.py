"""A value of a Delta table has the text that it has in a file."""

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake
from pyarrow import parquet

from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.scenarios import as_text, read_records
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.source_tables import RawRow, raw_rows, record_of
from tests.spark.conftest import Site

VALUES: dict[str, tuple[Any, str | None]] = {
    "text": (pa.array(["001"]), "001"),
    "true": (pa.array([True]), "true"),
    "whole": (pa.array([7]), "7"),
    "floating": (pa.array([7.0]), "7"),
    "fraction": (pa.array([0.1]), "0.1"),
    "large": (pa.array([12345678.5]), "12345678.5"),
    "small": (pa.array([0.00001]), "0.00001"),
    "narrow": (pa.array([0.1], pa.float32()), "0.1"),
    "absent": (pa.array([float("nan")]), None),
    "endless": (pa.array([float("inf")]), "Infinity"),
    "decimal": (pa.array([Decimal("7.50")]), "7.50"),
    "day": (pa.array([datetime.date(2024, 3, 9)]), "2024-03-09"),
    "moment": (
        pa.array([1_709_973_000_500_000], pa.timestamp("us", "UTC")),
        "2024-03-09 08:30:00.5",
    ),
    "bytes": (pa.array(["für".encode()]), "für"),
    "picture": (pa.array([b"\xff\xfe"]), None),
}


def test_a_value_of_any_type_is_the_same_text(site: Site, tmp_path: Path) -> None:
    table = pa.table({name: column for name, (column, _) in VALUES.items()})
    write_deltalake(tmp_path / "values", table)
    parquet.write_table(table, tmp_path / "values.parquet")
    expected = {name: text for name, (_, text) in VALUES.items()}
    rows = raw_rows(Context(lake=site.lake, suite="s"), f"{tmp_path}/values", None, tuple(VALUES))
    record = record_of("values", RawRow(**rows.collect()[0].asDict()))
    assert {name: as_text(record.fields.get(name)) for name in VALUES} == expected
    file = SourceFile(path=str(tmp_path / "values.parquet"))
    (of_file,) = read_records(file, DataSource(format="parquet"), required=tuple(VALUES))
    in_both = [name for name in VALUES if name != "picture"]  # bytes that are no text are refused
    texts = {name: as_text(of_file.fields[name]) for name in in_both}
    assert texts == {name: expected[name] for name in in_both}
