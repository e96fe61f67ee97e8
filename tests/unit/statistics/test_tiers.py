"""Which rows of a board can be told apart."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from medhelm_spark.statistics.board import Leaderboard
from medhelm_spark.statistics.bootstrap import mean_draws, weights
from medhelm_spark.statistics.paired import paired_difference
from medhelm_spark.statistics.pairs import BoardPair, PairDecision, adjusted
from medhelm_spark.statistics.tiers import DecidingColumn, TierRank, standings
from tests.unit.statistics.cells import CELL, board_of


def answers(generator: np.random.Generator, shares: Sequence[float], n: int = 300) -> np.ndarray:
    """Right (1) or wrong (0) of each model on n instances, hard or easy for all alike."""
    hardness = generator.random(n)
    return np.array([(hardness + generator.random(n)) / 2 < share for share in shares], float)


def deciding(means: np.ndarray, draws: np.ndarray, n: int) -> DecidingColumn:
    """A benchmark of which every row has the same instances."""
    first, second = np.triu_indices(len(means), 1)
    return DecidingColumn(
        differences=means[first] - means[second],
        draws=draws[first] - draws[second],
        lower_is_better=False,
        units=n,
        width=1.0,
    )


def column(generator: np.random.Generator, right: np.ndarray) -> DecidingColumn:
    n = right.shape[1]
    drawn = weights(generator.integers(0, 2**63, n).astype(np.uint64))
    return deciding(right.mean(axis=1), (right @ drawn) / drawn.sum(axis=0), n)


def board(seed: int, shares: Sequence[float], columns: int, n: int = 300) -> list[TierRank]:
    generator = np.random.default_rng(seed)
    deciding = [column(generator, answers(generator, shares, n)) for _ in range(columns)]
    return standings(len(shares), deciding)


def tiers(rows: int, columns: Sequence[DecidingColumn]) -> list[int]:
    return [row.tier for row in standings(rows, columns)]


def cells(generator: np.random.Generator, name: str, right: np.ndarray, **changes) -> list:
    """The cells of one benchmark, with the resamples that a run makes of its own answers."""
    units = generator.integers(0, 2**63, right.shape[1]).astype(np.uint64)
    ones = np.ones(right.shape[1])
    return [
        replace(
            CELL,
            model=f"m{model}",
            model_deployment=f"m{model}",
            scenario_name=name,
            display_name=name,
            count=len(row),
            mean=row.mean(),
            minimum=0.0,
            maximum=1.0,
            draws=tuple(mean_draws(units, ones, row)),
            **changes,
        )
        for model, row in enumerate(right)
    ]


@pytest.mark.parametrize(("columns", "n"), [(1, 300), (1, 30), (3, 100), (17, 100)])
def test_equal_models_are_told_apart_on_few_boards(columns, n):
    boards = [board(seed, [0.6] * 9, columns, n) for seed in range(40)]
    claims = sum(any(row.tier > 1 for row in rows) for rows in boards)
    assert claims <= 6  # 2 are expected; more than 6 of 40 happen once in 200 times
    spans = [row.rank_high - row.rank_low + 1 for rows in boards for row in rows]
    assert np.mean(spans) > 8


@pytest.mark.parametrize("columns", [2, 3, 5, 10])
def test_models_that_are_each_better_on_some_benchmarks_are_in_one_tier(columns):
    """Ten models of equal means over the benchmarks, up to ten points apart on each of them."""
    claims = 0
    for seed in range(40):
        generator = np.random.default_rng(seed)
        better = generator.uniform(-0.05, 0.05, (columns, 10))
        shares = 0.6 + better - better.mean(axis=0)
        rows = standings(10, [column(generator, answers(generator, each, 100)) for each in shares])
        claims += any(row.tier > 1 for row in rows)
    assert claims <= 6  # 2 are expected


def test_models_that_differ_are_told_apart():
    rows = board(1, [0.75, 0.75, 0.5, 0.5, 0.3], 10)
    assert [row.tier for row in rows] == [1, 1, 2, 2, 3]
    ranks = [(row.rank_low, row.rank_high) for row in rows]
    assert ranks == [(1, 2), (1, 2), (3, 4), (3, 4), (5, 5)]


def test_a_model_that_is_worse_on_five_of_nine_benchmarks_and_better_on_none_is_in_a_lower_tier():
    generator = np.random.default_rng(7)
    behind = [0.62, 0.62, 0.62, 0.62, 0.45]
    right = [answers(generator, behind if each < 5 else [0.62] * 5) for each in range(9)]
    pairs = adjusted(
        BoardPair(
            scenario_name=str(index),
            display_name="",
            main_metric="",
            first="m4",
            second="m0",
            difference=paired_difference(models[4], models[0]),
            lower_is_better=False,
        )
        for index, models in enumerate(right)
    )
    decisions = [pair.decision for pair in pairs]
    assert decisions.count(PairDecision.WORSE) == 5
    assert decisions.count(PairDecision.BETTER) == 0
    named = [cells(generator, str(index), models) for index, models in enumerate(right)]
    made = board_of(cell for group in named for cell in group)
    assert {row.name: row.standing.tier for row in made.rows} == {
        **{f"m{each}": 1 for each in range(4)},
        "m4": 2,
    }
    (note,) = [note for note in made.notes if note.startswith("Tier")]
    assert "mean over the 9 benchmarks of the ranking is shown to be worse" in note


def test_primary_endpoints_alone_decide_where_the_suite_declared_some():
    """A sensitivity of .167 is not beside one of .922, however good the rest."""
    generator = np.random.default_rng(8)
    declared = {"is_primary": True, "main_metric": "sensitivity"}
    primary = cells(generator, "sepsis", answers(generator, [0.2, 0.8]), **declared)
    rest = [cells(generator, str(each), answers(generator, [0.7, 0.5])) for each in range(3)]
    made = board_of([*primary, *(cell for group in rest for cell in group)])
    assert [(row.name, row.rank, row.standing.tier) for row in made.rows] == [
        ("m1", 2, 1),
        ("m0", 1, 2),
    ], "rows are ordered by tier, then by win rate"
    (note,) = [note for note in made.notes if note.startswith("Tier")]
    assert "mean over the primary endpoint sepsis (sensitivity) is shown to be worse" in note


def test_one_benchmark_is_enough_where_models_differ_much():
    assert [row.tier for row in board(2, [0.8, 0.3], 1)] == [1, 2]


def test_lower_may_be_better():
    generator = np.random.default_rng(3)
    columns = [column(generator, answers(generator, [0.8, 0.3])) for _ in range(3)]
    assert tiers(2, [replace(each, lower_is_better=True) for each in columns]) == [2, 1]


def test_columns_count_in_shares_of_their_scale_or_all_in_standard_errors():
    generator = np.random.default_rng(4)
    first, second = (column(generator, answers(generator, [0.8, 0.3])) for _ in range(2))
    wide = replace(second, differences=second.differences * 5, draws=second.draws * 5, width=5.0)
    assert standings(2, [first, wide]) == standings(2, [first, second])
    opened = replace(wide, width=None)
    assert tiers(2, [first, opened]) == [1, 2]


def test_the_same_answers_are_never_told_apart():
    generator = np.random.default_rng(5)
    right = np.repeat(answers(generator, [0.6]), 3, axis=0)
    assert tiers(3, [column(generator, right)]) == [1, 1, 1]


@pytest.mark.parametrize(("n", "expected"), [(5, [1, 1]), (6, [1, 2])])
def test_a_difference_without_any_spread_needs_six_units(n, expected):
    means = np.array([1.0, 0.0])
    draws = np.repeat(means[:, None], 1000, axis=1)
    assert tiers(2, [deciding(means, draws, n)]) == expected


def test_clusters_of_uneven_size_count_as_so_many_equal_ones():
    right = answers(np.random.default_rng(3), [0.52, 0.5], 300)

    def tiers_of(**changes) -> list[int | None]:
        planted = cells(np.random.default_rng(4), "triage", right, **changes)
        rows = board_of(planted).rows
        return [row.standing and row.standing.tier for row in rows]

    assert tiers_of() == tiers_of(num_clusters=60, num_effective_clusters=58.0) == [1, 2]
    assert tiers_of(num_clusters=60, num_effective_clusters=10.0) == [1, 1]
    assert tiers_of(denominator=10) == [1, 1]


@pytest.mark.parametrize(
    "few", [{"denominator": 8}, {"num_clusters": 60, "num_effective_clusters": 9.5}]
)
@pytest.mark.parametrize("parts", [("",), ("a", "b")])
def test_a_mean_of_few_answers_that_count_gets_no_tier(few: dict, parts: tuple[str, ...]) -> None:
    """A run is resampled by all 300 answers, also where a sensitivity counts 8 of them."""
    right = answers(np.random.default_rng(3), [0.9, 0.2], 300)

    def board_of_parts(**changes) -> Leaderboard:
        of_parts = [
            cells(
                np.random.default_rng(4),
                "triage",
                right,
                part=part,
                is_disjoint=True,
                **(changes if part == parts[-1] else {}),
            )
            for part in parts
        ]
        return board_of(cell for group in of_parts for cell in group)

    assert [row.standing and row.standing.tier for row in board_of_parts().rows] == [1, 2]
    made = board_of_parts(**few)
    assert [row.standing for row in made.rows] == [None, None]
    (note,) = [note for note in made.notes if note.startswith("No tiers")]
    assert note == "No tiers: a mean on triage rests on fewer than 10 answers or clusters."
