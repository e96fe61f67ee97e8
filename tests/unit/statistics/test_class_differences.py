"""Differences of two models in missed cases, false alarms and cost, and where one is cheapest."""

from itertools import pairwise

import numpy as np
import pytest

from medhelm_spark.statistics.class_differences import CostLine, cheapest_ranges, difference_at
from medhelm_spark.statistics.two_by_two import (
    NEGATIVE,
    NEITHER,
    POSITIVE,
    ClassAnswers,
    Costs,
)

COSTS = {(True, NEGATIVE): 10.0, (True, NEITHER): 10.0, (False, POSITIVE): 1.0}


def answers(is_positive: list[bool], predicted: list[int], clusters: list[int] | None = None):
    pairs = zip(is_positive, predicted, strict=True)
    return ClassAnswers(
        is_positive=np.array(is_positive, bool),
        predicted=np.array(predicted, np.int64),
        clusters=None if clusters is None else np.array(clusters, np.int64),
        costs=Costs(
            of_answers=np.array([COSTS.get(pair, 0.0) for pair in pairs]),
            costliest=(10.0, 1.0),
            always={},
        ),
    )


def test_equal_answers_differ_by_nothing() -> None:
    both = answers([True] * 20 + [False] * 30, [POSITIVE, NEGATIVE] * 25)
    difference = difference_at(both, both, 0.1)
    assert difference
    assert (difference.missed.value, difference.false_alarms.value, difference.cost.value) == (
        0,
        0,
        0,
    )
    assert difference.missed.low <= 0 <= difference.missed.high


def test_the_cost_is_what_missed_cases_and_alarms_cost() -> None:
    classes = [True] * 20 + [False] * 30
    first = answers(classes, [NEGATIVE] * 5 + [POSITIVE] * 15 + [NEGATIVE] * 30)
    second = answers(classes, [POSITIVE] * 20 + [POSITIVE] * 6 + [NEGATIVE] * 24)
    difference = difference_at(first, second, 0.02)
    assert difference
    assert difference.missed.value == pytest.approx(20 * 5 / 20)
    assert difference.false_alarms.value == pytest.approx(-980 * 6 / 30)
    assert difference.cost.value == pytest.approx(
        10 * difference.missed.value + difference.false_alarms.value
    )


def test_cases_without_a_class_or_of_other_classes_have_no_difference() -> None:
    none = answers([], [])
    assert difference_at(none, none, 0.1) is None
    one, other = answers([True], [POSITIVE]), answers([False], [POSITIVE])
    assert difference_at(one, other, 0.1) is None
    difference = difference_at(one, one, 0.1)
    assert difference
    assert difference.false_alarms is None
    assert difference.cost is None


def test_clusters_widen_the_interval() -> None:
    classes, labels = [True] * 40, [index // 8 for index in range(40)]
    first = [NEGATIVE] * 16 + [POSITIVE] * 24
    alone, together = (
        difference_at(answers(classes, first, c), answers(classes, [POSITIVE] * 40, c), 0.5)
        for c in (None, labels)
    )
    assert alone.missed.value == together.missed.value == pytest.approx(200)
    assert together.missed.high - together.missed.low > alone.missed.high - alone.missed.low


@pytest.mark.parametrize("prevalence", [0.01, 0.2])
def test_the_interval_of_a_cost_holds_the_true_difference(prevalence: float) -> None:
    """200 cases, 15 of them positive: at least 93 % of intervals, by 600 draws."""
    chance = np.random.default_rng(3)
    classes = [True] * 15 + [False] * 185
    true = 1000 * (prevalence * 10 * (0.3 - 0.15) + (1 - prevalence) * (0.05 - 0.15))
    covered = 0
    for _ in range(600):
        drawn = [
            np.where(
                chance.random(200) < np.where(classes, missed, alarm),
                np.where(classes, NEGATIVE, POSITIVE),
                np.where(classes, POSITIVE, NEGATIVE),
            )
            for missed, alarm in ((0.3, 0.05), (0.15, 0.15))
        ]
        cost = difference_at(
            *(answers(classes, list(predicted)) for predicted in drawn), prevalence
        ).cost
        covered += cost.low <= true <= cost.high
    assert covered / 600 >= 0.93


def test_the_cheapest_line_is_said_of_every_prevalence() -> None:
    own = CostLine(name="model", in_positive=2.0, in_negative=0.1)
    never = CostLine(name="never", in_positive=10.0, in_negative=0.0)
    always = CostLine(name="always", in_positive=0.0, in_negative=1.0)
    dear = CostLine(name="dear", in_positive=3.0, in_negative=0.2)
    ranges = cheapest_ranges([own, dear, never, always])
    assert [each.name for each in ranges] == ["never", "model", "always"]
    assert (ranges[0].low, ranges[-1].high) == (0.0, 1.0)
    for (below, above), (one, other) in zip(
        pairwise(ranges), [(never, own), (own, always)], strict=True
    ):
        assert below.high == above.low
        assert one.at(below.high) == pytest.approx(other.at(below.high))
    (alone,) = cheapest_ranges([dear])
    assert (alone.name, alone.low, alone.high) == ("dear", 0.0, 1.0)
