"""A column of a table is a field of its row's dataclass; older rows lack it: None.

A field of `Mean` is a column of `stats`, and boards and exports show it.
"""

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from medhelm_spark.lake.describe import tables_markdown
from medhelm_spark.lake.files import FileTables
from medhelm_spark.lake.rows import arrow_of
from medhelm_spark.lake.tables import TABLES, Table
from tests.unit.adding.edited import Edits, printed
from tests.unit.board.planted import ALPHA, BETA


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


OF_STATS: Edits = {
    "domain/stats.py": (
        (
            "    denominator: int | None = None\n",
            "    num_values: int | None = None\n"
            '    """Distinct values among the scores."""\n\n'
            "    denominator: int | None = None\n",
        ),
    ),
    "statistics/summary.py": (
        ("        count=n,\n", "        count=n,\n        num_values=len(counts),\n"),
    ),
    "domain/stages.py": (
        ('    version="9",\n    about="Means,', '    version="10",\n    about="Means,'),
    ),
}

SHOWN = """
import json
from pathlib import Path

from medhelm_spark import Evaluation
from medhelm_spark.board.render.fields import page
from medhelm_spark.lake.describe import tables_markdown
from tests.unit.board.planted import plant

read = Evaluation(str(plant(Path("lake"))))
shown = {"tables": tables_markdown(), "exports": page()}
shown |= {"board": read.board("s1").render("csv"), "stats": read.stats("s1").render("csv")}
print(json.dumps(shown))
"""


def test_a_column_of_stats_is_shown_from_three_files(tmp_path: Path) -> None:
    shown = json.loads(printed(tmp_path, OF_STATS, SHOWN))
    line = "| `num_values` | whole number, or None |  |  | Distinct values among the scores. |"
    assert shown["tables"].count(line) == len(("stats", "release_stats"))
    line = "| `num_values` | whole number | distinct values among the scores |"
    assert shown["exports"].count(line) == len(("cells", "stats"))
    cells = csv.DictReader(io.StringIO(shown["board"]))
    by_run = {(cell["model"], cell["scenario_name"]): cell["num_values"] for cell in cells}
    assert (by_run[ALPHA, "triage_choice"], by_run[BETA, "medcalc_bench"]) == ("2", "1")
    stats = csv.DictReader(io.StringIO(shown["stats"]))
    assert {row["num_values"] for row in stats} == {"1", "2"}
