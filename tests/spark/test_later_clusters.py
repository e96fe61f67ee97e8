"""A card that names a cluster later: what was read before is summarised by it, nobody asked."""

import csv
from pathlib import Path

import pytest
import yaml

from medhelm_spark.cli import main
from tests.cards import NOTES
from tests.spark.conftest import PUBLIC, Site, calls, questions

ROWS = [{**row, "patient": f"MRN{i // 3}"} for i, row in enumerate(questions(12))]
MODELS = ("team/first", "team/second")


def clusters(site: Site) -> dict[str, int | None]:
    """How many clusters each model's mean on the board counts."""
    return {cell["model_deployment"]: cell["num_clusters"] for cell in site.board()}


def test_a_run_reads_the_clusters_for_every_model_of_the_suite_and_asks_none(
    site: Site, tmp_path: Path
) -> None:
    log = tmp_path / "calls.log"
    for model in MODELS:
        site.deploy(model, mode="script", text="yes", log_file=str(log))
    entry = site.benchmark("letters", ROWS)
    assert site.run("-r", entry, "--models-to-run", *MODELS) == 0
    assert clusters(site) == dict.fromkeys(MODELS)
    num_calls = len(calls(log))
    entry = site.benchmark("letters", ROWS, cluster_column="patient")
    assert site.run("-r", entry, "--models-to-run", MODELS[0]) == 0
    assert len(calls(log)) == num_calls
    assert clusters(site) == dict.fromkeys(MODELS, 4)


def test_summarize_says_what_has_to_be_read_again(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "calls.log"
    site.deploy("team/first", mode="script", text="yes", log_file=str(log))
    rows = [
        {"case": f"c{i}", "patient": f"MRN{i // 3}", "note": "n", "question": "q", "answer": "yes"}
        for i in range(12)
    ]
    with (site.folder / "notes.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    card = site.folder / "prod_env" / "scenarios" / "notes.yaml"
    card.parent.mkdir()
    card.write_text(yaml.safe_dump(NOTES))
    again = ("-r", "notes:model=team/first", "--source", "notes.csv", *PUBLIC)
    assert site.run(*again) == 0
    num_calls = len(calls(log))
    card.write_text(yaml.safe_dump({**NOTES, "fields": {**NOTES["fields"], "cluster": "patient"}}))
    message = "notes of suite 's': read before the card named a cluster"
    capsys.readouterr()
    assert summarize(site) == 0
    assert message in capsys.readouterr().err
    assert clusters(site) == {"team/first": None}
    assert site.run(*again) == 0
    assert clusters(site) == {"team/first": 4}
    assert len(calls(log)) == num_calls
    capsys.readouterr()
    assert summarize(site) == 0
    assert message not in capsys.readouterr().err


def summarize(site: Site) -> int:
    """`medhelm-spark summarize` of the suite."""
    location_flags = ["-o", str(site.lake_path), "--local-path", str(site.folder / "prod_env")]
    return main(["summarize", "--suites", "s", *location_flags, "--no-tracking"])
