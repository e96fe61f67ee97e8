"""A release through its life, and what becomes of it when the lake around it changes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from deltalake import DeltaTable, Field
from deltalake.schema import PrimitiveType

from medhelm_spark import Evaluation
from medhelm_spark.board import load_board
from medhelm_spark.cli import main
from medhelm_spark.cli.exit_codes import CHANGED, FAILED, GATED
from medhelm_spark.lake.lake import SparkReader
from medhelm_spark.lake.reader import open_reader
from medhelm_spark.metrics import METRICS
from medhelm_spark.releases.pinned import COPIES
from medhelm_spark.releases.tables import ReleaseMember
from medhelm_spark.releases.value_hash import manifest_hash
from tests.rewriting import rewritable
from tests.spark.conftest import Site, questions
from tests.unit.board.planted import append

NOBODY = 65534


def flags(site: Site) -> list[str]:
    return ["-o", str(site.lake_path), "--local-path", str(site.folder / "prod_env")]


def planned(site: Site) -> str:
    """Two models on four questions, in suite s; returns the run entry."""
    for text in ("yes", "no"):
        site.deploy(f"acme/{text}", text=text)
    entry = site.benchmark("bench", questions(4, lambda i: "yes" if i else "no"))
    runs = [f"{entry},model=acme/{text}" for text in ("yes", "no")]
    assert site.run("-r", *runs, "-m", "3") == 0
    return entry


def release(site: Site, *arguments: str) -> int:
    return main(["release", *arguments, "--no-tracking", *flags(site)])


def published(site: Site, name: str) -> dict[str, object]:
    """The board of a release as data, without its notes about the suite."""
    evaluation = Evaluation(site.lake_path, site=site.folder / "prod_env", tracking=False)
    content = json.loads(evaluation.board(release=name).render("json"))
    return {kind: content[kind] for kind in ("models", "cells", "pairs")}


def older(site: Site, name: str) -> None:
    """r1 as a version made it that had neither manifests nor copies."""
    rows = open_reader(str(site.lake_path)).rows("SELECT * FROM {releases}", ReleaseMember)
    members = [
        replace(
            row,
            release=name,
            manifest_hash="",
            writes={
                table: write_ids
                for table, write_ids in (row.writes or {}).items()
                if table not in COPIES
            },
        )
        for row in rows
    ]
    written = manifest_hash(members)
    rows = [replace(row, manifest_hash=written) for row in members]
    append(site.lake_path, "releases", rows, "older")


def gone(table: Path) -> None:
    """Delete all rows, and the files that contained them."""
    opened = rewritable(table)
    opened.delete()
    opened.vacuum(0, dry_run=False, enforce_retention_duration=False)


@pytest.mark.long
def test_a_release_stays_as_it_is_whatever_becomes_of_the_lake(
    site: Site, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    entry = planned(site)
    assert release(site, "publish", "r1", "--suites", "s") == 0
    before = published(site, "r1")
    assert len(before["cells"]) == 2
    assert before["pairs"]
    evaluation = Evaluation(site.lake_path, site=site.folder / "prod_env", tracking=False)
    page = evaluation.instances("bench", "acme/no", release="r1").page

    # More instances, and the same answers scored by another version of the metric.
    assert site.run("-r", f"{entry},model=acme/yes") == 0
    newer = replace(METRICS["exact_match"], version="next")
    monkeypatch.setattr("medhelm_spark.metrics.METRICS", {**METRICS, "exact_match": newer})
    evaluation.summarize("s")
    assert published(site, "r1") == before
    assert len(site.rows("release_scores")) == 6
    assert release(site, "verify", "r1") == 0

    # A draft of an earlier version opens and verifies by the lake's own rows.
    older(site, "old")
    assert published(site, "old")["cells"] == before["cells"]
    assert release(site, "verify", "old") == 0

    # A release of what was measured anew shows where its differences come from.
    assert release(site, "publish", "r2", "--suites", "s") == 0
    whys = {run.model_deployment: run.why for run in evaluation.releases.compare("r1", "r2").runs}
    version = METRICS["exact_match"].version
    assert whys["acme/no"] == f"method changed (metric v{version} -> vnext)"
    assert whys["acme/yes"].startswith("other instances: n=4")
    assert "answers changed" not in whys["acme/yes"]

    # A catalog's tables, which only Spark reads, result in the same board.
    boards = [
        load_board(reader, release="r1", coverage_floor=0.95)
        for reader in (open_reader(str(site.lake_path)), SparkReader(site.lake))
    ]
    assert boards[0] == boards[1]
    assert boards[0].pairs

    # Another column, then rows gone with their files.
    for table in ("stats", "release_stats", "release_scores"):
        DeltaTable(site.lake_path / table).alter.add_columns(
            [Field("later", PrimitiveType("string"))]
        )
    for table in ("stats", "per_instance_stats"):
        gone(site.lake_path / table)
    assert published(site, "r1") == before
    assert evaluation.instances("bench", "acme/no", release="r1").page == page
    capfd.readouterr()
    assert release(site, "verify", "r1") == 0
    stderr = capfd.readouterr().err
    assert "only in the release's own rows" in stderr
    assert "stats of bench" in stderr

    # Text gone: scores stay, and what shows answers names what it lacks.
    for table in ("prompts", "request_results", "instances"):
        gone(site.lake_path / table)
    assert published(site, "r1") == before
    answer_text = str(evaluation.answers("bench", "acme/no", release="r1"))
    assert "text       no longer in the lake: prompt, answer, references" in answer_text
    assert "exact_match 0.000" in answer_text
    assert release(site, "verify", "r1") == CHANGED
    assert "prompts of bench" in (stderr := capfd.readouterr().err)
    assert "(gone)" in stderr

    # What it froze beside its runs counts, and its own rows: changed, they show no number.
    rewritable(site.lake_path / "release_manifests").update(updates={"made_by": "'x'"})
    assert main(["leaderboard", "--release", "r1", *flags(site)]) == CHANGED
    assert "changed since: releases." in capfd.readouterr().err
    rewritable(site.lake_path / "release_stats").update(updates={"mean": "0.9"})
    assert main(["leaderboard", "--release", "r1", *flags(site)]) == CHANGED
    assert "release_stats of bench" in capfd.readouterr().err


def test_a_release_from_draft_to_withdrawal(
    site: Site, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    entry = planned(site)
    policy = site.folder / "prod_env" / "policy.yaml"
    required = {"every_run": True, "every_answer": True, "provenance": True, "comparable": True}
    policy.write_text(yaml.safe_dump({"release": {"require": required}}))
    assert release(site, "publish", "r1", "--suites", "s") == 0
    assert release(site, "submit", "r1", "--note", "first") == 0
    policy.write_text(yaml.safe_dump({"release": {"require": {**required, "min_instances": 4}}}))
    capfd.readouterr()
    assert release(site, "gate", "r1") == GATED
    output = capfd.readouterr().out
    assert output.count("3 scored instances, required 4") == 2
    assert output.count("passed") == 4
    assert release(site, "approve", "r1") == FAILED
    assert "'root' made and ran and submitted it" in capfd.readouterr().err

    monkeypatch.setattr("os.geteuid", lambda: NOBODY)
    assert release(site, "approve", "r1") == GATED
    assert "is not approved: min_instances of bench" in capfd.readouterr().err
    policy.write_text(yaml.safe_dump({"release": {"require": required}}))
    assert release(site, "publish", "r1") == FAILED
    assert "in review, so `publish` does not apply to it; allowed:" in capfd.readouterr().err
    assert release(site, "approve", "r1", "--note", "for the pilot") == 0

    # Pinned anew with the same values it stays approved; with other values it is a draft again.
    manifest = site.rows("releases")[0]["manifest_hash"]
    assert release(site, "publish", "r1", "--suites", "s") == 0
    evaluation = Evaluation(site.lake_path, site=site.folder / "prod_env", tracking=False)
    release_details = evaluation.releases.show("r1")
    assert (release_details.status, release_details.manifest_hash) == ("approved", manifest)
    assert site.run("-r", f"{entry},model=acme/yes", f"{entry},model=acme/no") == 0
    assert release(site, "publish", "r1", "--suites", "s") == 0
    capfd.readouterr()
    assert release(site, "show", "r1") == 0
    output = capfd.readouterr().out
    assert "\nstatus          draft\n" in output
    assert "\nvoid            approved by nobody (unverified) at" in output
    assert f"manifest {manifest[:12]}, and the release was pinned anew as" in output

    # Approved by the other one of two, published, and then it changes no more.
    assert release(site, "submit", "r1") == 0
    assert release(site, "approve", "r1") == FAILED
    monkeypatch.undo()
    monkeypatch.chdir(site.folder)
    monkeypatch.setattr("os.geteuid", lambda: 1)
    assert release(site, "approve", "r1") == 0
    assert release(site, "publish", "r1") == 0
    assert release(site, "publish", "r1", "--suites", "s") == FAILED
    assert "is published, so `publish --suites` does not apply" in capfd.readouterr().err

    # Beside another release: what changed and why comes first.
    assert site.run("-r", f"{entry},model=acme/yes", "-m", "2", suite="t") == 0
    assert release(site, "publish", "r2", "--suites", "s", "t") == 0
    capfd.readouterr()
    assert release(site, "compare", "r1", "r2", "--format", "json") == 0
    runs = json.loads(capfd.readouterr().out)["runs"]
    assert [run["change"] for run in runs] == ["changed", "same"]
    assert "other instances: n=2" in runs[0]["why"]

    assert release(site, "withdraw", "r1") == FAILED
    rows = len(site.rows("releases"))
    assert release(site, "withdraw", "r1", "--reason", "wrong key") == 0
    assert len(site.rows("releases")) == rows
    capfd.readouterr()
    for form in ("table", "md", "csv", "json", "html"):
        assert main(["leaderboard", "--release", "r1", "--format", form, *flags(site)]) == 0
        output = capfd.readouterr().out
        first = output if form == "csv" else (output.partition("<body>")[2] or output)[:200]
        assert "WITHDRAWN: do not use the numbers of release" in first
        assert "Reason: wrong key" in output
    assert release(site, "list") == 0
    output = capfd.readouterr().out.splitlines()
    assert [line.split()[:2] for line in output[2:4]] == [["r2", "draft"], ["r1", "withdrawn"]]
    assert release(site, "submit", "r1") == FAILED
