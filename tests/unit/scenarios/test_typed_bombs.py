"""Typed tables of some kilobytes that unpack to gigabytes of text are refused in little memory."""

import io
import os
import random
import string
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import read_records, unpacking
from medhelm_spark.scenarios.raw_files import RawFile
from medhelm_spark.scenarios.table_files import read_row_groups
from tests.meta.tree import ROOT

MiB = 1 << 20
LONG = "x" * MiB
READ = """
import resource, sys
import pyarrow.parquet, pyarrow.compute
from medhelm_spark.domain.data_source import DataSource, SourceFile
from medhelm_spark.errors import DataError
from medhelm_spark.scenarios import read_records
path, form = sys.argv[1:]
file = SourceFile(path=path)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    for record in read_records(file, DataSource(format=form, files=(file,))):
        pass
except DataError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def repeated(type_: pa.DataType, rows: int) -> pa.Array:
    """One long value in every row, stored once."""
    indices = pa.array([0] * rows, pa.int32())
    return pa.DictionaryArray.from_arrays(indices, pa.array([LONG]).cast(type_))


def as_lists(values: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)


def dictionary(path: Path) -> None:
    """Without the Arrow schema in it, so that it is read as plain text."""
    table = pa.table({"note": repeated(pa.string(), 4_000)})
    parquet.write_table(table, path, compression="zstd", store_schema=False)


def category(path: Path) -> None:
    parquet.write_table(pa.table({"note": repeated(pa.string(), 4_000)}), path, compression="zstd")


def in_lists(path: Path) -> None:
    table = pa.table({"notes": as_lists(repeated(pa.string(), 4_000))})
    parquet.write_table(table, path, compression="gzip", store_schema=False)


def categories_in_lists(path: Path) -> None:
    table = pa.table({"notes": as_lists(repeated(pa.string(), 4_000))})
    parquet.write_table(table, path, compression="gzip")


def in_structs(path: Path) -> None:
    notes = pa.StructArray.from_arrays([repeated(pa.string(), 4_000)], ["text"])
    parquet.write_table(pa.table({"n": notes}), path, compression="zstd", store_schema=False)


def of_fixed_length(path: Path) -> None:
    notes = pa.array([LONG.encode()] * 300, pa.binary(MiB))
    parquet.write_table(pa.table({"note": notes}), path, compression="zstd")


def one_page(path: Path) -> None:
    table = pa.table({"note": ["x" * (200 * MiB)]})
    parquet.write_table(table, path, compression="zstd", use_dictionary=False)


def beginnings(path: Path) -> None:
    parquet.write_table(
        pa.table({"note": [LONG] * 300}),
        path,
        compression="zstd",
        use_dictionary=False,
        column_encoding={"note": "DELTA_BYTE_ARRAY"},
    )


def beginnings_in_lists(path: Path) -> None:
    parquet.write_table(
        pa.table({"note": [[LONG] * 300]}),
        path,
        compression="zstd",
        use_dictionary=False,
        column_encoding={"note.list.element": "DELTA_BYTE_ARRAY"},
    )


def nulls(path: Path) -> None:
    parquet.write_table(pa.table({"note": pa.nulls(10_000_000, pa.string())}), path)


BOMBS: dict[str, Callable[[Path], None]] = {
    make.__name__: make
    for make in (
        dictionary,
        category,
        in_lists,
        categories_in_lists,
        in_structs,
        of_fixed_length,
        one_page,
        beginnings,
        beginnings_in_lists,
        nulls,
    )
}


@pytest.mark.attack("inputs", "a Parquet file of some KB whose rows hold gigabytes of text")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_little_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    BOMBS[name](path)
    assert path.stat().st_size < 64 << 10
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path), "parquet"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    message, grown = done.stdout.splitlines()
    assert "compressed bytes unpack to more than 16777216" in message
    assert message.endswith("write it anew as csv or JSON lines.")
    assert int(grown) * 1024 < 150 * MiB, f"{int(grown) // 1024} MiB"


def read(path: Path, form: str = "parquet") -> list[dict[str, Any]]:
    file = SourceFile(path=str(path))
    records = read_records(file, DataSource(format=form, files=(file,)))
    return [dict(record.fields) for record in records]


@pytest.mark.attack("inputs", "a Parquet file whose footer states sizes and counts that are wrong")
def test_a_footer_that_lies_is_no_way_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "FREE_BYTES", MiB // 2)
    text = pa.array(["x" * 1_000] * 2_000)
    table = pa.table({"note": text, "notes": as_lists(text.slice(0, 1)).take([0] * 2_000)})
    parquet.write_table(table, tmp_path / "a.parquet", compression="zstd", store_schema=False)
    content = (tmp_path / "a.parquet").read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    chooser = random.Random(7)
    for _ in range(100):
        changed = bytearray(content)
        changed[chooser.randrange(footer, len(content) - 8)] = chooser.randrange(256)
        (tmp_path / "b.parquet").write_bytes(changed)
        try:
            rows = read(tmp_path / "b.parquet")
        except DataError:
            continue
        assert sum(len(str(row)) for row in rows) < 2 * MiB


def test_a_page_header_that_is_none_is_refused(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"note": ["a", "b"]}), tmp_path / "a.parquet")
    content = bytearray((tmp_path / "a.parquet").read_bytes())
    content[4:24] = b"\xff" * 20
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(DataError, match="not a readable Parquet file"):
        read(tmp_path / "a.parquet")


WORDS = ["".join(random.Random(n).choices(string.ascii_letters, k=60)) for n in range(900)]
ROWS = [
    {
        "id": number,
        "word": WORDS[number % 900],
        "same": "stated in every row",
        "none": None,
        "list": [WORDS[number % 7], None, WORDS[number % 11]],
        "chat": [{"role": "user", "content": f"{number} mg"}],
    }
    for number in range(3_000)
]


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "brotli", "zstd", "lz4"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_usual_files_are_read_as_before(codec: str, version: str, tmp_path: Path) -> None:
    parquet.write_table(
        pa.Table.from_pylist(ROWS),
        tmp_path / "a.parquet",
        compression=codec,
        data_page_version=version,
        row_group_size=1_100,
        data_page_size=2_000,
    )
    assert read(tmp_path / "a.parquet") == ROWS


def test_categories_and_common_beginnings_are_read_as_before(tmp_path: Path) -> None:
    table = pa.table(
        {
            "word": pa.array([row["word"] for row in ROWS]).dictionary_encode(),
            "lists": pa.array(
                [[row["word"], None] for row in ROWS],
                pa.list_(pa.dictionary(pa.int32(), pa.string())),
            ),
            "note": [f"The patient, {row['word']}" for row in ROWS],
            "pairs": pa.array([[("a", row["id"])] for row in ROWS], pa.map_("string", "int64")),
        }
    )
    encoding = {"note": "DELTA_BYTE_ARRAY"}
    dictionaries = ["word", "lists.list.element"]
    parquet.write_table(
        table, tmp_path / "a.parquet", use_dictionary=dictionaries, column_encoding=encoding
    )
    assert read(tmp_path / "a.parquet") == table.to_pylist()


def test_columns_that_nobody_asked_for_cost_nothing() -> None:
    stream = io.BytesIO()
    table = pa.table({"id": list(range(4_000)), "note": repeated(pa.string(), 4_000)})
    parquet.write_table(table, stream, compression="zstd", store_schema=False)
    raw = RawFile(path="a.parquet", stream=stream, source=DataSource())
    rows = read_row_groups(raw, lambda _: None, ["id"], partition=0, partitions=1)
    assert [row["id"] for _, row in rows] == list(range(4_000))
