"""Workbooks, XML, Feather, lines, nested JSON, and what is joined to a record."""

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import feather

from medhelm_spark.domain.data_source import DataSource, Lookup, SourceFile
from medhelm_spark.errors import ConfigError, DataError, SetupError
from medhelm_spark.scenarios import read_records
from tests.unit.scenarios.cards import source


def fields(data_source: DataSource, required: Sequence[str] = ()) -> list[Any]:
    found = read_records(data_source.files[0], data_source, required=required)
    return [record.error or record.fields for record in found]


def workbook(path: Path, rows: Sequence[Sequence[object]]) -> DataSource:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(list(row))
    book.save(path)
    return source(path, "xlsx")


def test_a_workbooks_cells_keep_what_they_show(tmp_path: Path) -> None:
    day = datetime.time(8, 30)
    rows = [["id ", None, "q"], ["001", "x", "NA"], [2.0, None, True], [None] * 3, [1.5, 0, day]]
    assert fields(workbook(tmp_path / "a.xlsx", rows), ["id", "q"]) == [
        {"id": "001", "q": "NA"},
        {"id": 2, "q": True},
        {"id": 1.5, "q": day},
    ]


def test_a_workbooks_numbers_of_records_keep_the_zeros_that_excel_shows(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["id", "n"])
    for number, form in ((123, "00000"), (7.0, "000"), (1234, "000"), (-5, "000"), (12, "0")):
        book.active.append([number, number])
        book.active.cell(book.active.max_row, 1).number_format = form
    book.save(tmp_path / "a.xlsx")
    found = fields(source(tmp_path / "a.xlsx", "xlsx"), ["id"])
    assert [row["id"] for row in found] == ["00123", "007", "1234", -5, 12]
    assert [row["n"] for row in found] == [123, 7, 1234, -5, 12]


def test_workbooks_that_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = workbook(tmp_path / "a.xlsx", [["id", "q"], [1, "x"]])
    with pytest.raises(DataError, match="needs column 'note'; 1 of the 2 needed are among its 2"):
        fields(good, ["id", "note"])
    (tmp_path / "cut.xlsx").write_bytes((tmp_path / "a.xlsx").read_bytes()[:-100])
    with pytest.raises(DataError, match=r"cut\.xlsx: not a readable Excel workbook"):
        fields(source(tmp_path / "cut.xlsx", "xlsx"))
    with pytest.raises(DataError, match="the sheet is empty"):
        fields(workbook(tmp_path / "empty.xlsx", []))
    with pytest.raises(DataError, match="a column name twice"):
        fields(workbook(tmp_path / "twice.xlsx", [["q", "q "]]))
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(SetupError, match=r"install 'medhelm-spark\[excel\]'"):
        fields(good)


XML = """<?xml version="1.0"?><set><item n="1"><text>a &amp; <b>b</b></text><ok rank="2"/>
<ok rank="1">best</ok></item><item n="2"><text/></item></set>"""
PATHS = {"n": "@n", "text": "text", "best": "ok[@rank='1']", "rank": "ok@rank"}


def xml(path: Path, content: str, **more: Any) -> DataSource:
    path.write_text(content, encoding="utf-8")
    return source(path, "xml", **{"record_path": "item", "paths": PATHS, **more})


def test_elements_become_records(tmp_path: Path) -> None:
    assert fields(xml(tmp_path / "a.xml", XML), ["n", "text"]) == [
        {"n": "1", "text": "a & b", "best": "best", "rank": "2", "file": "a"},
        {"n": "2", "text": "", "file": "a"},
    ]


def test_a_whole_document_is_one_record(tmp_path: Path) -> None:
    data_source = xml(tmp_path / "7.xml", XML, record_path=None, paths={"first": "item/text"})
    assert fields(data_source) == [{"first": "a & b", "file": "7"}]


def test_xml_that_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.xml: not well-formed XML at line 1, column"):
        fields(xml(tmp_path / "a.xml", XML[:60]))
    with pytest.raises(DataError, match="not well-formed"):
        fields(xml(tmp_path / "a.xml", ""))
    with pytest.raises(ConfigError, match="is no path of XML"):
        fields(xml(tmp_path / "a.xml", XML, paths={"x": "ok[@rank"}))
    with pytest.raises(DataError, match="needs column 'note'"):
        fields(xml(tmp_path / "a.xml", XML), ["n", "note"])


def test_an_entity_bomb_does_not_grow(tmp_path: Path) -> None:
    entities = "".join(
        f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "ha" * 10}">' for n in range(12)
    )
    bomb = f"<!DOCTYPE set [{entities}]><set><item><text>&e11;</text></item></set>"
    with pytest.raises(DataError, match="not well-formed"):
        fields(xml(tmp_path / "a.xml", bomb))


def test_feather_keeps_lists_and_nulls(tmp_path: Path) -> None:
    table = pa.table({"text": ["n", None], "target": [["I10", "E11.9"], []]})
    feather.write_feather(table, tmp_path / "a.feather")
    data_source = source(tmp_path / "a.feather", "feather")
    assert fields(data_source, ["target"]) == [
        {"text": "n", "target": ["I10", "E11.9"]},
        {"text": None, "target": []},
    ]
    (tmp_path / "b.feather").write_bytes((tmp_path / "a.feather").read_bytes()[:-30])
    with pytest.raises(DataError, match="not a readable Feather file"):
        fields(source(tmp_path / "b.feather", "feather"))


def test_lines_belong_to_the_lines_of_another_file(tmp_path: Path) -> None:
    (tmp_path / "a.tok").write_bytes(b"one\r\n\ntwo , 2")
    (tmp_path / "b.tok").write_text("1st\n2nd\n")
    path = str(tmp_path / "b.tok")
    lookup = Lookup(name="b", path=path, key="line", columns=("text",))
    data_source = source(tmp_path / "a.tok", "lines", lookups=(lookup,))
    assert fields(data_source, ["text", "b.text"]) == [
        {"line": "1", "text": "one", "b.text": "1st"},
        {"line": "2", "text": "", "b.text": "2nd"},
        {"line": "3", "text": "two , 2"},
    ]


def test_the_first_row_of_a_key_is_joined(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("k,v\n1,x\n2,y\n3,z\n")
    (tmp_path / "b.csv").write_text("other,k,v\n_,2,first\n_,1,one\n_,2,second\n_,3\n")
    (tmp_path / "c.sql").write_text("CREATE")
    path = str(tmp_path / "b.csv")
    lookup = Lookup(name="b", path=path, key="k", columns=("v",))
    data_source = source(
        tmp_path / "a.csv", lookups=(lookup,), texts={"sql": str(tmp_path / "c.sql")}
    )
    assert fields(data_source, ["v", "b.v", "sql"]) == [
        {"k": "1", "v": "x", "b.v": "one", "sql": "CREATE"},
        {"k": "2", "v": "y", "b.v": "first", "sql": "CREATE"},
        {"k": "3", "v": "z", "sql": "CREATE"},
    ]
    wrong = Lookup(name="b", path=path, key="k", columns=("absent",))
    with pytest.raises(DataError, match=r"b\.csv: needs column 'absent'"):
        fields(source(tmp_path / "a.csv", lookups=(wrong,)))
    with pytest.raises(DataError, match=r"a\.csv: needs column 'other'"):
        keyed = Lookup(name="b", path=path, key="other", columns=("v",))
        fields(source(tmp_path / "a.csv", lookups=(keyed,)), ["v"])


def test_members_of_a_list_inside_each_record(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(
        '{"e": {"x": {"year": 1, "data": [{"q": "a"}, 3]}, "y": {"data": "no"}, "z": 4}}'
    )
    data_source = DataSource(
        format="json",
        record_path="e",
        key_field="name",
        explode="data",
        files=(SourceFile(path=str(path)),),
    )
    assert fields(data_source) == [
        {"year": "1", "name": "x", "q": "a"},
        "not_an_object",
        "not_a_list",
        "not_an_object",
    ]


def test_empty_cells_beyond_the_header_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("q,a\nx,y,,\nx,y,,z\n")
    assert fields(source(tmp_path / "a.csv")) == [{"q": "x", "a": "y"}, "long_row"]
