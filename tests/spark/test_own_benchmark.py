"""A benchmark of one's own that uses everything: default reading, metrics, perturbations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from medhelm_spark import plugins
from medhelm_spark.statistics.intervals import wilson
from tests.spark.conftest import PUBLIC, Site, calls

METRICS = [
    "exact_match",
    {
        "name": "diagnostic_accuracy",
        "args": {"labels": "yes|no", "positive": "yes", "costs": "yes>no=10"},
    },
    "calibration",
    "loud",
]
LETTERS = [
    ("black stools", "yes", "**Yes**, urgent."),
    ("hay fever", "no", "No."),
    ("blood in urine", "yes", "no"),
    ("foot hygiene", "no", "I cannot say."),
]
ROWS = [{"id": case, "case": case, "correct_answer": right} for case, right, _ in LETTERS]
PLUGIN = """
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.metrics.metric import About, Metric, first_text, scored

METRICS = {"loud": Metric(
    fn=lambda states, params: [
        scored(["loud"], [float((first_text(s) or "").isupper())]) for s in states
    ],
    needs=frozenset({"completions"}),
    emits=(MetricInfo(name="loud", display_name="Loud"),),
    version="1",
    about=About.CHOICE,
)}
"""


@pytest.fixture
def loud(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A plug-in metric, importable by driver and workers."""
    (site.folder / "loud_eval.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(site.folder))
    site.spark.sparkContext.addPyFile(str(site.folder / "loud_eval.py"))
    yield "loud_eval"
    plugins.activate()


def stats(site: Site) -> dict[str, dict[str, Any]]:
    rows = site.rows("stats")
    return {row["name"]: row for row in rows if not row["perturbation"]}


def test_answers_are_read_classed_and_perturbed(
    site: Site, loud: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replies = {case: reply for case, _, reply in LETTERS}
    model = site.deploy("acme/m", mode="script", replies=replies, text="")
    entry = site.benchmark(
        "referral",
        ROWS,
        template="{case}\nAnswer yes or no.",
        metrics=METRICS,
        perturbations=["lower"],
        category="Administration and Workflow",
        max_tokens=64,
        answer_extraction=None,
    )
    assert site.run("-r", f"{entry},model={model}") == 1
    assert "unknown metric 'loud'" in capsys.readouterr().err
    assert site.run("-r", f"{entry},model={model}", "--plugins", loud) == 0
    stats_by_name = stats(site)
    expected = {
        "exact_match": 2 / 4,
        "answer_unreadable": 1 / 4,
        "accuracy": 2 / 4,
        "sensitivity": 1 / 2,
        "specificity": 1 / 2,
        "npv": 1 / 2,
        "abstention": 1 / 4,
        "cost_weighted_error": (10 + 1) / 4,
        "confusion[yes>no]": 1.0,
        "confusion[no>-]": 1.0,
        "loud": 0.0,
    }
    assert {name: stats_by_name[name]["mean"] for name in expected} == pytest.approx(expected)
    interval = wilson(1, 2)
    sensitivity = stats_by_name["sensitivity"]
    assert (sensitivity["ci_low"], sensitivity["ci_high"]) == (interval.low, interval.high)
    assert stats_by_name["brier_score"]["mean"] is not None, (
        "answers come with their log-probabilities"
    )
    assert {row["computed_on"] for row in site.rows("stats") if row["perturbation"] == "lowercase"}
    (cell,) = site.board()
    assert (cell["category"], cell["mean"]) == ("Administration and Workflow", 0.5)
    note = "Answers are read by yes_no, for all references are yes, no or maybe"
    capsys.readouterr()
    assert site.run(command="leaderboard") == 0
    assert note in capsys.readouterr().out

    strict_entry = f"{entry},model={model},answer_extraction=strict"
    assert site.run("-r", strict_entry, "--plugins", loud, suite="strict") == 0
    (cell,) = site.board("strict")
    assert cell["mean"] == 0.0, "none of the replies is the word alone"
    assert site.run(command="leaderboard", suite="strict") == 0
    assert note not in capsys.readouterr().out


@pytest.mark.parametrize("is_table", [False, True])
def test_a_label_that_no_row_has_ends_the_run_before_anybody_is_asked(
    site: Site, capsys: pytest.CaptureFixture[str], is_table: bool
) -> None:
    log = site.folder / "calls"
    model = site.deploy("acme/yes", text="yes", log_file=str(log))
    metric = {"name": "sensitivity", "args": {"labels": "yes|noo", "positive": "yes"}}
    more = {}
    if is_table:
        columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
        write_deltalake(str(site.folder / "letters"), pa.table(columns))
        more = {"dataset_file": f"table:{site.folder / 'letters'}"}
    entry = site.benchmark("letters", ROWS, template="{case}", metrics=[metric], **more)
    assert site.run("-r", f"{entry},model={model}", *PUBLIC) == 1
    message = (
        "letters: the metrics' label 'noo' is the right answer of no row; declared: yes, noo; is"
    )
    assert f"{message} 'no' meant?" in capsys.readouterr().err
    assert not calls(log)
