"""A definition changes and one model of the suite is run: what becomes of the others."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from medhelm_spark.adaptation.extraction import EXTRACTION_VERSION
from medhelm_spark.domain.comparability import PARTS
from medhelm_spark.domain.run import SuiteRun
from medhelm_spark.lake.views import CURRENT_RUN_SPECS
from medhelm_spark.metrics import METRICS
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.plan.run_specs import current_runs
from medhelm_spark.stages.summarize.stage import summarize
from tests.spark.conftest import Site, calls

RUBRIC = (
    '<rubric_criteria>\n{"accuracy": ["score", "explanation"]}\n</rubric_criteria>\n'
    "{QUESTION} {RESPONSE} {GOLD_RESPONSE}"
)
OLDER, RUN = "acme/older", "acme/run"
REPLIES = {
    OLDER: {"q0": "B", "q1": "The answer is (B).", "q2": "A"},
    RUN: {"q0": "The answer is B.", "q1": "(B)", "q2": "B"},
}


def rows(answers: str = "BBB") -> list[dict[str, str]]:
    question_template = "{}: which drug?\nA. aspirin\nB. heparin\nC. iron\n"
    return [
        {"id": f"q{i}", "question": question_template.format(f"q{i}"), "correct_answer": answer}
        for i, answer in enumerate(answers)
    ]


class Suite:
    """Two models on one benchmark, which a test changes and runs for one of them."""

    def __init__(self, site: Site, log: Path) -> None:
        self.site, self.log = site, log
        for name, replies in REPLIES.items():
            site.deploy(name, mode="script", replies=replies, log_file=str(log))
        for name in ("acme/kind", "acme/stern"):
            site.deploy(name, mode="judge", score=4, log_file=str(log))

    def run(self, *models: str, flags: tuple[str, ...] = (), **bench: Any) -> int:
        """Run the benchmark as it is now for these models; returns the number of calls."""
        before = len(calls(self.log))
        entry = self.site.benchmark("bench", bench.pop("data", rows()), **bench)
        arguments = ["-r", entry, "--models-to-run", *models, *flags]
        assert self.site.run(*arguments) == 0
        return len(calls(self.log)) - before

    def stats(self, model: str, name: str = "exact_match") -> tuple[float | None, dict[str, str]]:
        """Mean and key of a stat of the model's current run, as its newest summary stored it."""
        current = self.site.lake.rows(CURRENT_RUN_SPECS, SuiteRun)
        (unit,) = (row.run_spec_id for row in current if row.run_spec.model == model)
        summarize_records = [
            row
            for row in self.site.rows("runs")
            if (row["stage"], row["unit_id"]) == ("summarize", unit)
        ]
        newest = max(summarize_records, key=lambda row: row["finished_at"])["write_id"]
        (stat,) = (
            row
            for row in self.site.rows("stats")
            if (row["write_id"], row["run_spec_id"], row["name"]) == (newest, unit, name)
        )
        return stat["mean"], dict(stat["comparability"])

    def differing(self, name: str = "exact_match") -> set[str]:
        """The parts by which the two models' stats cannot be compared."""
        (_, older), (_, run) = self.stats(OLDER, name), self.stats(RUN, name)
        assert older.keys() == run.keys() == set(PARTS)
        return {part for part in PARTS if older[part] != run[part]}


@pytest.fixture
def suite(site: Site, tmp_path: Path) -> Suite:
    return Suite(site, tmp_path / "calls.log")


def test_the_other_model_is_scored_by_what_changed_and_asked_nothing(
    suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    assert suite.run(OLDER, RUN) == 6
    assert suite.differing() == set()
    strict = suite.stats(OLDER)
    assert (strict[0], strict[1]["extraction"]) == (1 / 3, f"strict v{EXTRACTION_VERSION}")
    assert strict[1]["data"].startswith("n=3 ")
    assert (strict[1]["origin"], strict[1]["jury"]) == ("native", "")

    choice = {"answer_extraction": "choice"}
    changes: list[tuple[Mapping[str, Any], str, float]] = [
        (choice, "extraction", 2 / 3),
        ({**choice, "data": rows("BBA")}, "data", 1.0),
        ({**choice, "data": rows("BBA"), "metrics": ["rouge_l", "exact_match"]}, "", 1.0),
    ]
    for bench, part, mean in changes:
        _, before = suite.stats(OLDER)
        assert suite.run(RUN, **bench) == 0
        stored_mean, key = suite.stats(OLDER)
        assert stored_mean == pytest.approx(mean)
        assert {name for name in PARTS if key[name] != before[name]} == {part} - {""}
        assert suite.differing() == set()
    assert suite.stats(OLDER, "rouge_l")[0] is not None
    assert "an earlier definition" not in capsys.readouterr().err

    tables = ("runs", "requests", "per_instance_stats", "stats", "run_specs", "prompts")
    before_rows = {table: len(suite.site.rows(table)) for table in tables}
    assert suite.run(RUN, **changes[-1][0]) == 0
    assert {table: len(suite.site.rows(table)) for table in tables} == before_rows


def test_a_new_version_of_a_metric_scores_the_whole_suite_again(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.run(OLDER, RUN)
    old = suite.stats(OLDER)[1]
    newer = replace(METRICS["exact_match"], version="next")
    monkeypatch.setattr("medhelm_spark.metrics.METRICS", {**METRICS, "exact_match": newer})

    ctx = Context(lake=suite.site.lake, suite="s")
    specs = [row.run_spec for row in current_runs(ctx)]
    assert summarize(ctx, specs) == [], "scores of the old version do not get the new one's key"
    assert suite.stats(OLDER)[1] == old

    assert suite.run(RUN) == 0
    assert suite.stats(OLDER)[1]["metric"] == "exact_match vnext"
    assert suite.differing() == set()


def test_what_would_ask_somebody_is_left_and_said(
    suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    suite.run(OLDER, RUN)
    capsys.readouterr()
    assert suite.run(RUN, flags=("-m", "2")) == 0
    assert suite.differing() == {"data"}
    assert suite.stats(OLDER)[1]["data"].startswith("n=3 ")
    stderr = capsys.readouterr().err
    assert (
        "score: bench: an earlier definition still counts for 1 other model of suite 's'" in stderr
    )
    assert " -m 2 --suite s" in stderr.split("to compare, run: medhelm-spark run")[1]
    assert f" --models-to-run {OLDER}\n" in stderr

    assert suite.run(RUN, max_tokens=7) == 3
    assert suite.differing() == {"prompt"}
    assert suite.stats(OLDER)[0] == 1 / 3
    assert suite.run(OLDER, max_tokens=7) == 3
    assert suite.differing() == set()


def jury(*judges: str, **args: str) -> dict[str, Any]:
    judge_entries = [{"name": name, "model_name": name} for name in judges]
    return {"name": "jury_score", "prompt_file": "judge.txt", "judges": judge_entries, "args": args}


@pytest.mark.long
def test_a_jury_is_asked_about_the_model_that_is_run(
    suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ("acme/kind", "acme/stern")
    bench = {"metrics": [jury(*both)], "judge_prompt": RUBRIC}
    assert suite.run(OLDER, RUN, **bench) == 6 + 12
    assert suite.differing("jury_score") == set()
    assert suite.stats(OLDER, "jury_score")[1]["jury"].startswith("bench ")

    argument = {**bench, "metrics": [jury(*both, default_score="0")]}
    assert suite.run(RUN, **argument) == 0
    assert suite.differing("jury_score") == set()
    assert suite.stats(OLDER, "jury_score")[1]["metric"].startswith("jury_score v")

    one = {**bench, "metrics": [jury(both[0])]}
    assert suite.run(RUN, **one) == 0
    assert suite.differing("jury_score") == set(), "the verdicts of the judge who stays are there"
    capsys.readouterr()

    reworded = {**one, "judge_prompt": f"Be strict.\n{RUBRIC}"}
    assert suite.run(RUN, **reworded) == 3
    assert suite.differing("jury_score") == {"jury"}
    assert "1 other model" in capsys.readouterr().err
    assert suite.run(OLDER, **reworded) == 3
    assert suite.differing("jury_score") == set()


def test_answers_made_elsewhere_have_another_origin(suite: Suite) -> None:
    suite.run(RUN)
    entry = suite.site.benchmark("bench", rows())
    answers = suite.site.folder / "answers.jsonl"
    answers.write_text("".join(f'{{"source_id": "q{i}", "completion": "B"}}\n' for i in range(3)))
    arguments = ["-r", f"{entry},model={OLDER}", "--file", str(answers)]
    assert suite.site.run(*arguments, command="import-responses") == 0
    assert suite.differing() == {"origin"}
    assert suite.stats(OLDER)[1]["origin"] == "imported"
