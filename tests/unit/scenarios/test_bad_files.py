"""Files that are not what they should be: one clear error, or reasons that are counted.

An error names the file and what is allowed, and never quotes the text of the file.
"""

import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.domain.history import History
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.scenarios import fingerprint_records, read_card, read_records, spread
from medhelm_spark.scenarios.readers import read_events
from medhelm_spark.scenarios.records import Record
from tests.unit.scenarios.cards import card, parsed, source, write_csv

SECRET = "Jane Roe, chest pain"
ROWS = [{"id": str(n), "note": f"{SECRET} {n}"} for n in range(200)]
CSV = "id,note\n" + "".join(f'{row["id"]},"{row["note"]}"\n' for row in ROWS)
JSONL = "".join(json.dumps(row) + "\n" for row in ROWS)


def read(path: Path, format_: str = "csv", **more: Any) -> list[Record]:
    data_source = source(path, format_, **more)
    return list(read_records(data_source.files[0], data_source, required=("id", "note")))


def refused(path: Path, format_: str, *parts: str, member: str | None = None, **more: Any) -> str:
    """The one error that reading the file ends in; it contains these parts and none of the text."""
    file = SourceFile(path=str(path), member=member)
    data_source = DataSource(format=format_, files=(file,), **more)
    required = () if format_ == "docx" else ("id", "note")
    with pytest.raises(DataError) as caught:
        list(read_records(file, data_source, required=required))
    message = str(caught.value)
    assert all(part in message for part in (path.name, *parts)), message
    assert "Jane" not in message
    assert "\n" not in message
    assert message.endswith((".", "?"))
    return message


def as_workbook(rows: Sequence[dict[str, str]]) -> bytes:
    book, out = openpyxl.Workbook(), io.BytesIO()
    for row in [list(rows[0]), *(list(row.values()) for row in rows)]:
        book.active.append(row)
    book.save(out)
    return out.getvalue()


def as_parquet(rows: Sequence[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(list(rows)), out, write_page_checksum=True)
    return out.getvalue()


def as_feather(rows: Sequence[dict[str, Any]]) -> bytes:
    out = io.BytesIO()
    feather.write_feather(pa.Table.from_pylist(list(rows)), out)
    return out.getvalue()


def as_zip(name: str, content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)
    return out.getvalue()


def as_tar(name: str, content: bytes, mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as file:  # type: ignore[call-overload]
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        file.addfile(entry, io.BytesIO(content))
    return out.getvalue()


XML = {"record_path": "b", "paths": {"id": "id", "note": "note"}}
DOCX = as_zip("word/document.xml", b"<w>" + CSV.encode() + b"</w>")
FORMS: dict[str, tuple[str, bytes, str | None, dict[str, Any]]] = {
    "a.csv": ("csv", CSV.encode(), None, {}),
    "a.tsv": ("tsv", CSV.replace(",", "\t").encode(), None, {}),
    "a.json": ("json", json.dumps(ROWS).encode(), None, {}),
    "a.xml": ("xml", b"<a><b><id>1</id></b></a>", None, XML),
    "a.xlsx": ("xlsx", as_workbook(ROWS), None, {}),
    "a.parquet": ("parquet", as_parquet(ROWS), None, {}),
    "a.feather": ("feather", as_feather(ROWS), None, {}),
    "a.docx": ("docx", DOCX, None, {"record_path": "Question"}),
    "a.csv.gz": ("csv", gzip.compress(CSV.encode()), None, {}),
    "a.zip": ("csv", as_zip("in/a.csv", CSV.encode()), "in/a.csv", {}),
    "a.tar": ("csv", as_tar("in/a.csv", CSV.encode(), "w"), "in/a.csv", {}),
    "a.tar.gz": ("csv", as_tar("in/a.csv", CSV.encode()), "in/a.csv", {}),
}


def test_an_empty_file_of_every_form(tmp_path: Path) -> None:
    for name, (form, _, member, more) in FORMS.items():
        (tmp_path / name).write_bytes(b"")
        refused(tmp_path / name, form, member=member, **more)


BINARY = ("a.xlsx", "a.parquet", "a.feather", "a.docx", "a.csv.gz", "a.zip", "a.tar", "a.tar.gz")


@pytest.mark.parametrize("name", [*BINARY, "a.json", "a.xml"])
def test_a_file_that_is_cut_off(name: str, tmp_path: Path) -> None:
    form, content, member, more = FORMS[name]
    # A tar ends in ten thousand empty bytes, which nobody misses.
    whole = content.rstrip(b"\0") if name == "a.tar" else content
    for share in (0.02, 0.5, 0.9):
        (tmp_path / name).write_bytes(whole[: int(len(whole) * share)])
        refused(tmp_path / name, form, member=member, **more)


def test_a_page_of_html_in_place_of_a_file(tmp_path: Path) -> None:
    for name in BINARY:
        form, _, member, more = FORMS[name]
        (tmp_path / name).write_text(f"<html><body>Sign in. {SECRET}</body></html>" * 40)
        refused(tmp_path / name, form, member=member, **more)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.xlsx", "a zip archive or an Office file"), ("a.csv.gz", "gzip"), ("a.parquet", "Parquet")],
)
def test_a_file_under_the_wrong_ending_is_told_by_its_first_bytes(
    name: str, kind: str, tmp_path: Path
) -> None:
    (tmp_path / "b.csv").write_bytes(FORMS[name][1])
    refused(tmp_path / "b.csv", "csv", kind)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings_that_are_cut_inside_a_character(encoding: str, tmp_path: Path) -> None:
    for form, content in (("csv", CSV), ("jsonl", JSONL), ("json", "[{}]")):
        (tmp_path / "a.txt").write_bytes(content.encode(encoding)[:-1])
        refused(tmp_path / "a.txt", form, "not UTF-", "save it as UTF-8")


def test_two_encodings_in_one_file(tmp_path: Path) -> None:
    first, second = "1,Żółć\n".encode(), "2,Köln\n".encode("latin-1")
    (tmp_path / "a.csv").write_bytes(b"id,note\n" + first + second)
    refused(tmp_path / "a.csv", "csv", f"not UTF-8 at byte {8 + len(first) + 3}")


def test_a_folder_of_several_encodings_numbers_the_file(tmp_path: Path) -> None:
    for name, encoding in (("a", "utf-8"), ("b", "utf-8-sig"), ("c", "latin-1"), ("d", "utf-16")):
        (tmp_path / f"{name}.txt").write_text("naïve", encoding=encoding)
    data_source = DataSource(format="text", files=(SourceFile(path=f"{tmp_path}/*.txt"),))
    notes = card("free_text", source=data_source, fields={"input": "text"}, metric="jury_score")
    assert [one.fields["text"] for one in read_card(notes)] == ["naïve"] * 4
    (tmp_path / "c.txt").write_bytes(b"na\x8fve")
    with pytest.raises(DataError, match=r"file 3 of 4 of .*\*\.txt: not UTF-8 at byte 2; "):
        list(read_card(notes))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_gives_the_same_rows(end: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(CSV.replace("\n", end).encode())
    (tmp_path / "a.jsonl").write_bytes(JSONL.replace("\n", end).encode())
    (tmp_path / "a.txt").write_bytes(end.join(["one", "", "two"]).encode())
    assert [one.fields for one in read(tmp_path / "a.csv")] == ROWS
    assert [one.fields for one in read(tmp_path / "a.jsonl", "jsonl")] == ROWS
    data_source = source(tmp_path / "a.txt", "lines")
    assert [one.fields["text"] for one in read_records(data_source.files[0], data_source)] == [
        "one",
        "",
        "two",
    ]


def test_a_nul_byte_is_text_where_text_may_have_one(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b'id,note\n1,"a\0b"\n2,c\0d\n')
    assert [one.fields["note"] for one in read(tmp_path / "a.csv")] == ["a\0b", "c\0d"]
    (tmp_path / "a.jsonl").write_bytes(b'{"id": "1", "note": "a\0b"}\n{"id": "2", "note": "x"}\n')
    assert [one.error for one in read(tmp_path / "a.jsonl", "jsonl")] == ["broken_json", None]
    (tmp_path / "a.json").write_bytes(b'[{"id": "1", "note": "Jane\0b"}]')
    refused(tmp_path / "a.json", "json", "broken JSON at line 1")
    (tmp_path / "a.xml").write_bytes(b"<a><b><id>Jane\0</id></b></a>")
    refused(tmp_path / "a.xml", "xml", "not well-formed XML", **XML)


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        # Nothing closes the quote: the rest of the file is one cell.
        ([f'1,"{SECRET}', "2,x", "3,y"], ("data row 1, at lines 2 to 4", "ends with its quote")),
        # A later quoted cell closes it, and what follows cannot be.
        (["1,ok", f'2,"{SECRET}', '3,"y"'], ("data row 2, at lines 3 to 4",)),
        (["1,ok", f'2,"{SECRET}"!'], ("data row 2, at line 3",)),
    ],
)
def test_an_unclosed_quote_is_refused_where_its_row_begins(
    rows: Sequence[str], parts: Sequence[str], tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("\n".join(["id,note", *rows]) + "\n")
    refused(tmp_path / "a.csv", "csv", *parts)


def test_rows_of_the_wrong_width_and_broken_lines_are_counted_and_the_rest_runs(
    tmp_path: Path,
) -> None:
    lines = [json.dumps(row) for row in ROWS[:3]]
    lines[1:1] = ['{"id": "x", "note": "cut', "[]", "null", '{"id": "1"} {"id": "2"}', "NaN"]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert [one.error for one in read(tmp_path / "a.jsonl", "jsonl")] == [
        None,
        "broken_json",
        "not_an_object",
        "not_an_object",
        "broken_json",
        "not_an_object",
        None,
        None,
    ]
    write_csv(tmp_path / "a.csv", [["id", "note"], ["1", "a"], ["2"], ["3", "a", "b"], ["4", ""]])
    assert [one.error for one in read(tmp_path / "a.csv")] == [None, "short_row", "long_row", None]
    scenario = card(
        "free_text", source=source(tmp_path / "a.csv"), fields={"id": "id", "input": "note"}
    )
    assert [getattr(one, "reason", None) for one in parsed(scenario)] == [
        None,
        "short_row",
        "long_row",
        "empty_input",
    ]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.xlsx", "a.parquet", "a.feather"])
def test_a_wrong_column_is_named_with_those_that_are_there(name: str, tmp_path: Path) -> None:
    form, content, _, _ = FORMS[name]
    (tmp_path / name).write_bytes(content)
    file = SourceFile(path=str(tmp_path / name))
    data_source = DataSource(format=form, files=(file,))
    has_schema = form in ("parquet", "feather")
    present = "columns present: 'id', 'note'" if has_schema else "1 of the 2 needed are among its 2"
    with pytest.raises(DataError, match=f"needs column 'label'; {present}"):
        list(read_records(file, data_source, required=("id", "label")))


@pytest.mark.parametrize(("name", "as_file"), [("a.parquet", parquet), ("a.feather", feather)])
def test_two_columns_of_one_name(name: str, as_file: Any, tmp_path: Path) -> None:
    table = pa.table([["1"], ["x"], ["y"]], names=["id", "note", "note"])
    if as_file is parquet:
        parquet.write_table(table, tmp_path / name)
    else:
        with pa.ipc.new_file(tmp_path / name, table.schema) as out:
            out.write_table(table)
    refused(tmp_path / name, name.removeprefix("a."), "a column name occurs twice (column 3)")


def test_parquet_whose_text_is_not_utf8(tmp_path: Path) -> None:
    note = pa.array([b"caf\xe9 Jane"]).view(pa.string())
    parquet.write_table(pa.table({"id": ["1"], "note": note}), tmp_path / "a.parquet")
    refused(tmp_path / "a.parquet", "parquet", "not UTF-8")


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :]


def test_damage_in_the_midst_of_a_file(tmp_path: Path) -> None:
    for name in ("a.parquet", "a.csv.gz", "a.zip", "a.tar.gz", "a.xlsx"):
        form, content, member, _ = FORMS[name]
        at = content.index(b"xl/worksheets/sheet1.xml") + 60 if name == "a.xlsx" else 120
        (tmp_path / name).write_bytes(flipped(content, at))
        refused(tmp_path / name, form, member=member)


def workbook_with(content: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(as_workbook(ROWS))) as old, zipfile.ZipFile(out, "w") as new:
        for one in old.namelist():
            new.writestr(one, content if one.endswith("sheet1.xml") else old.read(one))
    return out.getvalue()


def test_a_workbook_whose_sheet_is_broken(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(as_workbook(ROWS))) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    (tmp_path / "a.xlsx").write_bytes(workbook_with(sheet[: len(sheet) // 2]))
    refused(tmp_path / "a.xlsx", "xlsx", "not a readable Excel workbook")


UNSAFE = ("../a.csv", "/etc/a.csv", "in/../../a.csv", "..\\a.csv", "C:\\in\\a.csv")


@pytest.mark.parametrize("name", UNSAFE)
@pytest.mark.parametrize("form", ["zip", "tar.gz"])
def test_a_member_whose_path_leads_out_is_not_read_and_nothing_is_written(
    name: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "one" / "two"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    make: Callable[[str, bytes], bytes] = as_zip if form == "zip" else as_tar
    (tmp_path / f"a.{form}").write_bytes(make(name, CSV.encode()))
    for inner in ("a.csv", "in/a.csv", name):
        refused(tmp_path / f"a.{form}", "csv", member=inner)
    assert [each.name for each in tmp_path.rglob("*") if each.is_file()] == [f"a.{form}"]


def test_a_link_in_an_archive_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text(CSV)
    with tarfile.open(tmp_path / "a.tar", "w") as out:
        link = tarfile.TarInfo("a.csv")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path / "secret.csv")
        out.addfile(link)
    refused(tmp_path / "a.tar", "csv", "0 of its 0 files are called 'a.csv'", member="a.csv")


def test_an_encrypted_member_and_one_of_an_unknown_compression(tmp_path: Path) -> None:
    content = bytearray(as_zip("a.csv", CSV.encode()))
    central = content.index(b"PK\x01\x02")
    for at in (6, central + 8):  # the flag that means "encrypted", in both headers
        content[at] |= 1
    (tmp_path / "a.zip").write_bytes(content)
    refused(tmp_path / "a.zip", "csv", "encrypted", member="a.csv")
    content = bytearray(as_zip("a.csv", CSV.encode()))
    for at in (8, central + 10):
        content[at] = 97
    (tmp_path / "b.zip").write_bytes(content)
    refused(tmp_path / "b.zip", "csv", "unpack it", member="a.csv")


def test_a_changed_file_is_told_by_its_hash_in_every_form(tmp_path: Path) -> None:
    for name, (form, content, member, more) in FORMS.items():
        path = tmp_path / name
        path.write_bytes(content + b" ")
        pinned = hashlib.sha256(content).hexdigest()
        file = SourceFile(path=str(path), member=member, sha256=pinned)
        with pytest.raises(
            DataError, match=f"{name}: SHA-256 is [0-9a-f]+, the card pins {pinned}"
        ):
            list(read_records(file, DataSource(format=form, files=(file,), **more)))


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    refused(tmp_path / "a.csv", "csv", "a folder, a pipe or a device, not a file")
    refused(tmp_path / "b.csv", "csv", "cannot be read (FileNotFoundError)")


def test_ids_that_stand_twice_have_one_key(tmp_path: Path) -> None:
    """Ingest counts them by this key and refuses the file: see tests/spark/test_bad_input.py."""
    write_csv(tmp_path / "a.csv", [["id", "note"], ["1", "a"], ["2", "b"], ["1", "c"], ["01", "d"]])
    scenario = card(
        "free_text", source=source(tmp_path / "a.csv"), fields={"id": "id", "input": "note"}
    )
    keys = [one.source_key for one in fingerprint_records(read_card(scenario), scenario)]
    assert keys[0] == keys[2]
    assert len(set(keys)) == 3


@pytest.mark.attack("errors", "a csv without a header whose first line holds a needed name")
def test_a_first_line_that_is_data_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,Jane Roe,chest pain\n")
    message = refused(tmp_path / "a.csv", "csv", "needs column 'note'", "among its 3 columns")
    assert "chest" not in message


BROKEN_NOTES: Sequence[tuple[str, str, bytes]] = (
    ("csv", ".csv", b"id,note\n1,\x81\n"),
    ("jsonl", ".jsonl", b"\x81"),
    ("json", ".json", b"[{"),
    ("text", ".txt", b"\x81\xfe"),
    ("lines", ".txt", b"abc\x81"),
    ("xml", ".xml", b"<a>"),
    ("docx", ".docx", b"none"),
    ("parquet", ".parquet", b"PAR1"),
    ("feather", ".feather", b"none"),
    ("xlsx", ".xlsx", b"none"),
)


@pytest.mark.attack("errors", "note files named by record number, one of them broken")
@pytest.mark.parametrize(("form", "ending", "content"), BROKEN_NOTES)
def test_a_file_that_a_pattern_matched_is_named_by_its_number(
    tmp_path: Path, form: str, ending: str, content: bytes
) -> None:
    for number in (1, 2):
        (tmp_path / f"MRN-004{number}{ending}").write_bytes(content)
    pattern = str(tmp_path / f"*{ending}")
    record_path = ".//a" if form == "xml" else None
    data_source = spread(
        DataSource(format=form, files=(SourceFile(path=pattern),), record_path=record_path)
    )
    for number, file in enumerate(data_source.files, 1):
        try:
            records = list(read_records(file, data_source, required=("id", "note")))
            assert any(record.error for record in records), form
        except (DataError, ConfigError) as error:
            assert f"file {number} of 2 of {pattern}" in str(error)
            assert "MRN" not in str(error)


@pytest.mark.attack("errors", "event files named by patient, one of them broken")
def test_a_file_of_events_is_named_by_its_number(tmp_path: Path) -> None:
    paths = [tmp_path / f"MRN-004{number}.csv" for number in (1, 2)]
    for path in paths:
        path.write_bytes(b"\x81")
    history = History(
        patient="p", column="record", files=tuple(map(str, paths)), format="csv", time="t"
    )
    with pytest.raises(DataError, match="event file 2 of 2: not UTF-8") as caught:
        list(read_events(str(paths[1]), history))
    assert "MRN" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["Shift_JIS", "GB2312", "klingon"])
def test_xml_in_an_encoding_that_the_parser_lacks(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "MRN-7.xml"
    path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?><a><q>x</q></a>'.encode())
    file = SourceFile(path=str(path), label="file 1 of 1 in a folder")
    with pytest.raises(DataError) as caught:
        list(read_records(file, DataSource(format="xml", paths={"q": "q"})))
    message = "XML in an encoding that cannot be read here; save it as UTF-8."
    assert str(caught.value) == f"{file.label}: {message}"
