"""Commands and flags together: stages one by one, suites and releases, what is left alone."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from medhelm_spark.cli import main
from medhelm_spark.lake.tables import TABLES
from tests.spark.conftest import Site, calls, questions

RUBRIC = (
    '<rubric_criteria>\n{"accuracy": ["score", "explanation"]}\n</rubric_criteria>\n'
    "{QUESTION} {RESPONSE} {GOLD_RESPONSE}"
)
JURY = {
    "name": "jury_score",
    "prompt_file": "judge.txt",
    "judges": [{"name": "acme/judge", "model_name": "acme/judge"}],
}
# What each stage is the first to write, and with how many rows: 3 instances, one model, one judge.
WRITTEN: Mapping[str, Mapping[str, int]] = {
    "plan": {"instances": 3, "run_specs": 1, "prompts": 3, "requests": 3},
    "infer": {"request_results": 3},
    "annotate": {"annotations": 3},
    "score": {"per_instance_stats": 3},
}


def sizes(site: Site) -> dict[str, int]:
    return {name: len(site.rows(name)) for name in TABLES}


def flags(site: Site) -> list[str]:
    return ["-o", str(site.lake_path), "--local-path", str(site.folder / "prod_env")]


def test_every_stage_runs_alone_and_again(site: Site, tmp_path: Path) -> None:
    log = tmp_path / "calls.log"
    site.deploy("acme/yes", text="yes", log_file=str(log))
    site.deploy("acme/judge", mode="judge", score=4, log_file=str(log))
    bench = site.benchmark(
        "bench", questions(3), metrics=["exact_match", JURY], judge_prompt=RUBRIC
    )
    entry = f"{bench},model=acme/yes"
    before = dict.fromkeys(TABLES, 0)
    for stage, written in WRITTEN.items():
        assert site.run("-r", entry, command=stage) == 0
        now = sizes(site)
        assert {name: now[name] for name in written} == written
        later = [name for after in WRITTEN.values() for name in after if before[name] == 0]
        assert not [name for name in later if name not in written and now[name]], stage
        before = now
    assert main(["summarize", "--suite", "s", "--no-tracking", *flags(site)]) == 0
    cells = site.board()
    assert [(cell["main_metric"], cell["mean"]) for cell in cells] == [("exact_match", 1.0)]
    table_sizes, request_ids = sizes(site), calls(log)
    assert len(request_ids) == len(set(request_ids)) == 6
    for command in ("plan", "score", "run"):
        assert site.run("-r", entry, command=command) == 0
    assert main(["summarize", "--suite", "s", "--no-tracking", *flags(site)]) == 0
    assert sizes(site) == table_sizes
    assert calls(log) == request_ids


def test_suites_make_a_release_and_completed_runs_are_left_alone(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "calls.log"
    for text in ("yes", "no"):
        site.deploy(f"acme/{text}", text=text, log_file=str(log))
    entry = site.benchmark("bench", questions(4, lambda i: "yes" if i else "no"))
    one, two = f"{entry},model=acme/yes", f"{entry},model=acme/no"
    assert site.run("-r", one, suite="A") == 0
    assert site.run("-r", one, two, suite="B") == 0
    assert len(calls(log)) == 8, "the second suite reuses the first one's answers"

    site.benchmark("bench", questions(2))
    skip = ["--skip-completed-runs", "-r", one]
    assert site.run(*skip, suite="A") == 0
    assert "\n0 model calls" in capsys.readouterr().err
    assert [cell["count"] for cell in site.board("A")] == [4], "a completed run is left as it is"

    release = ["publish", "--suites", "A", "B", "--release", "R", "--no-tracking", *flags(site)]
    assert main(release) == 0
    assert len(site.rows("releases")) == 2, "a run that is in both suites counts once"
    assert main(release) == 0
    assert len(site.rows("releases")) == 2
    _boards_agree(site, capsys)

    for argv, message in (
        (["leaderboard", "--release", "Q"], "'Q'"),
        (["leaderboard", "--suite", "C"], "'C'"),
        (["summarize", "--suite", "C", "--no-tracking"], "no suite 'C'; the lake has 'A', 'B'"),
        (["summarize", "--no-tracking"], "give --suite S"),
    ):
        assert main([*argv, *flags(site)]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("medhelm-spark: ")
        assert message in line


def _boards_agree(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """The four formats of one board have the same content."""
    capsys.readouterr()
    outputs = {}
    for form in ("table", "json", "csv", "md"):
        assert main(["leaderboard", "--release", "R", "--format", form, *flags(site)]) == 0
        outputs[form] = capsys.readouterr().out
    cells = json.loads(outputs["json"])["cells"]
    means = {cell["model_deployment"]: cell["mean"] for cell in cells}
    assert means == {"acme/yes": 0.75, "acme/no": 0.25}
    records = csv.DictReader(io.StringIO(outputs["csv"]))
    rows = [row for row in records if row["record"] == "cell"]
    assert {row["model_deployment"]: float(row["mean"]) for row in rows} == means
    for form in ("table", "md"):
        assert "0.750" in outputs[form]
        assert "0.250" in outputs[form]
