"""Files and configuration made to hurt: they are read, or refused, with work that is bounded."""

import json
from pathlib import Path

import pytest

from medhelm_spark.config.yaml_text import parse_yaml
from medhelm_spark.domain.columns import SHOWN_COLUMNS
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.errors import ConfigError, DataError
from medhelm_spark.scenarios import json_files, read_records
from medhelm_spark.scenarios.raw_files import check_columns, repeated
from medhelm_spark.scenarios.records import BadReason, Record


class Counted(str):
    """A column name that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


def read(path: Path, content: bytes, form: str, **more: object) -> list[Record]:
    path.write_bytes(content)
    file = SourceFile(path=str(path))
    return list(read_records(file, DataSource(format=form, files=(file,), **more)))


@pytest.mark.attack("inputs", "a csv of 100,000 columns, with and without names of their own")
def test_many_columns_are_compared_once_each(tmp_path: Path) -> None:
    names = [Counted(f"c{number}") for number in range(5_000)]
    assert repeated(names) == []
    assert repeated([*names, *map(Counted, names[:2])]) == [5_001, 5_002]
    assert Counted.compared < 5 * len(names)
    header = ",".join(f"c{number}" for number in range(100_000))
    (row,) = read(tmp_path / "a.csv", f"{header}\n{'1,' * 99_999}1\n".encode(), "csv")
    assert len(row.fields) == 100_000
    with pytest.raises(DataError, match="twice") as twice:
        read(tmp_path / "b.csv", b"a," * 100_000 + b"\n1\n", "csv")
    with pytest.raises(DataError, match="needs column") as absent:
        check_columns("a.csv", ["c1", "q"], header.split(","))
    assert len(str(twice.value)) < 20 * SHOWN_COLUMNS
    assert len(str(absent.value)) < 20 * SHOWN_COLUMNS


@pytest.mark.attack("inputs", "JSON 200,000 deep, as a document, a line and a key")
def test_deep_json_is_refused_or_counted(tmp_path: Path) -> None:
    deep = b"[" * 200_000 + b"]" * 200_000
    with pytest.raises(DataError, match=r"a\.json: the JSON is nested too deeply\."):
        read(tmp_path / "a.json", deep, "json")
    rows = read(tmp_path / "a.jsonl", b'{"a":' + deep + b'}\n{"a": "x"}\n', "jsonl")
    assert [row.error for row in rows] == [BadReason.BROKEN_JSON, None]


@pytest.mark.attack("inputs", "a JSON document of millions of empty lists, 64 bytes of memory each")
def test_a_document_of_nothing_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_files, "MAX_VALUES", 1_000)
    assert len(read(tmp_path / "a.json", json.dumps([{"a": "x"}] * 300).encode(), "json")) == 300
    with pytest.raises(DataError, match="more than 1000 lists, objects and commas"):
        read(tmp_path / "b.json", b"[" + b"[]," * 600 + b"[]]", "json")


@pytest.mark.attack("inputs", "huge numbers, not-a-number, NUL and half characters in JSON")
def test_odd_values_are_text_or_refused(tmp_path: Path) -> None:
    digits = "9" * 100_000
    content = f'[{{"n": {digits}, "f": 1e999, "z": "\\u0000", "h": "\\ud800"}}]'
    (row,) = read(tmp_path / "a.json", content.encode(), "json")
    assert (row.fields["n"], row.fields["f"]) == (digits, "1e999")
    assert row.fields["z"] == "\0"


@pytest.mark.attack("inputs", "XML that names a file of this machine, or is 100,000 deep")
def test_xml_reads_no_other_file_and_may_be_deep(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a secret")
    entity = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]><a>&x;</a>'
    with pytest.raises(DataError, match="not well-formed") as refusal:
        read(tmp_path / "a.xml", entity.encode(), "xml", record_path="a", paths={"t": "."})
    assert "a secret" not in str(refusal.value)
    deep = b"<a>" * 100_000 + b"x" + b"</a>" * 100_000
    assert len(read(tmp_path / "b.xml", deep, "xml", paths={"t": "."})) == 1


@pytest.mark.attack("inputs", "YAML whose anchors unfold to a billion values, or hold themselves")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a0: &a0 [x]\n"
            + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)),
            "unfold to more than 1000000 values",
        ),
        ("a: &a [*a]", "an anchor inside itself"),
        ("[" * 5_000 + "]" * 5_000, "nested more than 100 levels deep"),
        ("a: " + "9" * 20_000, "not valid YAML"),
        ("a: !!python/object/apply:os.system ['true']", "could not determine a constructor"),
    ],
)
def test_hostile_yaml_is_refused_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refusal:
        parse_yaml(text, "card.yaml")
    assert str(refusal.value).startswith("card.yaml")
    assert "\n" not in str(refusal.value)


def test_anchors_of_a_usual_card_are_read() -> None:
    assert parse_yaml("a: &a [x, y]\nb: *a\nc: *a", "card.yaml")["c"] == ["x", "y"]
