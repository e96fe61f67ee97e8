"""Json and json lines."""

import json
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import BadReason, Record, read_records
from tests.unit.scenarios.cards import source


def read(path: Path, format_: str = "json", **more: Any) -> list[Record]:
    data_source = source(path, format_, **more)
    return list(read_records(data_source.files[0], data_source))


def write(folder: Path, content: object) -> Path:
    path = folder / "a.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_list_of_records(tmp_path: Path) -> None:
    found = read(write(tmp_path, [{"a": "1"}, "text", {"a": None}]))
    assert [(record.row, record.error) for record in found] == [
        (1, None),
        (2, BadReason.NOT_AN_OBJECT),
        (3, None),
    ]


def test_object_by_key_and_path(tmp_path: Path) -> None:
    path = write(tmp_path, {"x": {"data": {"p1": {"q": "a"}, "p2": [1]}}})
    found = read(path, record_path="x.data", key_field="pmid")
    assert found[0].fields == {"q": "a", "pmid": "p1"}
    assert found[1].error is BadReason.NOT_AN_OBJECT


def test_numbers_keep_their_digits(tmp_path: Path) -> None:
    path = write(tmp_path, '[{"a": 1.50, "b": 007e1}]'.replace("007e1", "1E400"))
    assert read(path)[0].fields == {"a": "1.50", "b": "1E400"}


def test_nul_and_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf[{"a": "x\\u0000y"}]')
    assert read(tmp_path / "a.json")[0].fields == {"a": "x\x00y"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"a": "secret"},\n {"a": "sec', "broken JSON at line 2, column 8"),
        ("", "broken JSON at line 1, column 1"),
        ('{"1": {"a": "x"}, "1": {"a": "y"}}', "the same key twice"),
        ('{"rows": []}', "a list of records is needed"),
        ("[" * 200_000, "nested too deeply"),
    ],
)
def test_broken_documents_are_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(write(tmp_path, content))
    assert "sec" not in str(caught.value)


def test_wrong_path_and_wrong_form(tmp_path: Path) -> None:
    path = write(tmp_path, {"data": [{"a": "1"}]})
    with pytest.raises(DataError, match="nothing is at record_path 'rows'"):
        read(path, record_path="rows")
    with pytest.raises(DataError, match="an object of records is needed"):
        read(path, record_path="data", key_field="id")


def test_bad_encoding_names_the_byte(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'[{"a": "\x81"}]')
    with pytest.raises(DataError, match="not UTF-8 at byte 8"):
        read(tmp_path / "a.json")


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = ['{"a": "x\u2028y"}', "", '{"a": "cut', "[1]", '{"a": 1, "a": 2}', '{"a": 10}']
    path.write_text("\n".join(lines), encoding="utf-8")
    found = read(path, "jsonl")
    assert found[0].fields == {"a": "x\u2028y"}
    assert [record.error for record in found] == [
        None,
        BadReason.BROKEN_JSON,
        BadReason.NOT_AN_OBJECT,
        BadReason.BROKEN_JSON,
        None,
    ]
    assert found[4].fields == {"a": "10"}
    assert found[4].row == 5
