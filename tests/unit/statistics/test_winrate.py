"""Mean win rate, by hand and against a board that MedHELM wrote."""

import json
from pathlib import Path

import pytest

from medhelm_spark.statistics.winrate import mean_win_rates


def test_by_hand_with_ties_gaps_and_both_directions():
    columns = {
        # Worst to best: c, then a and b tied: a and b beat 1 and halve 1 of 2 others.
        "qa": {"a": 0.9, "b": 0.9, "c": 0.5},
        # Lower is better: b beats a; c has no value.
        "latency": {"a": 3.0, "b": 1.0, "c": None},
    }
    rates = mean_win_rates(columns, {"qa": False, "latency": True})
    assert rates == pytest.approx({"a": (0.75 + 0) / 2, "b": (0.75 + 1) / 2, "c": 0.0})


def test_columns_that_compare_nobody_are_skipped():
    columns = {
        "one value": {"a": 0.9, "b": None},
        "no direction": {"a": 1.0, "b": 2.0},
        "unlisted": {"a": 1.0, "b": 2.0},
        "compared": {"a": 0.1, "b": 0.2},
    }
    directions = {"one value": False, "no direction": None, "compared": False}
    assert mean_win_rates(columns, directions) == {"a": 0.0, "b": 1.0}
    assert mean_win_rates({"x": {"a": 1.0}}, {"x": False}) == {}


def test_all_tied_is_one_half():
    rates = mean_win_rates({"x": dict.fromkeys("abcd", 0.5)}, {"x": False})
    assert rates == dict.fromkeys("abcd", 0.5)


def test_equals_the_win_rates_medhelm_wrote(real_data: Path):
    folder = real_data / "helm_output_sample" / "releases" / "sample-release" / "groups" / "json"
    compared = 0
    for file in sorted(folder.glob("*.json")):
        table = json.loads(file.read_text("utf-8"))
        titles = [cell["value"] for cell in table["header"]]
        if "Mean win rate" not in titles:
            continue
        where = titles.index("Mean win rate")
        columns, directions = {}, {}
        for index, cell in enumerate(table["header"]):
            if index not in (0, where):
                columns[index] = {row[0]["value"]: row[index].get("value") for row in table["rows"]}
                directions[index] = cell.get("lower_is_better")
        rates = mean_win_rates(columns, directions)
        for row in table["rows"]:
            assert rates.get(row[0]["value"]) == row[where].get("value")
            compared += 1
    assert compared > 0
