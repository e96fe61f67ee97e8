"""Files as spreadsheets, databases and exports write them, which are not as one would wish."""

import datetime
import io
import json
import re
import zipfile
from collections.abc import Sequence
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from medhelm_spark.domain.data_source import DataSource
from medhelm_spark.domain.scenario import Instance
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import as_text, check_head, parse_records, read_records
from tests.unit.scenarios.cards import card, source

ROWS = [["n1", "Fieber, müde", "ja"], ["n2", "gesund", "nein"], ["n3", "Husten", "ja"]]
NAMES = ["id", "note", "correct_answer"]
TEMPLATE = {"template": "{note}"}


def read(data_source: DataSource, required: Sequence[str] = NAMES) -> tuple[list[Any], list[str]]:
    """The rows, or why one is bad, and what the file was recognised to be."""
    notes: list[str] = []
    found = read_records(data_source.files[0], data_source, required=required, report=notes.append)
    return [record.error or dict(record.fields) for record in found], notes


def values(data_source: DataSource, required: Sequence[str] = NAMES) -> list[list[Any]]:
    return [list(row.values()) for row in read(data_source, required)[0]]


def workbook(
    path: Path, rows: Sequence[Sequence[object]], size: str = "", **more: Any
) -> DataSource:
    """A workbook whose sheet states a size, as programs that write as they go state a wrong one."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(list(row))
    made = io.BytesIO()
    book.save(made)
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if size and name.endswith("sheet1.xml"):
                content = re.sub(
                    rb'<dimension ref="[^"]*"', f'<dimension ref="{size}"'.encode(), content
                )
            new.writestr(name, content)
    return source(path, "xlsx", **more)


@pytest.mark.parametrize("size", ["A1", "A1:B2", "A1:C2", "A1:B9", "A1:XFD1048576"])
def test_the_size_that_a_sheet_states_is_not_believed(tmp_path: Path, size: str) -> None:
    assert values(workbook(tmp_path / "a.xlsx", [NAMES, *ROWS], size)) == ROWS


def test_escapes_are_what_they_stand_for_and_errors_are_absent(tmp_path: Path) -> None:
    rows = [NAMES, ["n1", "one_x000D_\ntwo", "#N/A"], ["n2", "a_x005F_x000D_b", "#REF!"]]
    data_source = workbook(tmp_path / "a.xlsx", rows)
    assert read(data_source)[0] == [
        {"id": "n1", "note": "one\r\ntwo"},
        {"id": "n2", "note": "a_x000D_b"},
    ]


def test_days_and_truths_of_a_workbook_are_those_of_other_files(tmp_path: Path) -> None:
    day = datetime.date(2024, 3, 9)
    found = values(workbook(tmp_path / "a.xlsx", [NAMES, [day, True, 7.0]]))
    assert [as_text(value) for value in found[0]] == ["2024-03-09", "true", "7"]


def test_a_sheet_is_named_and_a_title_stands_above_the_names(tmp_path: Path) -> None:
    data_source = workbook(
        tmp_path / "a.xlsx", [["Letters of 2024"], [], ["as of", "May"], NAMES, *ROWS]
    )
    assert read(data_source) == (
        [dict(zip(NAMES, row, strict=True)) for row in ROWS],
        ["column names in row 3"],
    )
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    book.create_sheet("About", 0).append(["made by hand"])
    book.save(tmp_path / "b.xlsx")
    with pytest.raises(DataError, match=r"first of 2 sheets; sheet \(--sheet\) names one"):
        read(source(tmp_path / "b.xlsx", "xlsx"))
    assert values(source(tmp_path / "b.xlsx", "xlsx", sheet="Sheet")) == ROWS
    with pytest.raises(DataError, match=r"sheet .* is 'Shet'; allowed: 'About', 'Sheet'"):
        read(source(tmp_path / "b.xlsx", "xlsx", sheet="Shet"))


FAR = pa.array([2**60] * 3, pa.timestamp("us"))
UNREAD: dict[str, Any] = {
    "far": FAR,
    "zone": pa.array([0] * 3, pa.timestamp("us", "tzfile('/usr/share/zoneinfo/Mars')")),
    "day": pa.array([10**7] * 3, pa.date32()),
    "ns": pa.array([1] * 3, pa.timestamp("ns")),
    "long": pa.array([2**62] * 3, pa.duration("s")),
    "inside": pa.array([{"at": 2**60}] * 3, pa.struct([("at", pa.timestamp("us"))])),
    "listed": pa.array([[2**60]] * 3, pa.list_(pa.timestamp("us"))),
}


@pytest.mark.parametrize("name", UNREAD)
@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_a_column_that_nobody_asked_for_ends_nothing(tmp_path: Path, form: str, name: str) -> None:
    columns = dict(zip(NAMES, zip(*ROWS, strict=True), strict=True))
    table = pa.table({**{key: list(each) for key, each in columns.items()}, name: UNREAD[name]})
    path = tmp_path / f"a.{form}"
    write = parquet.write_table if form == "parquet" else feather.write_feather
    write(table, path)
    assert [row[:3] for row in values(source(path, form))] == ROWS


def test_a_needed_column_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"id": ["a"], "at": FAR[:1]}), tmp_path / "a.parquet")
    with pytest.raises(
        DataError, match=r"column 'at' of type timestamp\[us\] has a value"
    ) as caught:
        read(source(tmp_path / "a.parquet", "parquet"), ["at"])
    assert "\n" not in str(caught.value)


def test_a_moment_of_any_zone_is_told_in_utc(tmp_path: Path) -> None:
    at = pa.array([1_700_000_000_500_000], pa.timestamp("us", "no/such"))
    parquet.write_table(pa.table({"at": at}), tmp_path / "a.parquet")
    (row,) = read(source(tmp_path / "a.parquet", "parquet"), ["at"])[0]
    assert as_text(row["at"]) == "2023-11-14 22:13:20.5"


def test_columns_without_a_name_and_rows_without_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,note,correct_answer,,\r\nn1,a,ja,,\r\n,,,,\r\nn2,b,nein\r\n,,\r\n")
    assert values(source(path)) == [["n1", "a", "ja"], ["n2", "b", "nein"]]
    (tmp_path / "a.tsv").write_text("\tid\t\tnote\n0\tn1\tx\ta\n")
    assert read(source(tmp_path / "a.tsv", "tsv"), ["note"])[0] == [{"id": "n1", "note": "a"}]


def exported(separator: str, above: str = "") -> str:
    def quoted(cell: str) -> str:
        return f'"{cell}"' if separator in cell else cell

    return above + "".join(separator.join(map(quoted, row)) + "\r\n" for row in [NAMES, *ROWS])


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-32"]
)
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("above", ["", "sep=?\r\n", "Letters of 2024\r\n\r\n"])
def test_what_an_export_is_shows(tmp_path: Path, encoding: str, separator: str, above: str) -> None:
    text = exported(separator, above.replace("?", separator))
    (tmp_path / "a.csv").write_bytes(text.encode(encoding))
    data_source = source(tmp_path / "a.csv")
    assert values(data_source) == ROWS
    notes: list[str] = []
    check_head(card(source=data_source, options=TEMPLATE, fields={}), notes.append)
    report = "".join(notes)
    names = {"cp1252": "Windows-1252", "utf-16-le": "UTF-16-LE"}
    encoding_name = names.get(encoding, encoding.upper())
    assert ("encoding " in report) == (not encoding.startswith("utf-8"))
    assert encoding.startswith("utf-8") or f"encoding {encoding_name}" in report
    assert ("separated by" in report) == (separator != ",")
    assert ("column names in row 2" in report) == ("Letters" in above)


def test_a_decimal_comma_stays_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id;note;correct_answer\nn1;Hb 7,5;7,5\n")
    assert values(source(tmp_path / "a.csv")) == [["n1", "Hb 7,5", "7,5"]]


def test_what_is_said_of_a_file_goes_before_what_it_shows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("id^note^correct_answer\nn1^Łódź^tak\n".encode("cp1250"))
    data_source = source(tmp_path / "a.csv", separator="^", encoding="Windows-1250")
    assert read(data_source) == ([{"id": "n1", "note": "Łódź", "correct_answer": "tak"}], [])


def test_utf_8_that_is_damaged_is_no_other_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("id,note,correct_answer\nn1,müde ".encode() + b"\xfcx,ja\n")
    with pytest.raises(DataError, match="not UTF-8 at byte"):
        read(source(tmp_path / "a.csv"))


RECORDS = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
BUNDLE = {
    "resourceType": "Bundle",
    "link": [{"relation": "self"}],
    "entry": [{"resource": r} for r in RECORDS],
}
DOCUMENTS = {
    "bundle.json": json.dumps(BUNDLE),
    "pretty-bundle.jsonl": json.dumps(BUNDLE, indent=1),
    "list.jsonl": json.dumps(RECORDS),
    "pretty-list.ndjson": json.dumps(RECORDS, indent=2),
    "pretty.jsonl": "\n".join(json.dumps(each, indent=2) for each in RECORDS),
    "log.json": json.dumps({"version": 2, "results": {"stats": {"n": 3}, "samples": RECORDS}}),
    "lines.json": "\n".join(map(json.dumps, RECORDS)),
    "lines.ndjson": "\n".join(map(json.dumps, RECORDS)),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_records_of_a_document_are_found(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(DOCUMENTS[name])
    form = "json" if name.endswith(".json") else "jsonl"
    data_source = source(tmp_path / name, form)
    assert values(data_source) == ROWS
    halves = [
        read_records(data_source.files[0], data_source, partition=part, partitions=2)
        for part in (0, 1)
    ]
    assert sorted(record.row for half in halves for record in half) == [1, 2, 3]


def test_a_document_of_several_lists_says_which_key_helps(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"train": RECORDS, "test": {"rows": RECORDS[:1]}}))
    with pytest.raises(DataError, match="has 2 lists of objects; record_path names the keys"):
        read(source(tmp_path / "a.json", "json"))
    assert values(source(tmp_path / "a.json", "json", record_path="test.rows")) == ROWS[:1]


def test_a_line_that_is_cut_is_one_bad_record(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "n0", "note":\n' + json.dumps(RECORDS[0]) + "\n")
    found, notes = read(source(tmp_path / "a.jsonl", "jsonl"))
    assert (found, notes) == (["broken_json", RECORDS[0]], [])


CELLS: dict[str, Any] = {
    "text": "001",
    "true": True,
    "whole": 7,
    "floating": 7.0,
    "fraction": 0.1,
    "large": 12345678.5,
    "small": 0.00001,
    "decimal": Decimal("7.50"),
    "day": datetime.date(2024, 3, 9),
    "moment": datetime.datetime.fromisoformat("2024-03-09 08:30:00.5"),
}
TEXTS = {
    "text": "001",
    "true": "true",
    "whole": "7",
    "floating": "7",
    "fraction": "0.1",
    "large": "12345678.5",
    "small": "0.00001",
    "decimal": "7.50",
    "day": "2024-03-09",
    "moment": "2024-03-09 08:30:00.5",
}


FORMS_AND_KINDS = [
    *product(["csv", "jsonl", "parquet", "feather"], CELLS),
    # A workbook has floating numbers alone, and moments to the millisecond.
    *product(["xlsx"], [kind for kind in CELLS if kind not in ("decimal", "moment")]),
    *product(["float32"], [kind for kind, cell in CELLS.items() if isinstance(cell, float)]),
]


def made(data_source: DataSource) -> list[tuple[str, tuple[str, ...]]]:
    """What a benchmark is made of by a source: inputs and references."""
    of_card = card(source=data_source, options=TEMPLATE)
    records = read_records(data_source.files[0], data_source, required=["note", "correct_answer"])
    found = [each for each in parse_records(records, of_card, "v") if isinstance(each, Instance)]
    return [(each.input, tuple(ref.text for ref in each.references)) for each in found]


@pytest.mark.parametrize(("form", "kind"), FORMS_AND_KINDS)
def test_a_value_makes_the_same_benchmark_from_every_file(
    tmp_path: Path, form: str, kind: str
) -> None:
    cell, text = CELLS[kind], TEXTS[kind]
    rows = [{"id": "a", "note": cell, "correct_answer": cell}]
    path = tmp_path / f"a.{form}"
    if form == "xlsx":
        data_source = workbook(path, [NAMES, list(rows[0].values())])
    elif form == "csv":
        path.write_text(f"id,note,correct_answer\na,{text},{text}\n")
        data_source = source(path)
    elif form == "jsonl":
        if isinstance(cell, str | bool | int):
            path.write_text(json.dumps(rows[0]))
        else:
            number = text if isinstance(cell, float | Decimal) else json.dumps(text)
            path.write_text(f'{{"id": "a", "note": {number}, "correct_answer": {number}}}')
        data_source = source(path, "jsonl")
    elif form == "float32":
        column = pa.array([cell], pa.float32())
        parquet.write_table(pa.table({"id": ["a"], "note": column, "correct_answer": column}), path)
        data_source = source(path, "parquet")
        text = "12345678" if kind == "large" else text  # all digits that 32 bits store
    else:
        write = parquet.write_table if form == "parquet" else feather.write_feather
        write(pa.Table.from_pylist(rows), path)
        data_source = source(path, form)
    assert made(data_source) == [(text, (text,))]


@pytest.mark.parametrize("form", ["jsonl", "parquet", "feather"])
def test_no_number_is_an_absent_value_and_bytes_are_text_where_they_are(
    tmp_path: Path, form: str
) -> None:
    path = tmp_path / f"a.{form}"
    if form == "jsonl":
        path.write_text(
            '{"note": "x", "correct_answer": NaN}\n{"note": NaN, "correct_answer": "y"}'
        )
    else:
        write = parquet.write_table if form == "parquet" else feather.write_feather
        answers = pa.array([b"ja", b"\xff\xfe"], pa.binary())
        write(pa.table({"note": ["x", "y"], "correct_answer": answers}), path)
    assert made(source(path, form)) == ([] if form == "jsonl" else [("x", ("ja",))])
