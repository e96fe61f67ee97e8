"""Perturbed copies and prompt variants through the command line, down to their summaries."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from medhelm_spark.domain.run import PerturbationSpec, RunSpec
from medhelm_spark.domain.stats import PerInstanceStats, Score
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.summarize.robustness import compared
from medhelm_spark.statistics.intervals import wilson
from tests.spark.conftest import Site, calls, questions
from tests.unit.board.planted import ALPHA, run_spec

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


@pytest.mark.long
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
    assert site.run("--release", "r1", "--no-tracking", command="publish") == 0, (
        "computed again, they are alike"
    )

    plain = f"{entry},model={model}"
    assert site.run("-r", plain, suite="plain") == 0
    assert len(calls(log)) == 7, "originals are asked once, whoever perturbs them"
    rows, requests = site.rows("instances"), site.rows("requests")
    assert len({row["data_version"] for row in rows}) == 2
    assert {row["access_level"] for row in rows + requests} == {"public"}
    before = len(rows)
    assert site.run("-r", f"{plain},data_augmentation=lower") == 0
    assert len(site.rows("instances")) == before
    assert len(calls(log)) == 7


@pytest.mark.core
def test_the_worst_is_taken_instance_by_instance(site: Site) -> None:
    replies = {"FEVER": "FEVER", "fever": "x", "Cough": "Cough", "cough": "Cough"}
    model = site.deploy("acme/some", mode="script", text="?", replies=replies)
    entry = site.benchmark("bench", QUESTIONS[:2], template="{question}")
    assert site.run("-r", f"{entry},model={model},data_augmentation=lower") == 0
    stats = summaries(site)
    assert stats["lowercase", "worst"] == (0.5, 2, 0)
    assert stats["lowercase", "invariance"] == (0.5, 2, 0)


def test_prompt_variants_give_mean_worst_and_spread(site: Site, log: Path) -> None:
    model = site.deploy("acme/echo", mode="echo", log_file=str(log))
    variants = [{"name": "loud", "prompt_file": "loud.txt"}]
    (site.folder / "bench").mkdir()
    (site.folder / "bench" / "loud.txt").write_text("{question}!")
    entry = site.benchmark("bench", QUESTIONS, template="{question}", prompt_variants=variants)
    assert site.run("-r", f"{entry},model={model}") == 0
    assert len(calls(log)) == 8
    stats = summaries(site)
    assert stats["", None] == (0.75, 4, 0)
    assert stats["prompt.loud", "perturbed"] == (0.0, 4, 0)
    of_prompts = {on: row for (name, on), row in stats.items() if name == "prompt_variants"}
    assert of_prompts == {
        "mean": (0.375, 2, 0),
        "worst": (0.0, 2, 0),
        "spread": (0.75, 2, 0),
        "invariance": (0.25, 4, 0),
    }


def test_a_metric_of_the_whole_run_is_compared_too(site: Site) -> None:
    """Three positive and two negative cases: as they are, in small letters, and asked otherwise."""
    replies = {
        **{"!FEVER": "yes", "!COUGH": "yes", "!PAIN": "yes", "!RASH": "no", "!ITCH": "no"},
        **{"FEVER": "yes", "COUGH": "yes", "PAIN": "no", "RASH": "no", "ITCH": "yes"},
        **{"fever": "yes", "cough": "no", "pain": "yes", "rash": "yes", "itch": "?"},
    }
    right = {"FEVER": "yes", "COUGH": "yes", "PAIN": "yes", "RASH": "no", "ITCH": "no"}
    model = site.deploy("acme/some", mode="script", text="?", replies=replies)
    (site.folder / "bench").mkdir()
    (site.folder / "bench" / "loud.txt").write_text("!{question}")
    entry = site.benchmark(
        "bench",
        [
            {"id": text, "question": text, "correct_answer": answer}
            for text, answer in right.items()
        ],
        template="{question}",
        metrics=[
            {"name": "sensitivity", "args": {"labels": "yes|no", "positive": "yes"}},
            {"name": "perplexity"},
        ],
        prompt_variants=[{"name": "loud", "prompt_file": "loud.txt"}],
    )
    assert site.run("-r", f"{entry},model={model},data_augmentation=lower") == 0
    two_thirds = pytest.approx(2 / 3)
    assert summaries(site, "sensitivity") == {
        ("", None): (two_thirds, 5, 0),
        ("lowercase", "perturbed"): (two_thirds, 5, 0),
        ("lowercase", "original"): (two_thirds, 5, 0),
        ("lowercase", "worst"): (pytest.approx(1 / 3), 5, 0),
        ("lowercase", "invariance"): (0.2, 5, 0),
        ("robustness", "worst"): (pytest.approx(1 / 3), 5, 0),
        ("robustness", "invariance"): (0.2, 5, 0),
        ("prompt.loud", "perturbed"): (1.0, 5, 0),
        ("prompt.loud", "original"): (two_thirds, 5, 0),
        ("prompt.loud", "worst"): (two_thirds, 5, 0),
        ("prompt.loud", "invariance"): (0.6, 5, 0),
        ("prompt_variants", "mean"): (pytest.approx(5 / 6), 2, 0),
        ("prompt_variants", "worst"): (two_thirds, 2, 0),
        ("prompt_variants", "spread"): (pytest.approx(1 / 3), 2, 0),
        ("prompt_variants", "invariance"): (0.6, 5, 0),
    }
    # Of two wrong answers to a negative case the false alarm counts, not the abstention.
    assert summaries(site, "ppv")["lowercase", "worst"] == (pytest.approx(1 / 3), 5, 0)
    counts = {key[1] for key in summaries(site, "confusion[yes>no]")}
    assert counts == {None, "perturbed"}, "a count is neither better nor worse"
    stats = {
        (row["name"], row["perturbation"], row["computed_on"]): row for row in site.rows("stats")
    }
    worst = stats["sensitivity", "lowercase", "worst"]
    assert (worst["denominator"], worst["ci_method"]) == (3, "wilson")
    intervals = wilson(1, 3), wilson(1, 5)
    same = stats["sensitivity", "lowercase", "invariance"]
    ends = [(row["ci_low"], row["ci_high"]) for row in (worst, same)]
    assert ends == [pytest.approx((each.low, each.high)) for each in intervals]
    assert ("perplexity", "lowercase", "worst") not in stats, "no answer of it is right or wrong"
    assert site.run("--show", "robustness", command="leaderboard") == 0
    assert site.run("--release", "r1", "--no-tracking", command="publish") == 0, (
        "computed again, they are alike"
    )


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
    content = {
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
    (folder / "mine.yaml").write_text(yaml.safe_dump(content))
    return "mine"


def test_options_move_with_the_letter_that_is_right(site: Site, log: Path) -> None:
    numbers = {"name": "numbers", "adapter_spec": {"reference_prefix": "1. "}}
    entry = card(site, prompt_variants=[numbers])
    model = site.deploy("acme/b", text="B", log_file=str(log))
    run_entry = f"{entry}:model={model},data_augmentation=option_order"
    assert site.run("-r", run_entry, "-m", "3") == 0
    stats = summaries(site)
    assert stats["", None] == (1.0, 3, 0)
    assert stats["option_order", "perturbed"] == (0.0, 3, 0), "every option has moved"
    assert stats["option_order", "invariance"] == (0.0, 3, 0)
    assert stats["prompt.numbers", "perturbed"] == (0.0, 3, 0), "B is no option of 1, 2, 3"
    copies = [row for row in site.rows("instances") if row["perturbation"] == "option_order"]
    assert len(copies) == 3, "only what is drawn is copied"
    assert {row["access_level"] for row in copies} == {"gated"}
    for row in copies:
        right = [one["text"] for one in row["references"] if "correct" in one["tags"]]
        assert right == ["two"]


def test_the_number_of_spark_jobs_does_not_grow_with_perturbed_run_specs(site: Site) -> None:
    def jobs(models: int) -> int:
        fresh = Site(site.folder / str(models), site.spark)
        names = [fresh.deploy(f"acme/model{i}", text="yes") for i in range(models)]
        entry = fresh.benchmark("bench", questions(3))
        context = site.spark.sparkContext
        context.setJobGroup(f"perturbed{models}", "counted")
        run_entry = f"{entry},data_augmentation=robustness_all"
        assert fresh.run("-r", run_entry, "--models-to-run", *names) == 0
        return len(context.statusTracker().getJobIdsForGroup(f"perturbed{models}"))

    assert jobs(1) == jobs(5)


def test_repeats_are_compared_as_wholes(site: Site) -> None:
    """Two trials of four instances, of which one is unscored once, and a copy that has no part."""
    base_spec = run_spec("r", ALPHA, "discharge_note")
    spec = replace(
        base_spec,
        adapter_spec=replace(base_spec.adapter_spec, num_trials=2),
        perturbations=(PerturbationSpec(name="typos"),),
    )
    trials: dict[int, tuple[float | None, ...]] = {0: (1, 0, 1, 0), 1: (1, 1, 1, None)}
    rows = [
        scored(str(index), "", trial, value)
        for trial, values in trials.items()
        for index, value in enumerate(values)
    ]
    rows += [scored("0", "typos", trial, 0.0) for trial in trials]
    values_by_key = comparisons(site, rows, spec)
    assert {
        on: stat_values for (name, on), stat_values in values_by_key.items() if name == "repeats"
    } == {
        "mean": [0.75, 0.75],
        "lowest": [0.5, 0.5],
        "lowest_scored": [0.5, 0.5],
        "highest": [1.0, 1.0],
        "spread": [0.5, 0.5],
    }
    assert len(values_by_key["typos", "original"]) == 2


def scored(instance: str, perturbation: str, trial: int, value: float | None) -> PerInstanceStats:
    """One stat of an evaluation key."""
    return PerInstanceStats(
        run_spec_id="r",
        instance_id=instance,
        perturbation=perturbation,
        train_trial_index=0,
        trial_index=trial,
        split="test",
        stats=(Score(name="m", value=value),),
    )


def comparisons(
    site: Site, rows: list[PerInstanceStats], spec: RunSpec
) -> dict[Key, list[float | None]]:
    """All values to be summarised by (perturbation, what they are computed on)."""
    values_by_key: dict[Key, list[float | None]] = {}
    stats = site.lake.frame(rows, PerInstanceStats)
    context = Context(lake=site.lake, suite="s")
    for row in compared(context, stats, [spec]).toArrow().to_pylist():
        key = (row["perturbation"], row["computed_on"])
        values_by_key.setdefault(key, []).extend([row["value"]] * row["rows"])
    return values_by_key


def test_what_is_compared_with_what(site: Site) -> None:
    """Two perturbations of robustness, one that changes meaning, an absent value, two trials."""
    names = ("typos", "space", "negation", "gender")
    spec = replace(
        run_spec("r", ALPHA, "discharge_note"),
        perturbations=tuple(PerturbationSpec(name=name) for name in names),
    )
    values: dict[tuple[str, str, int], float | None] = {
        ("a", "", 0): 0.5,
        ("a", "typos", 0): 0.25,
        ("a", "space", 0): 0.75,
        ("a", "negation", 0): 0.0,
        ("b", "", 0): 1.0,
        ("b", "typos", 0): 1.0,
        ("b", "space", 0): None,
        ("c", "", 0): 0.0,
        ("a", "", 1): 0.5,
        ("a", "typos", 1): 0.5,
    }
    values_by_key = comparisons(site, [scored(*key, value) for key, value in values.items()], spec)
    assert {
        key: sorted(map(str, stat_values)) for key, stat_values in values_by_key.items() if key[1]
    } == {
        ("typos", "perturbed"): ["0.25", "0.5", "1.0"],
        ("typos", "original"): ["0.5", "0.5", "1.0"],
        ("typos", "lowest"): ["0.25", "0.5", "1.0"],
        ("typos", "highest"): ["0.5", "0.5", "1.0"],
        ("typos", "lowest_scored"): ["0.25", "0.5", "1.0"],
        ("typos", "invariance"): ["0.0", "1.0", "1.0"],
        ("space", "perturbed"): ["0.75", "None"],
        ("space", "original"): ["0.5", "1.0"],
        ("space", "lowest"): ["0.5", "None"],
        ("space", "highest"): ["0.75", "None"],
        ("space", "lowest_scored"): ["0.5", "1.0"],
        ("space", "invariance"): ["0.0", "None"],
        ("negation", "perturbed"): ["0.0"],
        ("negation", "original"): ["0.5"],
        ("negation", "lowest"): ["0.0"],
        ("negation", "highest"): ["0.5"],
        ("negation", "lowest_scored"): ["0.0"],
        ("robustness", "lowest"): ["0.0", "0.25", "0.5", "None"],
        ("robustness", "highest"): ["0.0", "0.5", "0.75", "None"],
        ("robustness", "lowest_scored"): ["0.0", "0.25", "0.5", "1.0"],
        ("robustness", "invariance"): ["0.0", "1.0", "None"],
        ("fairness", "lowest"): ["0.0", "0.5", "0.5", "1.0"],
        ("fairness", "highest"): ["0.0", "0.5", "0.5", "1.0"],
        ("fairness", "lowest_scored"): ["0.0", "0.5", "0.5", "1.0"],
    }
