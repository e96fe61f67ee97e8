"""Counted rows of per-instance values in, stats of whole runs out: without Spark."""

import random

import pytest

from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import IntervalMethod
from medhelm_spark.stages.run_level import Observed, RunSummarizer, versions

METRICS = {
    "r": (
        MetricSpec(name="exact_match"),
        MetricSpec(name="classification", args={"labels": "yes|no"}),
        MetricSpec(name="calibration"),
    )
}


def observed(place, *counted, split="test", perturbation=""):
    return [
        Observed(
            run_spec_id="r",
            place=place,
            split=split,
            perturbation=perturbation,
            values=values,
            rows=rows,
        )
        for values, rows in counted
    ]


def stats(rows):
    made = list(RunSummarizer(METRICS, 0)(rows))
    return {(stat.name, stat.split, stat.perturbation): stat for stat in made}


def test_each_group_gets_every_stat_of_its_metric():
    yes, no = 1.0, 2.0
    rows = [
        *observed(0, ((yes, yes), 3), ((no, yes), 1)),
        *observed(0, ((no, no), 2), split="valid"),
        *observed(0, ((yes, no), 1), perturbation="typos"),
        *observed(1, ((0.9, 1.0), 3), ((0.9, 0.0), 1)),
    ]
    found = stats(rows)
    assert len(found) == 3 * (2 + 2) + 6
    assert found["classification_f1[yes]", "test", ""].mean == pytest.approx(6 / 7)
    assert found["classification_f1[no]", "test", ""].mean == 0.0
    assert found["classification_f1[yes]", "valid", ""].mean is None
    # yes: tp 3, fp 1; no: fn 1
    main = found["classification_macro_f1", "test", ""]
    assert main.mean == pytest.approx((6 / 7 + 0) / 2)
    assert (main.count, main.num_unscored) == (4, 0)
    assert main.ci_method is IntervalMethod.BOUNDED_SCORE
    assert main.ci_low <= main.mean <= main.ci_high
    assert found["classification_micro_f1", "valid", ""].mean == 1.0
    assert found["classification_micro_f1", "test", "typos"].mean == 0.0
    error = found["ece_1_bin", "test", ""]
    assert error.mean == pytest.approx(0.15)
    assert (error.ci_low, error.ci_method) == (None, IntervalMethod.NONE)


def test_an_instance_without_one_of_the_values_is_counted_and_left_out():
    rows = observed(1, ((0.8, 1.0), 2), ((None, 1.0), 5), ((0.3, None), 1))
    found = stats(rows)["brier_score", "test", ""]
    assert (found.count, found.num_unscored) == (2, 6)
    assert found.mean == pytest.approx(0.04)


def test_no_value_at_all_is_not_zero():
    found = stats(observed(1, ((None, None), 4)))
    assert {stat.mean for stat in found.values()} == {None}
    assert {(stat.count, stat.num_unscored) for stat in found.values()} == {(0, 4)}


def test_the_order_of_the_rows_does_not_matter():
    rows = observed(1, *(((place / 60, float(place % 2)), 1 + place % 3) for place in range(60)))
    shuffled = random.Random(1).sample(rows, len(rows))
    assert stats(shuffled) == stats(rows)


def test_only_run_level_metrics_have_a_say_in_the_fingerprint():
    assert len(versions(METRICS["r"])) == 2
    assert versions(METRICS["r"][:1]) == []


def test_a_value_that_is_no_finite_number_is_absent():
    held = ((0.9, 1.0), 3), ((float("nan"), 1.0), 2), ((0.9, float("-inf")), 1)
    found = stats(observed(1, *held))
    error = found["ece_1_bin", "test", ""]
    assert (error.count, error.num_unscored) == (3, 3)
    assert error.mean == pytest.approx(0.1)
