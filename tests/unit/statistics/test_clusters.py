"""Means of answers that belong together."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from statsmodels.regression.linear_model import OLS

from medhelm_spark.domain.stats import SHARE, UNBOUNDED
from medhelm_spark.statistics.clusters import cluster_totals, degrees_of_freedom
from medhelm_spark.statistics.intervals import clustered
from medhelm_spark.statistics.summary import summarize

REAL = os.environ.get("MEDHELM_SPARK_REAL_DATA")


def test_the_standard_error_is_statsmodels():
    generator = np.random.default_rng(1)
    labels, data = generator.integers(0, 40, 500), generator.random(500)
    fitted = OLS(data, np.ones(500)).fit(cov_type="cluster", cov_kwds={"groups": labels})
    held = cluster_totals(labels, data)
    assert held.mean == pytest.approx(data.mean())
    assert held.standard_error() == pytest.approx(fitted.bse[0], rel=1e-10)


def test_every_answer_alone_is_the_plain_standard_error():
    data = np.random.default_rng(2).random(90)
    held = cluster_totals(np.arange(90), data)
    assert held.standard_error() == pytest.approx(data.std(ddof=1) / np.sqrt(90), rel=1e-12)


@pytest.mark.skipif(not REAL, reason="MEDHELM_SPARK_REAL_DATA is not set")
def test_shared_answers_to_medcalc_bench():
    file = Path(REAL or "", "medcalc_bench", "openai_gpt-4o-mini_direct_answer.jsonl")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    right = np.array([float(row["Result"] == "Correct") for row in rows])

    def error(key: str) -> float | None:
        names = [str(row[key]) for row in rows]
        return cluster_totals(np.unique(names, return_inverse=True)[1], right).standard_error()

    assert right.std(ddof=1) / np.sqrt(len(right)) == pytest.approx(0.0125, abs=5e-5)
    assert error("Calculator ID") == pytest.approx(0.03085549, abs=1e-8)
    assert error("Note ID") == pytest.approx(0.01317757, abs=1e-8)


def test_few_clusters_take_t():
    assert degrees_of_freedom(29) == 28
    assert degrees_of_freedom(30) == np.inf
    labels, data = np.repeat(np.arange(12), 10), np.random.default_rng(5).normal(size=120)
    fitted = OLS(data, np.ones(120)).fit(
        cov_type="cluster", cov_kwds={"groups": labels}, use_t=True
    )
    held = clustered(cluster_totals(labels, data), None, None)
    assert held is not None
    assert (held.low, held.high) == pytest.approx(tuple(fitted.conf_int()[0]), rel=1e-9)
    assert held.method == "clustered_t"


def test_a_share_stays_on_its_scale_and_has_width():
    labels = np.repeat(np.arange(40), 5)
    for right in (0, 1, 100, 199, 200):
        data = (np.arange(200) < right).astype(float)
        held = clustered(cluster_totals(labels, data), 0.0, 1.0)
        assert held is not None
        assert 0 <= held.low < held.high <= 1
        assert held.low <= right / 200 <= held.high
    # Where all agree each cluster counts as one answer.
    all_right = clustered(cluster_totals(labels, np.ones(200)), 0.0, 1.0)
    assert all_right is not None
    assert all_right.low == pytest.approx(1 / (1 + 1.96**2 / 40), abs=1e-3)


def test_a_single_cluster_has_no_interval():
    held = cluster_totals(np.zeros(9, np.int64), np.arange(9.0))
    assert held.standard_error() is None
    assert clustered(held, 0.0, 10.0) is None


def test_a_summary_counts_clusters():
    labels, data = np.repeat(np.arange(30), 4), np.repeat([1.0, 0.0, 1.0], 40)
    histogram = [(1.0, 80), (0.0, 40)]
    plain = summarize(histogram, 0, SHARE)
    robust = summarize(histogram, 0, SHARE, clusters=cluster_totals(labels, data))
    assert (robust.count, robust.mean, robust.num_clusters) == (120, plain.mean, 30)
    assert plain.num_clusters is None
    assert plain.standard_error is not None
    assert robust.standard_error is not None
    assert robust.standard_error > 1.8 * plain.standard_error
    assert robust.ci_high - robust.ci_low > 1.8 * (plain.ci_high - plain.ci_low)
    assert summarize([(3.0, 1)], 0, UNBOUNDED).standard_error is None
