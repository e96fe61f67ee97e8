"""A result as a workbook, read back by another program's rules."""

import io
from pathlib import Path

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.cli import main
from medhelm_spark.render.workbook import workbook
from tests.unit.board.planted import HOSTILE, plant

openpyxl = pytest.importorskip("openpyxl")


def sheets(data: bytes) -> dict[str, list[tuple[object, ...]]]:
    book = openpyxl.load_workbook(io.BytesIO(data))
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}


def test_lists_are_sheets_numbers_are_numbers_and_no_text_is_a_formula():
    document = {
        "banner": "withdrawn",
        "cells": [
            {"model": "=1+1", "mean": 0.125, "parts": ["a", "b"]},
            {"model": HOSTILE, "=n": 3},
        ],
        "notes": ["one", "-two"],
        "a/b": [],
    }
    book = sheets(workbook(document))
    assert book["cells"] == [
        ("model", "mean", "parts", "'=n"),
        ("'=1+1", 0.125, "['a', 'b']", None),
        (HOSTILE, None, None, 3),
    ]
    assert book["notes"] == [("notes",), ("one",), ("'-two",)]
    assert book["about"] == [("name", "value"), ("banner", "withdrawn")]
    assert "a-b" in book


def test_a_board_is_a_workbook_with_the_numbers_of_its_json(tmp_path: Path, capsys):
    lake = plant(tmp_path)
    path = tmp_path / "board.xlsx"
    flags = ["leaderboard", "-o", str(lake), "--suite", "s1", "--format", "xlsx"]
    assert main(flags) != 0
    assert "--output-file" in capsys.readouterr().err
    assert main([*flags, "--output-file", str(path)]) == 0
    book = sheets(path.read_bytes())
    header, *rows = book["cells"]
    means = [row[header.index("mean")] for row in rows]
    board = Evaluation(str(lake), site=None, tracking=False).board("s1")
    assert means == [row["mean"] for row in board.rows()]
    assert {"models", "cells", "pairs", "notes"} <= book.keys()
