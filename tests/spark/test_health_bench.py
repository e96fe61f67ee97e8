"""HealthBench from file to board: one verdict per rubric item, failures that move nothing."""

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import yaml

from medhelm_spark.cli.exit_codes import INCOMPLETE
from tests.spark.conftest import PUBLIC, Site, calls

RUBRICS = {
    "knee": [("Asks since when", 5), ("Names a diagnosis", -4), ("Advises rest", 5)],
    "head": [("Sends to hospital", 10), ("Is rude", -8)],
    "skin": [("Greets", 2), ("Guesses a drug", -6), ("Says thanks", 2)],
}
MET = ("Asks since when", "Names a diagnosis", "Sends to hospital", "Guesses a drug")
WHOLE = {  # (5 - 4) / 10, 10 / 10, -6 / 4
    "knee": (0.1, "ok"),
    "head": (1.0, "ok"),
    "skin": (-1.5, "ok"),
}


@pytest.fixture
def run(site: Site) -> list[str]:
    """The arguments of a run on a file of HealthBench's form, with a model and one judge."""
    lines = [
        {
            "prompt_id": name,
            "prompt": [{"role": "user", "content": f"What about my {name}?"}],
            "rubrics": [
                {"criterion": text, "points": points, "tags": ["axis:accuracy"]}
                for text, points in items
            ],
            "example_tags": ["theme:hedging"],
        }
        for name, items in RUBRICS.items()
    ]
    (site.folder / "own.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    site.deploy("acme/model", mode="echo")
    judges = [{"name": "j", "model": "acme/judge", "model_deployment": "acme/judge"}]
    (site.folder / "prod_env" / "judges.yaml").write_text(yaml.safe_dump({"judges": judges}))
    return ["-r", "health_bench:model=acme/model", "--source", "own.jsonl", *PUBLIC]


def judge(site: Site, **faults: Any) -> Path:
    """Deploy a judge that rates the criteria in MET as met, and log its calls."""
    log = site.folder / "judged.log"
    replies = {
        f"{text}\n</criterion>": json.dumps({"explanation": "so", "met": True}) for text in MET
    }
    site.deploy(
        "acme/judge",
        mode="script",
        replies=replies,
        text=json.dumps({"explanation": "not so", "met": False}),
        log_file=str(log),
        max_concurrency=1,
        **faults,
    )
    return log


def scores(site: Site, stat: str) -> dict[str, tuple[float | None, str]]:
    """The newest value and status of a stat by the instance's own id."""
    names = {row["instance_id"]: row["source_id"] for row in site.rows("instances")}
    records = [row for row in site.rows("runs") if row["stage"] == "score"]
    newest = max(records, key=lambda row: row["finished_at"])["write_id"]
    return {
        names[row["instance_id"]]: (score["value"], score["status"])
        for row in site.rows("per_instance_stats")
        if row["write_id"] == newest
        for score in row["stats"]
        if score["name"] == stat
    }


def test_points_by_item_and_nothing_asked_twice(
    site: Site, run: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    log = judge(site)
    assert site.run(*run, command="estimate") == 0
    counted = {line.split()[0]: line.split()[1] for line in capsys.readouterr().out.splitlines()}
    assert (counted["acme/model"], counted["acme/judge"]) == ("3", "8")
    assert site.run(*run) == 0
    assert len(calls(log)) == 8
    assert scores(site, "health_bench_score") == WHOLE
    (cell,) = site.board()
    assert (cell["mean"], cell["count"], cell["num_unscored"]) == (0.0, 3, 0)  # -0.4 / 3, clipped
    judged = [row for row in site.rows("requests") if row["purpose"] == "judge"]
    assert sorted(row["rubric_item"] for row in judged) == [0, 0, 0, 1, 1, 1, 2, 2]
    judged_ids = {row["request_id"]: row["judged_request_id"] for row in judged}
    judged_groups = [answer for answer, _ in groupby(calls(log), key=lambda call: judged_ids[call])]
    assert len(judged_groups) == 3, "what is asked about one answer is asked in one go"
    capsys.readouterr()
    assert site.run(*run) == 0
    assert "\n0 model calls" in capsys.readouterr().err
    assert len(calls(log)) == 8


def test_one_failed_judge_call_leaves_its_answer_unscored_until_it_is_asked_again(
    site: Site, run: list[str]
) -> None:
    log = judge(site, fail_every=8, max_attempts=1)
    assert site.run(*run) == INCOMPLETE
    failed = [row for row in site.rows("annotations") if row["status"] == "request_failed"]
    (lost,) = {row["instance_id"] for row in failed}
    names = {row["instance_id"]: row["source_id"] for row in site.rows("instances")}
    item_scores = scores(site, "health_bench_score")
    assert item_scores == {**WHOLE, names[lost]: (None, "no_verdict")}
    coverage = scores(site, "jury_coverage")[names[lost]][0]
    items = len(RUBRICS[names[lost]])
    assert coverage == pytest.approx((items - 1) / items)
    (cell,) = site.board()
    assert (cell["count"], cell["num_unscored"]) == (2, 1)
    judge(site)
    assert site.run(*run) == 0
    assert len(calls(log)) == 9
    assert scores(site, "health_bench_score") == WHOLE
