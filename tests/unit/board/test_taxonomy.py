"""The taxonomy's subcategories beside the benchmarks of a board."""

from pathlib import Path

import pytest

from medhelm_spark import Evaluation
from medhelm_spark.board import choose, load_runs
from medhelm_spark.board.taxonomy import NOT_COVERED, OTHER, taxonomy_coverage
from medhelm_spark.cli import main
from medhelm_spark.lake.reader import open_reader
from tests.unit.board.planted import plant

DECISIONS = "Clinical Decision Support"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("lake"))


def test_every_subcategory_is_covered_or_not_and_benchmarks_without_one_are_kept(lake: Path):
    reader = open_reader(str(lake))
    runs = load_runs(reader, choose(reader, "s1"))
    keys = {
        run.cell.display_name: (run.cell.category, run.cell.subcategory) for run in runs if run.cell
    }
    category, subcategory = keys["Triage choice"]
    taxonomy = {category: (subcategory, "Another task"), "Research": ("Reading",)}
    found = {(row.category, row.subcategory): row for row in taxonomy_coverage(runs, taxonomy)}
    task = found[category, subcategory]
    assert "Triage choice" in task.benchmarks
    assert task.num_models >= 2
    assert found[category, "Another task"].benchmarks == ()
    assert found["Research", "Reading"].num_instances == 0
    others = [title for title, key in keys.items() if key not in found]
    assert set(others) <= set(found[OTHER, ""].benchmarks)


def test_the_command_names_what_is_not_covered(lake: Path, capsys: pytest.CaptureFixture[str]):
    flags = ("leaderboard", "-o", str(lake), "--suite", "s1", "--show", "taxonomy")
    assert main([*flags]) == 0
    text = capsys.readouterr().out
    assert text.count(NOT_COVERED) >= 19
    assert "of 22 subcategories covered" in text
    assert main([*flags, "--metric", "exact_match"]) != 0
    rows = list(Evaluation(str(lake), site=None, tracking=False).taxonomy("s1").rows())
    assert len({row["category"] for row in rows if row["category"] != OTHER}) == 5
