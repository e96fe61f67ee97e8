"""The order of the board's rows, and the tree of categories."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from medhelm_spark.board import BoardSource, Kind, load_runs
from medhelm_spark.lake.reader import Reader
from tests.unit.statistics.cells import CELL, board_of

DASHBOARDS = Path(__file__).resolve().parents[3] / "dashboards"


@pytest.fixture(scope="module")
def arrangement() -> ModuleType:
    spec = importlib.util.spec_from_file_location("arrangement", DASHBOARDS / "arrangement.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def named(name: str, mean: float | None, **changed: object) -> object:
    return replace(CELL, model=name, model_deployment=name, mean=mean, **changed)


@pytest.mark.parametrize(
    ("lower_is_better", "order"),
    [(False, ["a", "c", "few", "absent", "none"]), (True, ["c", "a", "few", "absent", "none"])],
)
def test_the_best_is_first_and_what_does_not_count_last(
    arrangement, lower_is_better, order
) -> None:
    means = {"a": 0.9, "c": 0.1, "none": None}
    cells = [named(name, mean, lower_is_better=lower_is_better) for name, mean in means.items()]
    best = 0.0 if lower_is_better else 1.0
    few = named("few", best, lower_is_better=lower_is_better, count=1, num_unscored=99)
    other = named("absent", 0.5, scenario_name="other", display_name="Other")
    board = arrangement.arranged(board_of([*cells, few, other]), "PubMedQA")
    names = [row.name for row in board.rows]
    assert names[:3] == order[:3]
    assert set(names[3:]) == set(order[3:])


def test_columns_of_one_name_are_told_apart_and_none_hides_the_rank(arrangement) -> None:
    cells = [CELL, replace(CELL, main_metric="f1"), replace(CELL, scenario_name="r")]
    cells.append(replace(CELL, scenario_name="rank", display_name="Model"))
    assert list(arrangement.sort_keys(board_of(cells))) == [
        "Tier and win rate",
        "Model",
        "PubMedQA (exact_match, test, pubmed_qa)",
        "PubMedQA (f1, test, pubmed_qa)",
        "PubMedQA (exact_match, test, r)",
        "Model (exact_match, test, rank)",
    ]


def test_a_subcategory_stands_beneath_its_category(arrangement, reader: Reader) -> None:
    runs = load_runs(reader, BoardSource(kind=Kind.SUITE, name="s1"))
    runs = [
        replace(run, cell=replace(run.cell, subcategory="Triage"))
        if run.cell and run.cell.scenario_name == "triage_choice"
        else run
        for run in runs
    ]
    name = "Clinical Decision Support"
    assert arrangement.categories(runs) == [
        "All",
        name,
        f"{name} / Triage",
        "Clinical Note Generation",
    ]
    of_category = arrangement.of_category
    assert {run.run_spec.scenario_name for run in of_category(runs, f"{name} / Triage")} == {
        "triage_choice"
    }
    whole = of_category(runs, name)
    assert {run.run_spec.scenario_name for run in whole} == {"triage_choice", "medcalc_bench"}
    assert any(run.cell is None for run in whole), "a planned run stays with its scenario"
    assert of_category(runs, "All") == tuple(runs)
