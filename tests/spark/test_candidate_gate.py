"""A candidate against a release: from answers to a verdict, whatever the suite contains by then."""

import csv
from collections.abc import Collection
from pathlib import Path

import pytest
import yaml

from medhelm_spark.candidate_gate.verdict import GateVerdict
from medhelm_spark.cli.exit_codes import NO_GO
from medhelm_spark.errors import ConfigError
from tests.spark.conftest import Site
from tests.spark.test_evaluation import open_evaluation
from tests.spark.test_subgroups import patients

OLD, NEW = "ward/old", "ward/new"
LABELS = {"labels": "yes|no", "positive": "yes"}


def answers(site: Site, rows: list[dict[str, str]], wrong: Collection[int], name: str) -> Path:
    path = site.folder / f"{name}.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["source_id", "completion"])
        for i, row in enumerate(rows):
            right = row["correct_answer"]
            writer.writerow([row["id"], {"yes": "no", "no": "yes"}[right] if i in wrong else right])
    return path


def test_a_release_stays_the_baseline_whatever_its_suite_comes_to(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = patients(400, poor=100)
    entry = site.benchmark(
        "letters",
        rows,
        metrics=["exact_match", {"name": "diagnostic_accuracy", "args": LABELS}],
        groups=["site"],
        critical={"missed_class": "yes"},
    )
    evaluation = open_evaluation(site)
    evaluation.import_responses(
        f"{entry},model={OLD}", answers(site, rows, range(0, 400, 5), "old"), suite="today"
    )
    evaluation.releases.publish("2026-q1", ["today"])
    evaluation.import_responses(
        f"{entry},model={NEW}", answers(site, rows, range(0, 400, 5), "new"), suite="pilot"
    )
    gate = site.folder / "gate.yaml"
    lines = [
        {"no_worse": {"margin": 0.05}},
        {"no_more_critical_failures": {"margin": 0.05}},
        {"no_wider_gap": {"by": ["site"], "margin": 0.1}},
        {"coverage": {"floor": 1}},
    ]
    gate.write_text(yaml.safe_dump({"critical": lines}))
    report = evaluation.candidate_gate.check(gate, against="2026-q1", candidate=NEW, suite="pilot")
    assert report.verdict is GateVerdict.GO
    assert [line.n for line in report.lines if line.kind == "no_worse"] == [400]
    assert report.lines[1].measure == "missed yes"
    assert not report.flips.instances
    assert {count.group_value for count in report.flips.counts} == {None, "north", "south"}
    for_suite = evaluation.candidate_gate.check(gate, against="today", candidate=NEW, suite="pilot")
    assert for_suite.lines == report.lines

    # The suite's model is answered anew, the release is unchanged.
    evaluation.import_responses(
        f"{entry},model={OLD}", answers(site, rows, (), "better"), suite="today"
    )
    again = evaluation.candidate_gate.check(gate, against="2026-q1", candidate=NEW, suite="pilot")
    assert again.lines == report.lines
    changed = evaluation.candidate_gate.check(gate, against="today", candidate=NEW, suite="pilot")
    assert changed.verdict is GateVerdict.NO_GO
    assert len(changed.flips.instances) == 80
    capsys.readouterr()
    flags = ("--against", "today", "--candidate", NEW, "--gate", str(gate))
    assert site.run(*flags, command="compare", suite="pilot") == NO_GO
    assert capsys.readouterr().out.startswith(f"NO-GO: {NEW} (suite pilot) against {OLD} (suite ")

    evaluation.releases.withdraw("2026-q1", reason="a wrong key")
    with pytest.raises(ConfigError, match="WITHDRAWN: do not use the numbers of release '2026-q1'"):
        evaluation.candidate_gate.check(gate, against="2026-q1", candidate=NEW, suite="pilot")
