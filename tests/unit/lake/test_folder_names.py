"""A lake in a folder of any name that its engines can read, and no other."""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.delta_columns import delta_values
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.reader import FileReader
from medhelm_spark.lake.session import Session
from tests.ledger import scored


def never() -> SparkSession:
    raise AssertionError("Spark was started")


@pytest.mark.parametrize("name", ["Klinik ä", "study #2", "50 %", "it's", "{a}", "a:b?c*d"])
def test_rows_are_written_and_read(tmp_path: Path, name: str) -> None:
    folder = str(tmp_path / name / "lake")
    scored(Lake(Session(never, "local"), folder), "u", "w", datetime(2026, 1, 1, tzinfo=UTC))
    rows = FileReader(folder).query("SELECT unit_id FROM {runs}").to_pylist()
    assert rows == [{"unit_id": "u"}]


@pytest.mark.parametrize("name", ["[old]", "a^b", "a|b", "a\\b", "x%20y", "a\tb"])
def test_a_name_that_is_read_as_another_is_refused(tmp_path: Path, name: str) -> None:
    folder = str(tmp_path / name / "lake")
    with pytest.raises(ConfigError, match="give it another name"):
        Lake(Session(never, "local"), folder)
    with pytest.raises(ConfigError, match="give it another name"):
        FileReader(folder)


def test_a_table_in_such_a_folder_is_left_to_spark(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "old", pa.table({"answer": ["yes"]}))
    folder = (tmp_path / "old").rename(tmp_path / "[old]")
    assert delta_values(str(folder), "answer", None) is None
