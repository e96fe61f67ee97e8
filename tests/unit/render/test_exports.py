"""Exports of a board: filters are printed, and every field has a type and a meaning."""

import csv
import io
import json

import pyarrow.parquet as pq

from medhelm_spark.board.render import comparison
from medhelm_spark.board.render.board import CELL_FIELDS, MODEL_FIELDS, board_report
from medhelm_spark.board.render.charts import heat_map, png
from medhelm_spark.board.render.fields import FIELD_KINDS, FIELDS, page
from medhelm_spark.board.render.metric_records import FIELDS as METRIC_FIELDS
from medhelm_spark.board.render.stats import FIELDS as STAT_FIELDS
from medhelm_spark.render.report import FORMATS, formatted, parquet
from tests.unit.render.test_report_file import SCALED
from tests.unit.statistics.cells import CELL, NOTE, OTHER, PAIR, board_of

BOARD = board_of([CELL, OTHER, NOTE], [PAIR])
BANNER, FILTERS = "WITHDRAWN", "locality: <local>"
LINE = f"Filters in use: {FILTERS}."


def test_filters_stand_after_the_banner_in_every_format() -> None:
    texts = {name: formatted(board_report(BOARD, BANNER, FILTERS), name) for name in FORMATS}
    assert texts["table"].startswith(f"{BANNER}\n\n{LINE}\n\n")
    assert texts["md"].startswith(f"{BANNER}\n\nFilters in use: locality: \\<local>.\n\n| ")
    assert "<p><strong>Filters in use: locality: &lt;local&gt;.</strong></p>" in texts["html"]
    assert list(json.loads(texts["json"]))[:2] == ["banner", "filters"]
    rows = list(csv.DictReader(io.StringIO(texts["csv"])))
    assert list(rows[0])[:3] == ["banner", "filters", "record"]
    assert {row["filters"] for row in rows} == {FILTERS}


def test_filters_are_nowhere_where_none_are_in_use() -> None:
    for name in FORMATS:
        assert "filters" not in formatted(board_report(BOARD), name).lower()
    assert comparison.render([PAIR], "csv", filters=FILTERS).startswith("filters,scenario_name,")


def test_parquet_has_every_record_with_types_that_do_not_depend_on_values() -> None:
    table = pq.read_table(io.BytesIO(parquet(board_report(BOARD, "", FILTERS), FIELD_KINDS)))
    assert table.schema.metadata == {b"filters": FILTERS.encode()}
    assert table["record"].to_pylist() == ["cell", "cell", "cell", "pair"]
    assert table["mean"].to_pylist()[:3] == [
        cell.mean for row in BOARD.rows for cell in row.cells if cell
    ]
    assert table["p_value"].to_pylist()[:3] == [None, None, None]
    assert json.loads(table["run_spec_ids"].to_pylist()[3]) == list(PAIR.run_spec_ids)
    empty = pq.read_table(io.BytesIO(parquet(board_report(board_of([])), FIELD_KINDS)))
    assert empty.schema.types == table.schema.types
    assert empty.num_rows == 0


def test_every_field_of_the_records_has_a_line_and_no_other() -> None:
    report = board_report(BOARD)
    (model, *_), (cell, *_) = report.content["models"], report.content["cells"]
    assert set(model) == set(MODEL_FIELDS)
    assert set(cell) == set(CELL_FIELDS)
    assert set(comparison.record(PAIR)) == set(comparison.FIELDS)
    others = (*MODEL_FIELDS, *STAT_FIELDS, *METRIC_FIELDS)
    assert set(FIELDS) == {*report.fields, *others}
    lines = page().splitlines()
    for name in ("record", *CELL_FIELDS, *comparison.FIELDS, *others):
        assert any(line.startswith(f"| `{name}` | ") for line in lines), name


def test_a_fields_values_are_of_its_type() -> None:
    report = board_report(BOARD)
    for record in (*report.records, *report.content["models"]):
        for name, value in record.items():
            kind = FIELDS[name].kind
            fitting = (int, float) if kind is float else (list, tuple) if kind is list else kind
            assert value is None or isinstance(value, fitting), name


def test_a_chart_is_drawn_as_png() -> None:
    spec = heat_map(board_of(SCALED))
    assert spec
    assert png(spec).startswith(b"\x89PNG")
