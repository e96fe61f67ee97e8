"""What a plug-in prints while it sees rows, and what names a row's file, reach no log."""

import logging
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pytest

from medhelm_spark import plugins
from medhelm_spark.errors import StageError
from medhelm_spark.lake.columnar import encode_batch
from medhelm_spark.lake.rows import _Partition

SECRET = "Jane Roe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    source_file: str
    text: str


class Printing:
    def __call__(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            sys.stdout.write(row.text)
            logging.getLogger("of.a.plugin").warning(row.text)
            yield row


class Failing:
    def __call__(self, rows: Iterable[Row]) -> Iterator[Row]:
        for row in rows:
            raise ValueError(row.text)
        return iter(())


def batch() -> pa.RecordBatch:
    return encode_batch(Row, [Row(source_file="notes/MRN-0042.txt", text=SECRET)])


@pytest.mark.attack("errors", "a plug-in that prints the rows it sees")
def test_what_a_plug_in_prints_reaches_no_log(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plugins, "ensure", lambda loaded: None)
    loaded = (object(),)
    (out,) = _Partition(Printing(), Row, Row, loaded)([batch()])
    assert out.column("text").to_pylist() == [SECRET]
    output = capfd.readouterr()
    assert SECRET not in output.out + output.err
    assert "that a plug-in printed are not shown" in output.err


def test_without_a_plug_in_nothing_is_held_back(capfd: pytest.CaptureFixture[str]) -> None:
    list(_Partition(Printing(), Row, Row)([batch()]))
    assert SECRET in capfd.readouterr().out


@pytest.mark.attack("errors", "a row of a file that is named by record number fails")
def test_a_rows_file_is_a_hash_in_its_error() -> None:
    with pytest.raises(StageError, match=r"near row source_file=#[0-9a-f]{8}") as caught:
        list(_Partition(Failing(), Row, Row)([batch()]))
    assert "MRN" not in str(caught.value)
    assert SECRET not in str(caught.value)
