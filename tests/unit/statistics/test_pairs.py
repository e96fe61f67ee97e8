"""What a paired difference comes to."""

from dataclasses import replace
from typing import Any

import pytest

from medhelm_spark.statistics.paired import paired_difference
from medhelm_spark.statistics.pairs import (
    Adjustment,
    BoardPair,
    PairDecision,
    adjusted,
    regressions_first,
)
from tests.unit.statistics.cells import PAIR, values


def pair(first: int, second: int, n: int = 100, **changes: Any) -> BoardPair:
    """A pair with so many instances that only one of the two has right."""
    both = values((1, 0, first), (0, 1, second), (1, 1, n - first - second))
    return replace(PAIR, difference=paired_difference(*both), **changes)


def test_decisions_follow_the_adjusted_p_value_and_the_direction():
    worse, better, equal = adjusted([pair(2, 30), pair(30, 2), pair(10, 12)])
    assert (worse.decision, better.decision) == (PairDecision.WORSE, PairDecision.BETTER)
    assert equal.decision is PairDecision.NOT_TOLD_APART
    (turned,) = adjusted([pair(30, 2, lower_is_better=True)])
    assert turned.decision is PairDecision.WORSE
    assert (turned.wins, turned.losses) == (2, 30)
    (neither,) = adjusted([pair(30, 2, lower_is_better=None)])
    assert (neither.decision, neither.wins) == (PairDecision.DIFFERENT, None)


def test_a_difference_that_is_found_alone_is_not_among_many():
    (alone,) = adjusted([pair(16, 5)])
    assert alone.decision is PairDecision.BETTER
    among = adjusted([pair(16, 5), *(pair(10, 10, scenario_name=f"s{i}") for i in range(40))])
    assert among[0].decision is PairDecision.NOT_TOLD_APART
    assert among[0].difference == alone.difference


def test_declared_questions_are_a_family_of_their_own():
    pairs = adjusted([pair(16, 5, is_primary=True), *(pair(10, 10) for _ in range(40))])
    assert pairs[0].adjustment is Adjustment.HOLM
    assert pairs[0].adjusted_p == pairs[0].difference.p_value
    assert {each.adjustment for each in pairs[1:]} == {Adjustment.BENJAMINI_HOCHBERG}


def test_pairs_that_the_data_chose_count_with_those_that_it_did_not_choose():
    (alone,), (chosen,) = adjusted([pair(16, 5)]), adjusted([pair(16, 5)], num_others=36)
    assert chosen.adjusted_p == pytest.approx(36 * alone.adjusted_p)
    (declared,) = adjusted([pair(16, 5, is_primary=True)], num_declared=3, num_others=36)
    assert declared.adjusted_p == pytest.approx(3 * alone.adjusted_p)


def test_nothing_is_decided_without_a_test():
    (single,) = adjusted([replace(PAIR, difference=paired_difference(*values((0.4, 0.3, 1))))])
    assert (single.decision, single.adjusted_p) == (PairDecision.NOT_TESTED, None)


@pytest.mark.parametrize("lower_is_better", [False, True])
def test_a_margin_asks_whether_the_first_is_not_inferior_or_equivalent(lower_is_better):
    def judged(won: int, lost: int, n: int, margin: float) -> tuple[bool | None, bool | None]:
        ours, theirs = (lost, won) if lower_is_better else (won, lost)
        compared = pair(ours, theirs, n, margin=margin, lower_is_better=lower_is_better)
        return compared.is_not_inferior, compared.is_equivalent

    assert judged(20, 20, 1000, 0.02) == (True, True)
    assert judged(60, 20, 1000, 0.02) == (True, False)
    assert judged(20, 60, 1000, 0.02) == (False, False)
    assert judged(5, 5, 100, 0.02) == (False, False), "too few to decide"
    assert (pair(5, 5).is_not_inferior, pair(5, 5).is_equivalent) == (None, None)


def test_regressions_come_first_and_the_largest_of_them_before():
    pairs = adjusted([pair(30, 2), pair(1, 20), pair(5, 5), pair(2, 40)])
    ordered = sorted(pairs, key=regressions_first)
    assert [(each.decision.value, each.difference.mean_difference) for each in ordered] == [
        ("worse", -0.38),
        ("worse", -0.19),
        ("better", 0.28),
        ("not told apart", 0.0),
    ]
    declared = [replace(ordered[-1], is_primary=True), *ordered[:-1]]
    assert sorted(declared, key=regressions_first)[0].is_primary, "and declared endpoints first"
