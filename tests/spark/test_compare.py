"""Two models on the same instances, by cluster, from data to decision."""

import csv
import io
import json
from itertools import combinations

import numpy as np
import pytest

from medhelm_spark.errors import ConfigError
from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.tiers import TierRank
from tests.spark.conftest import Site, questions
from tests.spark.test_evaluation import open_evaluation

PATIENTS = 30
LETTERS = 4


def letters() -> list[dict[str, str]]:
    """120 letters of 30 patients; the answers of a patient's letters belong together."""
    rows = questions(PATIENTS * LETTERS, lambda i: "yes" if (i // LETTERS) % 5 < 3 else "no")
    return [{**row, "patient": f"MRN{i // LETTERS}"} for i, row in enumerate(rows)]


def test_answers_of_one_patient_are_no_independent_tries(site: Site) -> None:
    bench = site.benchmark(
        "letters",
        letters(),
        cluster_column="patient",
    )
    plain = site.benchmark("plain", questions(40))
    evaluation = open_evaluation(site)
    entries = [f"{name},model=team/{text}" for name in (bench, plain) for text in ("yes", "no")]
    run_result = evaluation.run(entries, suite="s")
    assert run_result.model_calls == 2 * 120, "the 40 are among them"

    instances = site.rows("instances")
    cluster_ids = {row["cluster_id"] for row in instances if row["scenario_name"] == "letters"}
    assert len(cluster_ids) == PATIENTS
    assert not any("MRN" in name for name in cluster_ids)
    assert {row["cluster_id"] for row in instances if row["scenario_name"] == "plain"} == {None}

    board = evaluation.board("s")
    right = np.array([float(row["correct_answer"] == "yes") for row in letters()])
    error = cluster_totals(np.arange(120) // LETTERS, right).standard_error()
    (stat,) = [
        row
        for row in site.rows("stats")
        if row["num_clusters"] and row["draws"] and row["mean"] == 0.6
    ]
    assert (stat["count"], stat["num_clusters"]) == (120, PATIENTS)
    assert stat["standard_error"] == pytest.approx(error, rel=1e-12)
    assert np.std(stat["draws"]) == pytest.approx(error, rel=0.15)
    assert stat["ci_high"] - stat["ci_low"] > 1.8 * 2 * 1.96 * (0.24 / 120) ** 0.5
    text = str(board)
    assert "n=120 in 30 patients" in text
    assert "letters: 120 answers of 30 patients (patient)" in text
    standing = [(row.model_deployment, row.standing) for row in board.leaderboard.rows]
    assert standing == [
        ("team/yes", TierRank(tier=1, rank_low=1, rank_high=1)),
        ("team/no", TierRank(tier=2, rank_low=2, rank_high=2)),
    ]

    compared = evaluation.compare("team/no", "team/yes", suite="s", margin=0.1)
    first, second = compared.rows()
    assert [first["display_name"], first["decision"]] == ["plain", "worse"]
    assert (first["test"], first["n"], first["losses"]) == ("mcnemar_mid_p", 40, 40)
    assert (second["test"], second["n"], second["num_clusters"]) == ("clustered_t", 120, PATIENTS)
    assert second["decision"] == "not told apart"
    assert second["mean_difference"] == pytest.approx(-0.2)
    assert (second["is_not_inferior"], second["is_equivalent"]) == (False, False)
    lines = list(csv.DictReader(io.StringIO(compared.render("csv"))))
    assert [line["cluster_column"] for line in lines] == ["", "patient"]
    assert json.loads(compared.render("json"))["pairs"][1]["p_value"] == second["p_value"]

    # Other resamples would make another release: stats are computed again before they are pinned.
    evaluation.releases.publish("r", ["s"])
    assert evaluation.compare(release="r").render() == evaluation.compare(suite="s").render()
    with pytest.raises(ConfigError, match="a single model"):
        evaluation.compare("team/no", suite="s")
    with pytest.raises(ConfigError, match="margin is 0; allowed: a number above 0"):
        evaluation.compare(suite="s", margin=0)


def test_a_stat_of_the_whole_run_is_compared_by_clusters(site: Site) -> None:
    bench = site.benchmark(
        "screening",
        [{**row, "site": f"s{i % 15}"} for i, row in enumerate(letters())],
        metrics=[{"name": "balanced_accuracy", "args": {"labels": "yes|no", "positive": "yes"}}],
        cluster_column="site",
    )
    evaluation = open_evaluation(site)
    evaluation.run([f"{bench},model=team/{text}" for text in ("yes", "no")], suite="s")
    (row,) = evaluation.compare(suite="s").rows()
    assert (row["test"], row["num_clusters"]) == ("clustered_t", 15)
    assert row["decision"] in ("better", "worse", "not told apart")


def test_a_sweep_gives_rows_that_are_compared_with_each_other(site: Site) -> None:
    model, other_model = (site.deploy(f"acme/{text}", text=text) for text in ("yes", "no"))
    bench = site.benchmark("bench", questions(12))
    entry = f"{bench},model={model}"
    sweep = [entry, f"{entry},temperature=0.7", f"{entry},instructions=expert"]
    assert site.run("-r", *sweep, f"{bench},model={other_model}") == 0
    evaluation = open_evaluation(site)
    (row, other, *swept) = evaluation.board("s").leaderboard.rows
    assert {row.name, other.name} == {model, other_model}
    assert len(swept) == 2
    pairs = evaluation.compare(suite="s").pairs
    names = {frozenset((pair.first, pair.second)) for pair in pairs}
    of_model = (model, *(each.name for each in swept))
    within = {frozenset(pair) for pair in combinations(of_model, 2)}
    assert names == {frozenset((model, other_model)), *within}
    assert {pair.difference.n for pair in pairs} == {12}
