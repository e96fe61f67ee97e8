"""Two models compared by a stat of the whole run."""

from dataclasses import replace

import numpy as np
import pytest

from medhelm_spark.board.measured import RunStat
from medhelm_spark.metrics import RUN_METRICS
from medhelm_spark.statistics.paired import PairedTest

LABELS = {"labels": "urgent|routine", "positive": "urgent"}
RIGHT = np.repeat([1.0, 2.0], [90, 210])


def chosen(found: int, called: int) -> np.ndarray:
    """The class that a model gave to 90 urgent and 210 routine letters."""
    return np.repeat([1.0, 2.0, 1.0, 2.0], [found, 90 - found, called, 210 - called])


def measured(
    stat: str, *models: np.ndarray, name: str = "diagnostic_accuracy", **more: str
) -> RunStat:
    metric, params = RUN_METRICS[name], {**LABELS, **more}
    stats = metric.emitted(params)
    index = [each.name for each in stats].index(stat)
    rows = np.stack([np.stack([RIGHT, model], 1) for model in models])
    units = [str(index) for index in range(len(RIGHT))]
    return RunStat(metric, params, index, rows, None, stats[index], units, units)


def test_a_sensitivity_is_compared_on_the_positive_letters():
    difference = measured("sensitivity", chosen(83, 20), chosen(9, 5)).difference(0, 1)
    assert (difference.n, difference.test) == (90, PairedTest.MCNEMAR)
    assert difference.mean_difference == pytest.approx(74 / 90)
    # Eight models are 28 pairs: by Holm the smallest p-value is multiplied by 28.
    assert 28 * difference.p_value < 1e-6
    assert (difference.num_higher, difference.num_equal, difference.num_lower) == (74, 16, 0)


def test_a_predictive_value_rests_on_other_letters_in_each_run():
    difference = measured("ppv", chosen(83, 20), chosen(83, 60)).difference(0, 1)
    assert (difference.n, difference.test, difference.num_higher) == (300, PairedTest.T, None)
    assert difference.mean_difference == pytest.approx(83 / 103 - 83 / 143)
    assert difference.p_value < 0.001


def test_neither_the_order_of_letters_nor_that_of_runs_changes_a_number():
    whole = measured("balanced_accuracy", chosen(83, 20), chosen(70, 20))
    order = np.random.default_rng(1).permutation(300)
    shuffled = replace(whole, rows=whole.rows[:, order], known={})
    first, second = whole.difference(0, 1), shuffled.difference(0, 1)
    assert second.p_value == pytest.approx(first.p_value, rel=1e-9)
    assert second.ci_low == pytest.approx(first.ci_low, rel=1e-9)
    assert whole.difference(1, 0).p_value == pytest.approx(first.p_value, rel=1e-9)


@pytest.mark.parametrize("stat", ["sensitivity", "ppv", "balanced_accuracy"])
def test_what_an_error_costs_changes_no_other_number(stat):
    differences = [
        measured(stat, chosen(83, 20), chosen(70, 25), costs=costs).difference(0, 1)
        for costs in ("urgent>routine=1", "urgent>routine=10", "urgent>routine=10|routine>urgent=3")
    ]
    assert differences[0] == differences[1] == differences[2]


def test_a_stat_without_a_value_in_one_run_is_not_compared():
    difference = measured("ppv", chosen(83, 20), np.full(300, 2.0)).difference(0, 1)
    assert (difference.n, difference.mean_difference, difference.p_value) == (300, None, None)
