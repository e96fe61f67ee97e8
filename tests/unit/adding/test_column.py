"""A column of a table is a field of its row's dataclass; rows of before do not say: None."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from medhelm_spark.lake.describe import tables_markdown
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.rows import arrow_of
from medhelm_spark.lake.tables import TABLES, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """Row of `visits`: a visit."""

    patient: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """Row of `visits`: a visit."""

    patient: str
    ward: str | None = None
    num_notes: int | None = None


def enter(monkeypatch: pytest.MonkeyPatch, row: type) -> None:
    table = Table(name="visits", row=row, key=("patient",), indexed=("patient",))
    monkeypatch.setitem(TABLES._by_name, "visits", table)  # type: ignore[misc]


def append(lake: FileTables, row: Before | Visit) -> None:
    rows = arrow_of([row], type(row))
    lake.append("visits", rows.append_column("write_id", [["w"]]))


def test_older_rows_are_read_and_the_page_of_tables_has_the_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = FileTables(str(tmp_path))
    enter(monkeypatch, Before)
    append(lake, Before(patient="a"))
    assert "`ward`" not in tables_markdown()
    enter(monkeypatch, Visit)
    visit = Visit(patient="b", ward="north", num_notes=2)
    append(lake, visit)
    rows = lake.rows("SELECT * FROM {visits} ORDER BY patient", Visit)
    assert rows == [Visit(patient="a"), visit]
    assert "| `ward` | text, or None |  |  |" in tables_markdown()
