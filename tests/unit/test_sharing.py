"""What a scan reads of a lake's tables, what it takes for a shingle, and what no list declares."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from medhelm_spark.errors import PolicyError
from medhelm_spark.lake.reader import open_reader, table_schema
from medhelm_spark.lake.tables import TABLES
from medhelm_spark.sharing.scan import (
    NAME_COLUMNS,
    PATTERNS,
    PROSE_COLUMNS,
    TEXT_COLUMNS,
    UNDECLARED,
    has_strings,
    scan,
    shingles,
)
from medhelm_spark.sharing.waivers import Waiver, blocking
from tests.unit.board.planted import plant


def test_every_table_with_text_is_compared_or_left_out_on_purpose() -> None:
    assert {name for name, table in TABLES.items() if table.has_text} == set(TEXT_COLUMNS)


@pytest.mark.parametrize("name", sorted(TEXT_COLUMNS))
def test_every_column_with_strings_is_declared_once(name: str) -> None:
    strings = {field.name for field in table_schema(name) if has_strings(field.type)}
    text, prose = set(TEXT_COLUMNS[name]), set(PROSE_COLUMNS.get(name, ()))
    assert not text & prose
    assert not (text | prose) & NAME_COLUMNS
    assert strings - NAME_COLUMNS == text | prose


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("lake"))


@pytest.mark.attack("sharing", "a column of text that no list of the scan declares")
def test_an_undeclared_column_of_text_in_the_lake_stops_the_scan(tmp_path: Path) -> None:
    lake, out = plant(tmp_path / "lake"), tmp_path / "out"
    out.mkdir()
    assert not scan(out, open_reader(str(lake))).leaks
    held = DeltaTable(lake / "instances").to_pyarrow_table().slice(0, 1)
    texts = pa.array([[{"note": "what the nurse said"}]])
    write_deltalake(
        str(lake / "instances"),
        held.append_column("later", texts),
        mode="append",
        schema_mode="merge",
    )
    with pytest.raises(PolicyError, match=r"table instances of .* has the column later") as refused:
        scan(out, open_reader(str(lake)))
    assert "nurse" not in str(refused.value)


@pytest.mark.attack("sharing", "a column, key or kind of file of a share that no list declares")
@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("share-1-results.csv", "number 2"),
        ("share-1-texts.parquet", "comment"),
        ("share-1-comments.parquet", "comment"),
        ("run_spec.json", "adapter_spec.instructions"),
        ("scenario_state.json", "request_states.result.error"),
        ("other.json", "text"),
        ("board.xlsx", ""),
        ("notes.txt", ""),
    ],
)
def test_what_no_list_declares_in_a_share_blocks_and_nobody_can_waive_it(
    planted: Path, tmp_path: Path, name: str, column: str
) -> None:
    path = tmp_path / name
    documents = {
        "run_spec.json": {"name": "a", "adapter_spec": {"model": "b", "instructions": "c"}},
        "scenario_state.json": {"request_states": [{"result": {"error": "c"}}]},
        "other.json": {"text": "c"},
    }
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"comment": ["c"]}), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(documents[name]))
    else:
        path.write_bytes(b"share,the comment\nx,c\n" if path.suffix == ".csv" else b"\xff\x00")
    found = scan(tmp_path, open_reader(str(planted)))
    (leak,) = (leak for leak in found.leaks if leak.kind == UNDECLARED)
    assert (leak.file, leak.column) == (name, column)
    waiver = Waiver(
        table=path.stem.rpartition("-")[2],
        column=column,
        pattern=UNDECLARED,
        approver="ann",
        reason="no",
    )
    assert leak in blocking(found.leaks, [waiver])


def test_undivided_words_are_compared_by_characters() -> None:
    text = "患者は" * 20
    assert len(shingles(text)) == 21 - 18
    assert shingles("a b c") == frozenset()


def test_patterns_find_identifiers_and_leave_numbers_alone() -> None:
    found = {
        "email address": "write to ann@ward.example.org",
        "social security number": "078-05-1120",
        "telephone number": "call (617) 555-0123",
        "date": "seen on 03/14/2026",
        "IP address": "from 10.0.0.7",
        "web address": "see https://ward.example.org/x",
        "ZIP code": "Boston, MA 02115",
        "record number": "MRN: 0042137",
        "age above 89": "a 93-year-old man",
    }
    assert set(found) == set(PATTERNS)
    for name, text in found.items():
        assert PATTERNS[name].search(text), name
    for text in ("BP 120/80, pulse 93", "5 to 10 mg", "a 64-year-old man", "0.937 [0.91, 0.95]"):
        assert not [name for name, pattern in PATTERNS.items() if pattern.search(text)], text
