"""Which rows of a board can be told apart."""

import numpy as np
import pytest

from medhelm_spark.statistics.bootstrap import weights
from medhelm_spark.statistics.tiers import RankedColumn, Standing, standings


def column(generator: np.random.Generator, shares: list[float], n: int = 300) -> RankedColumn:
    """A benchmark of n instances, which all models find hard or easy alike."""
    hardness = generator.random(n)
    right = np.array([(hardness + generator.random(n)) / 2 < share for share in shares], float)
    drawn = weights(generator.integers(0, 2**63, n).astype(np.uint64))
    draws = (right @ drawn) / drawn.sum(axis=0)
    return RankedColumn(means=right.mean(axis=1), draws=draws, lower_is_better=False, units=n)


def board(seed: int, shares: list[float], columns: int, n: int = 300) -> list[Standing]:
    generator = np.random.default_rng(seed)
    held = [column(generator, shares, n) for _ in range(columns)]
    return standings(held, np.ones(len(shares), bool))


@pytest.mark.parametrize(("columns", "n"), [(1, 300), (1, 30), (3, 100), (17, 300)])
def test_equal_models_are_told_apart_on_few_boards(columns, n):
    boards = [board(seed, [0.6] * 9, columns, n) for seed in range(40)]
    claims = sum(any(row.tier > 1 for row in held) for held in boards)
    assert claims <= 6  # 2 are expected; more than 6 of 40 happen once in 200 times
    spans = [row.rank_high - row.rank_low + 1 for held in boards for row in held]
    assert np.mean(spans) > 8


def test_models_that_differ_are_told_apart():
    held = board(1, [0.75, 0.75, 0.5, 0.5, 0.3], 10)
    assert [row.tier for row in held] == [1, 1, 2, 2, 3]
    ranks = [(row.rank_low, row.rank_high) for row in held]
    assert ranks == [(1, 2), (1, 2), (3, 4), (3, 4), (5, 5)]
    assert sum(row.probability_best for row in held) == pytest.approx(1)
    assert held[4].probability_best == 0


def test_one_benchmark_is_enough_where_models_differ_much():
    assert [row.tier for row in board(2, [0.8, 0.3], 1)] == [1, 2]


def test_lower_may_be_better():
    generator = np.random.default_rng(3)
    held = [column(generator, [0.8, 0.3]) for _ in range(3)]
    turned = [
        RankedColumn(means=each.means, draws=each.draws, lower_is_better=True, units=each.units)
        for each in held
    ]
    assert [row.tier for row in standings(turned, np.ones(2, bool))] == [2, 1]


def test_opponents_that_lack_a_benchmark_are_opponents_elsewhere():
    generator = np.random.default_rng(4)
    full, partial = (column(generator, [0.8, 0.3, 0.6]) for _ in range(2))
    means, draws = partial.means.copy(), partial.draws.copy()
    means[2], draws[2] = np.nan, np.nan
    partial = RankedColumn(means=means, draws=draws, lower_is_better=False, units=300)
    held = standings([full, partial], np.array([True, True, False]))
    assert [(row.tier, row.rank_low, row.rank_high) for row in held] == [(1, 1, 1), (2, 2, 2)]


def test_the_same_answers_share_the_chance_to_be_best():
    generator = np.random.default_rng(5)
    held = column(generator, [0.6])
    twice = RankedColumn(
        means=np.repeat(held.means, 2),
        draws=np.repeat(held.draws, 2, axis=0),
        lower_is_better=False,
        units=300,
    )
    assert [row.probability_best for row in standings([twice], np.ones(2, bool))] == [0.5, 0.5]
