"""Run-level metrics from card to board: what a whole run shows that no mean does."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from medhelm_spark.cli.exit_codes import INCOMPLETE
from medhelm_spark.metrics import RUN_METRICS, _run_metrics_by_name
from tests.spark.conftest import Site, calls

CARD = {
    "name": "triage",
    "display_name": "Triage",
    "description": "Whether a complaint is an emergency; made for a test.",
    "access_level": "public",
    "source": {
        "format": "csv",
        "files": [{"path": f"{split}.csv", "split": split} for split in ("train", "test")],
    },
    "shape": "multiple_choice",
    "fields": {"id": "id", "question": "question", "answer": "answer"},
    "options": {"choices": "yes|no|maybe"},
    "adapter_spec": {
        "method": "multiple_choice_joint",
        "num_outputs": 5,
        "max_tokens": 1,
        "max_train_instances": 2,
    },
    "metrics": [
        {"name": "classification", "args": {"labels": "yes|no|maybe"}},
        {"name": "calibration"},
        {"name": "perplexity"},
        {"name": "general_information"},
        {"name": "efficiency"},
    ],
    "main_metric": "classification_macro_f1",
    "category": "Clinical Decision Support",
    "subcategory": "Supporting Diagnostic Decisions",
}
ANSWERS = ("yes", "yes", "no", "no", "maybe")
REPLIES = {"case 0": "A", "case 1": "B", "case 2": "B", "case 3": "B", "case 4": "A"}
CONFIDENCE = math.exp(-0.1)  # of the canned engine's one token


def declare(site: Site) -> str:
    folder = site.folder / "prod_env" / "scenarios"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "triage.yaml").write_text(yaml.safe_dump(CARD))
    for split, word in (("train", "example"), ("test", "case")):
        lines = [f"{word}{i},{word} {i}: chest pain?,{answer}" for i, answer in enumerate(ANSWERS)]
        path = site.folder / f"{split}.csv"
        path.write_text("\n".join(["id,question,answer", *lines]) + "\n")
    return "triage"


@pytest.mark.core
def test_a_run_is_classified_calibrated_and_summarised_again_without_a_call(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "calls.log"
    sure = site.deploy("acme/sure", mode="script", replies=REPLIES, log_file=str(log))
    site.deploy("acme/flaky", mode="script", replies=REPLIES, fail_every=2, max_attempts=1)
    entry = declare(site)
    assert site.run("-r", entry, "--models-to-run", sure, "acme/flaky") == INCOMPLETE

    first, second = sorted(site.board(), key=lambda cell: cell["num_unscored"])
    # yes: tp 1, fp 1, fn 1; no: tp 2, fp 1; maybe: fn 1
    assert first["mean"] == pytest.approx((1 / 2 + 4 / 5 + 0) / 3)
    assert first["ci_low"] < first["mean"] < first["ci_high"]
    assert (first["count"], first["num_unscored"]) == (5, 0)
    assert second["num_unscored"] > 0, "a failure is counted, not scored"
    assert second["count"] == 5 - second["num_unscored"]

    spec_id = next(
        row["run_spec_id"]
        for row in site.rows("run_specs")
        if row["run_spec"]["model_deployment"] == sure
    )
    stats_by_name = {
        row["name"]: row for row in site.rows("stats") if row["run_spec_id"] == spec_id
    }
    expected = {
        "classification_micro_f1": 2 * 3 / (6 + 2 + 2),
        "exact_match": 3 / 5,
        "max_prob": CONFIDENCE,
        "ece_10_bin": CONFIDENCE - 3 / 5,
        "brier_score": (3 * (1 - CONFIDENCE) ** 2 + 2 * CONFIDENCE**2) / 5,
        "selective_acc@10": 3 / 5,
        "perplexity": math.exp(0.1),
        "bits_per_byte": 0.1 / math.log(2),
        "num_references": 3.0,
        "num_train_instances": 2.0,
        "finish_reason_stop": 1.0,
        "num_completion_tokens": 1.0,
    }
    assert {name: stats_by_name[name]["mean"] for name in expected} == pytest.approx(expected)
    assert stats_by_name["ece_10_bin"]["ci_low"] is None
    assert not {"true_classes", "predicted_classes"} & set(stats_by_name), "codes have no mean"

    num_calls, num_scored = len(calls(log)), len(site.rows("per_instance_stats"))
    newer = replace(RUN_METRICS["calibration"], version="next")
    monkeypatch.setattr("medhelm_spark.metrics.RUN_METRICS", {**RUN_METRICS, "calibration": newer})
    anew = _run_metrics_by_name.__wrapped__  # without what is cached of the metrics before
    monkeypatch.setattr("medhelm_spark.metrics._run_metrics_by_name", anew)
    assert site.run("-r", f"{entry}:model={sure}") == 0
    again = [row for row in site.rows("stats") if row["run_spec_id"] == spec_id]
    assert len(again) == 2 * len(stats_by_name)
    assert len(site.rows("per_instance_stats")) == num_scored
    assert len(calls(log)) == num_calls == 5
    release = ("--release", "r1", "--no-tracking")
    assert site.run(*release, command="publish") == 0, "computed again, they are alike"
