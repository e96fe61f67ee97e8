"""Risks at a prevalence, against published examples and values worked out by hand."""

import math

import numpy as np
import pytest

from medhelm_spark.statistics.intervals import wilson
from medhelm_spark.statistics.two_by_two import (
    NEGATIVE,
    NEITHER,
    POSITIVE,
    ClassAnswers,
    Costs,
    Estimated,
    always,
    at_prevalence,
    ratio_interval,
)


def answers(tp: int, fn: int, none: int, fp: int, tn: int, other: int, **more) -> ClassAnswers:
    kinds = (POSITIVE, NEGATIVE, NEITHER)
    counts = ((tp, fn, none), (fp, tn, other))
    predicted = [
        kind
        for row in counts
        for kind, number in zip(kinds, row, strict=True)
        for _ in range(number)
    ]
    return ClassAnswers(
        is_positive=np.repeat([True, False], [sum(row) for row in counts]),
        predicted=np.array(predicted),
        **more,
    )


SCAN = answers(231, 27, 0, 32, 54, 0)
"""Liver scans (Altman and Bland 1994, BMJ 309:102): 258 of 344 abnormal."""


def test_predictive_values_are_those_of_altman_and_bland():
    assert SCAN.prevalence == pytest.approx(0.75)
    own = at_prevalence(SCAN, 0.75)
    assert own.ppv.value == pytest.approx(231 / 263)
    assert own.npv.value == pytest.approx(54 / 81)
    rare = at_prevalence(SCAN, 0.25)
    assert (round(rare.ppv.value, 2), round(rare.npv.value, 2)) == (0.45, 0.95)


def test_missed_cases_and_false_alarms_are_shares_of_their_class_at_the_prevalence():
    found = at_prevalence(answers(34, 4, 2, 16, 140, 4), 0.02)
    assert found.missed.value == pytest.approx(20 * 6 / 40)
    assert found.false_alarms.value == pytest.approx(980 * 16 / 160)
    assert found.without_answer.value == pytest.approx(20 * 2 / 40 + 980 * 4 / 160)
    assert found.ppv.value == pytest.approx(0.017 / (0.017 + 0.098))
    assert found.npv.value == pytest.approx(0.8575 / (0.8575 + 0.002))
    sensitivity = wilson(34, 40)
    ends = (20 * (1 - sensitivity.high), 20 * (1 - sensitivity.low))
    assert (found.missed.low, found.missed.high) == pytest.approx(ends)
    assert found.cost is None, "none is declared"


def test_a_sum_over_both_classes_has_movers_interval():
    found = at_prevalence(answers(34, 4, 2, 16, 140, 4), 0.5).without_answer
    first, second = wilson(2, 40), wilson(4, 160)
    value = 500 * (2 / 40 + 4 / 160)
    low = math.hypot(500 * (2 / 40 - first.low), 500 * (4 / 160 - second.low))
    assert (found.value, found.low) == pytest.approx((value, value - low))
    assert found.low < found.value < found.high


def test_a_ratio_of_shares_has_the_interval_of_mover_r():
    # (0.2 - R 0.8)^2 = 0.1^2 + R^2 0.1^2 comes to 0.63 R^2 - 0.32 R + 0.03 = 0.
    low, high = ratio_interval(Estimated(0.2, 0.1, 0.4), Estimated(0.8, 0.6, 0.9))
    assert low == pytest.approx((0.32 - math.sqrt(0.32**2 - 4 * 0.63 * 0.03)) / (2 * 0.63))
    # (0.2 - R 0.8)^2 = 0.2^2 + R^2 0.2^2 comes to 0.6 R^2 - 0.32 R = 0.
    assert high == pytest.approx(0.32 / 0.6)
    assert ratio_interval(Estimated(0.0, 0.0, 0.1), Estimated(0.0, 0.0, 0.2)) == (0.0, math.inf)
    assert ratio_interval(Estimated(0.2), Estimated(0.8, 0.6, 0.9)) is None


@pytest.mark.parametrize("counts", [(40, 0, 0, 0, 160, 0), (0, 40, 0, 160, 0, 0)])
def test_all_right_and_all_wrong_have_intervals_within_the_scale(counts):
    found = at_prevalence(answers(*counts), 0.1)
    is_right = counts[0] > 0
    for estimate in (found.ppv, found.npv):
        assert estimate.value == float(is_right)
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
        assert estimate.high > estimate.low
    assert found.missed.value == (0 if is_right else 100)


def test_nothing_that_was_not_answered_is_made_up():
    shy = at_prevalence(answers(0, 40, 0, 0, 160, 0), 0.1)
    assert shy.ppv is None, "nothing is answered as positive"
    assert shy.npv.value == pytest.approx(0.9)
    one_class = answers(3, 1, 0, 0, 0, 0)
    assert at_prevalence(one_class, 0.1) is None
    assert one_class.prevalence is None


def test_declared_costs_are_weighed_by_the_prevalence():
    costs = np.repeat([0.0, 10.0, 10.0, 1.0, 0.0, 1.0], [34, 4, 2, 16, 140, 4])
    always_costs = {POSITIVE: [(0.0, 1.0)], NEGATIVE: [(10.0, 0.0)]}
    predictions = answers(
        34,
        4,
        2,
        16,
        140,
        4,
        costs=Costs(of_answers=costs, costliest=(10.0, 1.0), always=always_costs),
    )
    for prevalence, cost in ((0.2, 400.0), (0.02, 20 * 1.5 + 980 * 0.125)):
        found = at_prevalence(predictions, prevalence).cost
        assert found.value == pytest.approx(cost)
        assert found.low < found.value < found.high
    assert always(predictions, 0.2, POSITIVE).cost.value == pytest.approx(800)
    assert always(predictions, 0.2, NEGATIVE).cost.value == pytest.approx(2000)


def test_a_cost_is_no_less_certain_than_the_errors_that_it_is_made_of():
    costs = np.repeat([0.0, 10.0, 0.0, 1.0, 0.0, 0.0], [18, 28, 0, 1, 253, 0])
    declared = Costs(of_answers=costs, costliest=(10.0, 1.0), always={})
    found = at_prevalence(answers(18, 28, 0, 1, 253, 0, costs=declared), 0.05)
    assert found.cost.value == pytest.approx(10 * found.missed.value + found.false_alarms.value)
    assert 10 * found.missed.low + found.false_alarms.low < found.cost.low
    assert found.cost.high < 10 * found.missed.high + found.false_alarms.high


def test_errors_that_cost_nothing_in_a_class_cost_nothing():
    costs = np.repeat([0.0, 10.0, 10.0, 0.0], [34, 4, 2, 160])
    declared = Costs(of_answers=costs, costliest=(10.0, 0.0), always={})
    found = at_prevalence(answers(34, 4, 2, 16, 140, 4, costs=declared), 0.2).cost
    assert found.value == pytest.approx(300)
    assert found.low < found.value < found.high


def test_whoever_answers_every_case_alike_misses_none_or_alarms_nobody():
    yes, no = (always(SCAN, 0.1, label) for label in (POSITIVE, NEGATIVE))
    assert (yes.missed.value, yes.false_alarms.value, yes.ppv.value, yes.npv) == (0, 900, 0.1, None)
    assert (no.missed.value, no.false_alarms.value, no.npv.value, no.ppv) == (100, 0, 0.9, None)
    assert yes.cost is None


def test_clustered_answers_have_wider_intervals():
    counts = (30, 10, 0, 20, 80, 0)
    alone = at_prevalence(answers(*counts), 0.2)
    same = answers(*counts, clusters=np.arange(140) // 10)
    joint = at_prevalence(same, 0.2)
    assert same.num_clusters == 14
    for name in ("missed", "false_alarms", "ppv"):
        ours, theirs = getattr(joint, name), getattr(alone, name)
        assert ours.value == theirs.value
        assert ours.high - ours.low > 1.5 * (theirs.high - theirs.low), name
