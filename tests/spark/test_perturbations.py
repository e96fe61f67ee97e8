"""Perturbed copies and prompt variants through the command line, down to their summaries."""

import csv
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.spark.conftest import Site, calls, questions

Key = tuple[str, str | None]

QUESTIONS = [
    {"id": "1", "question": "FEVER", "correct_answer": "FEVER"},
    {"id": "2", "question": "Cough", "correct_answer": "Cough"},
    {"id": "3", "question": "pain", "correct_answer": "pain"},
    {"id": "4", "question": "Rash", "correct_answer": "wrong"},
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "calls.log"


def summaries(site: Site, name: str = "exact_match") -> dict[Key, tuple[float | None, int, int]]:
    """Mean, count and unscored count of a stat by (perturbation, what it is computed on)."""
    return {
        (row["perturbation"], row["computed_on"]): (row["mean"], row["count"], row["num_unscored"])
        for row in site.rows("stats")
        if row["name"] == name
    }


def test_copies_are_asked_scored_and_compared(site: Site, log: Path) -> None:
    model = site.deploy("acme/echo", mode="echo", log_file=str(log))
    entry = site.benchmark("bench", QUESTIONS, template="{question}")
    assert site.run("-r", f"{entry},model={model},data_augmentation=lower") == 0
    assert len(calls(log)) == 4 + 3, "the copy of a text in small letters would be equal"
    assert summaries(site) == {
        ("", None): (0.75, 4, 0),
        ("lowercase", "perturbed"): (0.0, 3, 0),
        ("lowercase", "original"): (pytest.approx(2 / 3), 3, 0),
        ("lowercase", "worst"): (0.0, 3, 0),
        ("lowercase", "invariance"): (pytest.approx(1 / 3), 3, 0),
        ("robustness", "worst"): (0.25, 4, 0),
        ("robustness", "invariance"): (pytest.approx(1 / 3), 3, 0),
    }
    (cell,) = site.board()
    assert (cell["mean"], cell["count"]) == (0.75, 4)

    plain = f"{entry},model={model}"
    assert site.run("-r", plain, suite="plain") == 0
    assert len(calls(log)) == 7, "originals are asked once, whoever perturbs them"
    rows, asked = site.rows("instances"), site.rows("requests")
    assert len({row["data_version"] for row in rows}) == 2
    assert {row["access_level"] for row in rows + asked} == {"public"}
    before = len(rows)
    assert site.run("-r", f"{plain},data_augmentation=lower") == 0
    assert len(site.rows("instances")) == before
    assert len(calls(log)) == 7


def test_a_missing_answer_makes_the_worst_unknown(site: Site) -> None:
    replies = {"FEVER": "FEVER", "fever": "x", "Cough": "Cough", "cough": "Cough"}
    model = site.deploy("acme/some", mode="script", text="?", replies=replies)
    entry = site.benchmark("bench", QUESTIONS[:2], template="{question}")
    assert site.run("-r", f"{entry},model={model},data_augmentation=lower") == 0
    found = summaries(site)
    assert found["lowercase", "worst"] == (0.5, 2, 0)
    assert found["lowercase", "invariance"] == (0.5, 2, 0)


def test_prompt_variants_give_mean_worst_and_spread(site: Site, log: Path) -> None:
    model = site.deploy("acme/echo", mode="echo", log_file=str(log))
    variants = [{"name": "loud", "prompt_file": "loud.txt"}]
    (site.folder / "bench").mkdir()
    (site.folder / "bench" / "loud.txt").write_text("{question}!")
    entry = site.benchmark("bench", QUESTIONS, template="{question}", prompt_variants=variants)
    assert site.run("-r", f"{entry},model={model}") == 0
    assert len(calls(log)) == 8
    found = summaries(site)
    assert found["", None] == (0.75, 4, 0)
    assert found["prompt.loud", "perturbed"] == (0.0, 4, 0)
    of_prompts = {on: row for (name, on), row in found.items() if name == "prompt_variants"}
    assert of_prompts == {
        "mean": (0.375, 2, 0),
        "worst": (0.0, 2, 0),
        "spread": (0.75, 2, 0),
        "invariance": (0.25, 4, 0),
    }


def card(site: Site, **keys: Any) -> str:
    """A multiple-choice scenario of the site's own."""
    folder = site.folder / "prod_env" / "scenarios"
    folder.mkdir(parents=True, exist_ok=True)
    data = site.folder / "options.csv"
    with data.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["id", "question", "options", "answer"])
        for i in range(4):
            rows.writerow([i, f"Which of these is {i}?", "one|two|three", "two"])
    made = {
        "name": "mine",
        "display_name": "Mine",
        "description": "Made for a test.",
        "access_level": "gated",
        "source": {"files": [{"path": str(data), "split": "test"}]},
        "shape": "multiple_choice",
        "fields": {"id": "id", "question": "question", "answer": "answer"},
        "options": {"choices": "one|two|three", "answer_form": "text"},
        "adapter_spec": {"method": "multiple_choice_joint", "max_tokens": 1, "num_outputs": 1},
        "metrics": [{"name": "exact_match"}],
        "main_metric": "exact_match",
        **keys,
    }
    (folder / "mine.yaml").write_text(yaml.safe_dump(made))
    return "mine"


def test_options_move_with_the_letter_that_is_right(site: Site, log: Path) -> None:
    numbers = {"name": "numbers", "adapter_spec": {"reference_prefix": "1. "}}
    entry = card(site, prompt_variants=[numbers])
    model = site.deploy("acme/b", text="B", log_file=str(log))
    asked = f"{entry}:model={model},data_augmentation=option_order"
    assert site.run("-r", asked, "-m", "3") == 0
    found = summaries(site)
    assert found["", None] == (1.0, 3, 0)
    assert found["option_order", "perturbed"] == (0.0, 3, 0), "every option has moved"
    assert found["option_order", "invariance"] == (0.0, 3, 0)
    assert found["prompt.numbers", "perturbed"] == (0.0, 3, 0), "B is no option of 1, 2, 3"
    copies = [row for row in site.rows("instances") if row["perturbation"] == "option_order"]
    assert len(copies) == 3, "only what is drawn is copied"
    assert {row["access_level"] for row in copies} == {"gated"}
    for row in copies:
        right = [one["text"] for one in row["references"] if "correct" in one["tags"]]
        assert right == ["two"]


def test_the_number_of_spark_jobs_does_not_grow_with_perturbed_run_specs(site: Site) -> None:
    def jobs(models: int) -> int:
        fresh = Site(site.folder / str(models), site.spark)
        fresh.folder.mkdir()
        names = [fresh.deploy(f"acme/model{i}", text="yes") for i in range(models)]
        entry = fresh.benchmark("bench", questions(3))
        context = site.spark.sparkContext
        context.setJobGroup(f"perturbed{models}", "counted")
        asked = f"{entry},data_augmentation=robustness_all"
        assert fresh.run("-r", asked, "--models-to-run", *names) == 0
        return len(context.statusTracker().getJobIdsForGroup(f"perturbed{models}"))

    assert jobs(1) == jobs(5)
