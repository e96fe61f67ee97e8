"""Releases without a JVM: listed, shown, submitted, gated, compared; earlier versions' too."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from medhelm_spark.board import choose, instances_of, load_runs, reader_of
from medhelm_spark.cli import main
from medhelm_spark.cli.exit_codes import CHANGED, FAILED, GATED
from medhelm_spark.domain.jury_evidence import JuryEvidence, mark_note
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.releases.differences import Behind, InReleases, release_differences
from medhelm_spark.releases.tables import ReleaseMember
from medhelm_spark.releases.value_hash import manifest_hash
from tests.rewriting import rewritable
from tests.unit.board.planted import ALPHA, BETA, append, plant, run_spec
from tests.unit.board.planted_releases import plant_release

MARK_NOTE = mark_note([JuryEvidence.NOT_VALIDATED])

RUN = "triage_choice:model=alpha_large"


def release(lake: Path, *arguments: str) -> int:
    site = lake.parent / "prod_env"
    flags = ["-o", str(lake), "--local-path", str(site), "--no-tracking"]
    return main(["release", *arguments, *flags])


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    (tmp_path / "prod_env").mkdir()
    (tmp_path / "lake").mkdir()
    return plant(tmp_path / "lake")


def external(lake: Path) -> None:
    """A release that was made elsewhere: the planted one's rows under another name."""
    (member,) = open_reader(str(lake)).rows("SELECT * FROM {releases}", ReleaseMember)
    member = replace(member, release="medhelm", status="external", manifest_hash="")
    append(lake, "releases", [replace(member, manifest_hash=manifest_hash([member]))], "e")


def test_a_draft_of_an_earlier_version_is_shown_and_not_reviewed(lake: Path, capsys) -> None:
    assert release(lake, "list") == 0
    assert "R1       draft   2026-03-01 12:00  nobody on record" in capsys.readouterr().out
    assert release(lake, "show", "R1", "--format", "json") == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["status"], record["manifest"], record["changed_since"]) == (
        "draft",
        None,
        [],
    )
    assert [(run["name"], run["mean"], run["count"]) for run in record["runs"]] == [(RUN, 0.5, 2)]
    assert release(lake, "submit", "R1") == FAILED
    assert "was made by an earlier version" in capsys.readouterr().err
    assert release(lake, "withdraw", "R1", "--reason", "old") == 0


def test_a_draft_is_submitted_and_shown(lake: Path, capsys, monkeypatch) -> None:
    plant_release(lake)
    assert release(lake, "submit", "--release", "R2", "--note", "please") == 0
    capsys.readouterr()
    assert release(lake, "show", "R2") == 0
    printed = capsys.readouterr().out
    assert "in review  " in printed
    assert "(unverified)" in printed
    assert "please" in printed
    assert "coverage_floor, no_demo_juries, complete_models, approval_note" in printed
    assert "0.750 [0.30, 0.95]" in printed
    assert release(lake, "gate", "R2") == 0
    rewritable(lake / "release_stats").update(updates={"mean": "0.9"})
    assert release(lake, "show", "R2") == 0
    printed = capsys.readouterr().out
    assert f"release_stats of {RUN}; no number of it is shown" in printed
    assert "0.900" not in printed
    monkeypatch.setattr("os.geteuid", lambda: 1)  # somebody else than who submitted it
    assert release(lake, "approve", "R2", "--note", "read it") == CHANGED


def test_the_gate_names_each_failure_and_what_cannot_be_checked(lake: Path, capsys) -> None:
    required = {
        "every_run": True,
        "every_answer": True,
        "coverage_floor": True,
        "validated_judges": True,
        "provenance": True,
        "comparable": True,
        "min_instances": 30,
        "max_interval_width": 0.2,
        "reviewed_levels": True,
        "redaction_scan": True,
    }
    policy = lake.parent / "prod_env" / "policy.yaml"
    policy.write_text(yaml.safe_dump({"release": {"require": required}}))
    assert release(lake, "gate", "R1", "--format", "json") == GATED
    findings = json.loads(capsys.readouterr().out)["findings"]
    outcomes = {row["requirement"]: (row["outcome"], row["reason"]) for row in findings}
    assert outcomes == {
        "every_run": ("cannot be checked", "made by an earlier version; publish it again"),
        "every_answer": ("cannot be checked", "no record says how many requests were answered"),
        "coverage_floor": ("passed", ""),
        "validated_judges": ("passed", ""),
        "provenance": ("failed", "not on record: who made it; publish it again"),
        "comparable": ("cannot be checked", "no record says what its mean rests on"),
        "min_instances": ("failed", "2 scored instances, required 30"),
        "max_interval_width": ("failed", "0.811 wide, allowed 0.2"),
        "reviewed_levels": ("passed", ""),
        "redaction_scan": (
            "failed",
            "the policy names no audience, so that nothing of it was scanned",
        ),
    }
    lacking = [row["reason"] for row in findings if row["run"] and "on record:" in row["reason"]]
    assert lacking == ["not on record: who ran it, what its scores rest on"]


def test_the_gate_counts_the_instances_that_a_share_rests_on(lake: Path, capsys) -> None:
    """Of four letters three are urgent, and the sensitivity rests on these."""
    rewritable(lake / "stats").update(updates={"denominator": "3"})
    plant_release(lake)
    policy = lake.parent / "prod_env" / "policy.yaml"
    for least, exit_code in ((3, 0), (4, GATED)):
        policy.write_text(yaml.safe_dump({"release": {"require": {"min_instances": least}}}))
        assert release(lake, "gate", "R2") == exit_code
    assert "3 scored instances, required 4" in capsys.readouterr().out


def test_a_release_made_elsewhere_is_shown_and_never_approved(lake: Path, capsys) -> None:
    external(lake)
    assert release(lake, "show", "medhelm") == 0
    assert "external" in capsys.readouterr().out
    for step, message in (
        (
            "submit",
            "is external, so `submit` does not apply to it; allowed: import-helm, withdraw.",
        ),
        ("approve", "is external, so `approve` does not apply"),
        ("publish", "is external, so `publish` does not apply"),
        ("gate", "is external: its numbers were made elsewhere"),
    ):
        assert release(lake, step, "medhelm") == FAILED
        assert message in capsys.readouterr().err
    assert release(lake, "compare", "medhelm", "R1") == 0
    assert "1 run: 1 same" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["show"], "release show: give one release; received 0."),
        (["compare", "R1"], "release compare: give two releases; received 1."),
        (["compare", "R1", "R1"], "are one release; give two to compare"),
        (["list", "R1"], "release list: give no release; received 1."),
        (["withdraw", "R1"], "release withdraw: --reason missing or empty."),
        (["submit", "R1", "--suites", "s1"], "--suites is of `release publish` alone"),
        (["show", "R9"], "no release 'R9'; the lake has 'R1'"),
        (["compare", "R1", "R9"], "no release 'R9'"),
        (["approve", "R1"], "release 'R1' is draft, so `approve` does not apply to it; allowed:"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(lake: Path, typed, message: str, capsys) -> None:
    assert release(lake, *typed) == FAILED
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_means_of_a_jury_that_nobody_validated_are_marked(lake: Path, capsys) -> None:
    plant_release(lake, scenario="discharge_note")
    plant_release(lake, "R3")
    capsys.readouterr()
    assert release(lake, "show", "R2") == 0
    printed = capsys.readouterr().out
    assert "3.250* [" in printed
    assert MARK_NOTE in printed
    assert release(lake, "show", "R2", "--format", "json") == 0
    assert [run["jury_evidence"] for run in json.loads(capsys.readouterr().out)["runs"]] == [
        "not validated"
    ]
    assert release(lake, "show", "R3") == 0
    assert "*" not in capsys.readouterr().out


def test_no_step_but_pinning_starts_spark(lake: Path) -> None:
    plant_release(lake)
    code = (
        "import sys; from medhelm_spark.cli import main\n"
        "for typed in (['list'], ['show', 'R2'], ['submit', 'R2'], ['gate', 'R2'],\n"
        "              ['withdraw', 'R2', '--reason', 'r']):\n"
        "    assert main(['release', *typed, '-o', sys.argv[1], '--no-tracking']) == 0\n"
        "from pyspark import SparkContext; assert SparkContext._gateway is None"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(lake)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_release_reads_its_own_scores(lake: Path) -> None:
    plant_release(lake)
    reader = open_reader(str(lake))
    source = choose(reader, release="R2")
    (run,) = load_runs(reader, source)
    for table in ("stats", "per_instance_stats"):
        rewritable(lake / table).delete()
    assert load_runs(reader, source) == (run,)
    assert (run.cell.mean, run.is_current, run.is_summarized) == (0.75, True, True)
    page = instances_of(reader_of(reader, source), run.run_spec, limit=9)
    assert [score.value for score in page.scores] == [1, 1, 1, 0]


@pytest.mark.parametrize("report", ["board", "robustness"])
def test_what_is_withdrawn_says_so_first(lake: Path, report: str, capsys) -> None:
    plant_release(lake)
    assert release(lake, "withdraw", "R2", "--reason", "wrong <key>") == 0
    command = ["leaderboard", "--release", "R2", "--show", report, "-o", str(lake)]
    capsys.readouterr()
    banner = "WITHDRAWN: do not use the numbers of release 'R2'. Reason: wrong <key>"
    assert main(command) == 0
    assert capsys.readouterr().out.startswith(banner)
    assert main([*command, "--format", "html"]) == 0
    page = capsys.readouterr().out
    assert "Reason: wrong &lt;key&gt;</strong></p>" in page
    assert page.startswith("<!DOCTYPE html>")
    assert '<meta charset="utf-8">' in page, "browsers guess another one for a file"
    assert main([*command, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["banner"] == banner


def test_what_changed_comes_first_and_the_largest_of_it(lake: Path) -> None:
    reader = open_reader(str(lake))
    runs = load_runs(reader, choose(reader, "s1"))
    (pinned,) = load_runs(reader, choose(reader, release="R1"))
    rows = release_differences([pinned], runs, {}, {})
    assert [(row.name, row.change) for row in rows[:1]] == [(RUN, InReleases.CHANGED)]
    assert (rows[0].first_mean, rows[0].second_mean, rows[0].difference) == (0.5, 0.75, 0.25)
    assert "n=4" in rows[0].why
    assert {row.change for row in rows[1:]} == {InReleases.SECOND_ONLY}
    by_model = {row.model_deployment for row in rows}
    assert {ALPHA, BETA} <= by_model
    assert [row.change for row in release_differences(runs, (), {}, {})] == [
        InReleases.FIRST_ONLY for _ in runs
    ]
    spec = replace(run_spec("x", ALPHA, "triage_choice"), main_split="v")
    other = replace(pinned, planned=replace(pinned.planned, run_spec=spec))
    (row,) = release_differences([pinned], [other], {}, {})
    assert row.why == "other main metric: exact_match on v, before exact_match on test"


MADE = Behind(
    hashes={"request_results": "a", "annotations": "v"}, stages={"score": "2", "summarize": "4"}
)
LATER = {"score": "2", "summarize": "5"}
REREAD = "method changed (extraction v4 -> v5, metric v1 -> v2)"


@pytest.mark.parametrize(
    ("made", "facts", "why"),
    [
        (replace(MADE, stages=LATER), {}, ""),
        (replace(MADE, stages=LATER), {"ci_high": 0.99}, "method changed (summarize 4 -> 5)"),
        (
            replace(MADE, hashes={**MADE.hashes, "request_results": "b"}),
            {"mean": 0.25},
            "answers changed",
        ),
        (
            replace(MADE, hashes={**MADE.hashes, "annotations": "w"}),
            {"mean": 0.25},
            "verdicts changed",
        ),
        (
            Behind(hashes={**MADE.hashes, "request_results": "b"}, stages=LATER),
            {"mean": 0.25},
            "answers changed, method changed (summarize 4 -> 5)",
        ),
        (replace(MADE, stages=None), {"mean": 0.25}, "method unknown"),
        (
            Behind(hashes={}, stages=None),
            {"mean": 0.25},
            "other answers or verdicts to the same questions, method unknown",
        ),
        (MADE, {"code": {"extraction": "choice v5", "metric": "exact_match v2"}}, REREAD),
        (
            replace(MADE, stages=None),
            {"mean": 0.25, "code": {"extraction": "choice v5"}},
            "method changed (extraction v4 -> v5, other versions unknown)",
        ),
        (MADE, {"code": {"prompt": "other"}}, "other prompt or decoding"),
    ],
    ids=[
        "same numbers",
        "summarised anew",
        "other answers",
        "other verdicts",
        "both",
        "no stages on record",
        "nothing on record",
        "read and measured anew",
        "read anew, and the rest unknown",
        "another prompt",
    ],
)
def test_what_a_difference_of_two_releases_comes_from(
    lake: Path, made: Behind, facts: dict[str, object], why: str
) -> None:
    reader = open_reader(str(lake))
    (pinned,) = load_runs(reader, choose(reader, release="R1"))
    rests_on = {"extraction": "choice v4", "metric": "exact_match v1", "prompt": "p"}
    before = replace(pinned, cell=replace(pinned.cell, comparability=rests_on))
    code = facts.get("code", {})
    numbers = {name: value for name, value in facts.items() if name != "code"}
    cell = replace(pinned.cell, comparability={**rests_on, **code}, **numbers)
    after = replace(pinned, cell=cell)
    (row,) = release_differences([before], [after], {RUN: MADE}, {RUN: made})
    assert row.why == why
    assert row.change is (InReleases.CHANGED if why else InReleases.SAME)
