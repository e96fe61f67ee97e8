"""Evidence over looks: products worked out by hand, expectations by enumeration of all outcomes."""

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from medhelm_spark.statistics.always_valid import (
    FIRST,
    STAKES,
    SUM_OF_SHARES,
    UnitTotals,
    betting_interval,
    log_evidence_above,
    log_evidence_below,
    look_share,
    p_over_looks,
    unit_totals,
)


def paired(values: list[float], labels: list[int] | None = None) -> UnitTotals:
    units = None if labels is None else np.array(labels)
    return unit_totals(np.array(values, float), units, -1.0, 1.0)


def by_hand(units: list[tuple[int, int]], bound: Fraction) -> float:
    """The e-value in fractions: bets on each unit (its sum and its size), averaged over stakes."""
    largest = max(size for _, size in units)
    total = Fraction(0)
    for stake in STAKES.tolist():
        capital = Fraction(1)
        for value, size in units:
            capital *= 1 + Fraction(stake) * (bound * size - value) / (largest * (1 - bound))
        total += capital
    return float(total / len(STAKES))


@pytest.mark.parametrize("bound", [Fraction(-1, 20), Fraction(0), Fraction(1, 10)])
def test_a_look_is_the_average_of_products_of_bets(bound: Fraction) -> None:
    values = [-1, 0, 0, 1, 0, -1, -1]
    found = math.exp(log_evidence_below(paired(values), float(bound)))
    assert found == pytest.approx(by_hand([(value, 1) for value in values], bound), rel=1e-12)
    clusters = math.exp(log_evidence_below(paired(values, [0, 0, 0, 1, 1, 2, 3]), float(bound)))
    assert clusters == pytest.approx(by_hand([(-1, 3), (1, 2), (-1, 1), (-1, 1)], bound), rel=1e-12)


@pytest.mark.parametrize(
    "chances",
    [
        {-1: Fraction(1, 20), 0: Fraction(19, 20)},
        {-1: Fraction(6, 20), 0: Fraction(9, 20), 1: Fraction(5, 20)},
        {-1: Fraction(21, 40), 1: Fraction(19, 40)},
    ],
    ids=["losses alone", "losses and gains", "no two answers alike"],
)
def test_its_expectation_at_the_bound_is_one(chances: Mapping[int, Fraction]) -> None:
    mean = sum(value * chance for value, chance in chances.items())
    assert mean == Fraction(-1, 20)
    expectation = 0.0
    for outcome in product(chances, repeat=6):
        chance = math.prod(chances[value] for value in outcome)
        evidence = math.exp(log_evidence_below(paired([*map(float, outcome)]), float(mean)))
        expectation += float(chance) * evidence
    assert expectation == pytest.approx(1.0, rel=1e-9)


def test_evidence_above_is_that_of_the_other_sign() -> None:
    values = [1.0, 0.0, 0.5, -0.25]
    other = [-value for value in values]
    assert log_evidence_above(paired(values), 0.1) == log_evidence_below(paired(other), -0.1)


def test_an_interval_is_as_short_as_a_binomial_bound_allows() -> None:
    """Of 300 answers of which none changed, no change above some 2 % is likely."""
    low, high = betting_interval(unit_totals(np.zeros(300), None, 0.0, 1.0), 0.05)
    exact = 1 - 0.025 ** (1 / 300)
    ends_by_hand = 1 - (0.025 / len(STAKES)) ** (1 / 300)
    assert low == pytest.approx(0.0, abs=1e-12)
    assert exact < high <= ends_by_hand


@pytest.mark.parametrize("level", [0.05, 0.001])
def test_the_ends_are_where_the_evidence_is_enough(level: float) -> None:
    values = [-1.0] * 30 + [1.0] * 10 + [0.0] * 160
    low, high = betting_interval(paired(values), level)
    assert low < -0.1 < high
    needed = math.log(2 / level)
    assert log_evidence_below(paired(values), high) == pytest.approx(needed, abs=1e-6)
    assert log_evidence_above(paired(values), low) == pytest.approx(needed, abs=1e-6)


def test_intervals_hold_a_mean_of_few_clusters() -> None:
    generator = np.random.default_rng(5)
    missed = 0
    for _ in range(300):
        sizes = generator.integers(1, 6, 60)
        loss = generator.random(60) < 0.1
        values = np.repeat(np.where(loss, -1.0, 0.0), sizes)
        low, high = betting_interval(
            unit_totals(values, np.repeat(np.arange(60), sizes), -1.0, 1.0), 0.05
        )
        missed += not low <= -0.1 <= high
    assert missed <= 15


def test_shares_of_all_looks_are_one_at_most() -> None:
    looks = 200_000
    spent = sum(look_share(look) for look in range(1, looks + 1))
    last = looks - 1 + FIRST
    rest = 1 / (math.log(last) * SUM_OF_SHARES)  # the integral from there on is above the sum
    assert 0.999 < spent + rest <= 1.0


def test_evidence_of_looks_adds_up_and_never_falls() -> None:
    looks = [(look_share(1), 2.0), (look_share(2), -3.0), (look_share(3), 5.0)]
    by_hand_sum = sum(share * math.exp(log_e) for share, log_e in looks)
    assert p_over_looks(looks) == pytest.approx(1 / by_hand_sum)
    found = [p_over_looks(looks[:number]) for number in range(4)]
    assert found == sorted(found, reverse=True)
    assert found[0] == 1.0
    assert p_over_looks([(0.1, 1e6)]) < 1e-300


def test_a_model_at_the_margin_raises_few_false_alarms_over_a_year() -> None:
    """The worst case: the true loss is the margin itself, other instances lost at each look."""
    generator = np.random.default_rng(11)
    alarms, years, margin, n = 0, 100, 0.05, 100
    for _ in range(years):
        total = 0.0
        for look in range(1, 366):
            lost = generator.binomial(n, margin)
            totals = UnitTotals(
                sums=np.array([-1.0, 0.0]),
                sizes=np.ones(2),
                counts=np.array([lost, n - lost], float),
                low=-1.0,
                high=1.0,
            )
            total += look_share(look) * math.exp(log_evidence_below(totals, -margin))
        alarms += total >= 20
    assert alarms <= 0.05 * years


def test_nothing_to_bet_on_is_no_evidence() -> None:
    nothing = unit_totals(np.array([]), None, -1.0, 1.0)
    assert log_evidence_below(nothing, 0.0) == 0.0
    assert betting_interval(nothing, 0.05) == (-1.0, 1.0)
