"""The table of robustness as text, Markdown, CSV and JSON."""

import csv
import io
import json
from dataclasses import replace

import pytest

from medhelm_spark.board.render.robustness import EMPTY, HEADER, NOTES, render_robustness
from medhelm_spark.errors import UnknownNameError
from medhelm_spark.statistics.robustness import ordered, with_numbers
from tests.unit.statistics.test_robustness import RUN, STATS, WHOLE


def test_the_table_says_every_number_and_what_it_means() -> None:
    text = render_robustness(ordered(with_numbers(RUN, STATS, WHOLE)), "table")
    lines = text.splitlines()
    assert tuple(lines[0].split()) == HEADER
    (line,) = (line for line in lines if " lowercase " in line)
    assert " ".join(line.split()).endswith(
        "0.667 [0.10, 0.60] 0.333 [0.10, 0.60] 0.333 [0.10, 0.60] 0.667 [0.10, 0.60] - 3"
    )
    assert lines[-len(NOTES) :] == list(NOTES)
    lower = render_robustness([replace(RUN, lower_is_better=True)], "md")
    assert "| Triage: exact_match (lower is better) |" in lower


def test_json_and_csv_hold_all_fields_and_nothing_is_said_of_nothing() -> None:
    rows = ordered(with_numbers(RUN, STATS, WHOLE))
    content = json.loads(render_robustness(rows, "json"))
    assert [row["perturbation"] for row in content["rows"]] == [row.perturbation for row in rows]
    read = list(csv.DictReader(io.StringIO(render_robustness(rows, "csv"))))
    assert [float(row["worst"]) for row in read] == [row.worst for row in rows]
    assert read[0]["spread"] == "0.5"
    assert render_robustness([], "table") == f"{EMPTY}\n"
    assert json.loads(render_robustness([], "json"))["rows"] == []
    with pytest.raises(UnknownNameError, match="board format 'pdf'"):
        render_robustness(rows, "pdf")
