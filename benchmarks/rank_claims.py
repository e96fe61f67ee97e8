"""How often a board of equal models shows more than one tier, by simulation.

Models answer the same instances, some hard and some easy for all of them. Counted are the boards
with more than one tier and the ranks that are left possible; of models that differ, what is claimed
apart; and what two means that differ at 5 % would have claimed on boards of equal models.

    python -m benchmarks.rank_claims [--boards 400] > benchmarks/results/rank_claims.md
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.bootstrap import Units, weights
from medhelm_spark.statistics.paired import paired_difference
from medhelm_spark.statistics.pairs import BoardPair, adjusted
from medhelm_spark.statistics.tiers import DecidingColumn, TierRank, standings

MODELS = 9
BENCHMARKS = (1, 2, 3, 5, 10, 20)
SIZES = (30, 100, 300)
SPREAD = 0.1
"""How much better on half of the benchmarks, and worse on the others, a model is than another."""
BEHIND = (0.02, 0.03, 0.05, 0.1)
"""How far one model is behind the others, on each benchmark."""
MORE = (
    (1, 300, 3000, False),
    (10, 300, 1000, False),
    (10, 300, 1000, True),
    (20, 300, 1000, True),
)
"""Benchmarks, instances, boards, and whether each model is better on some of the benchmarks."""
PAIRS = ((1, 30), (1, 300), (5, 100))

Shares = NDArray[np.float64]
"""The probability of a right answer, by benchmark and model."""


def answers(generator: np.random.Generator, shares: Shares, n: int) -> NDArray[np.float64]:
    """Right (1) or wrong (0) by model and instance; instances are hard for all models alike."""
    hardness = generator.random(n)
    luck = (hardness + generator.random((len(shares), n))) / 2
    right: NDArray[np.float64] = (luck < _bound(shares)[:, None]).astype(np.float64)
    return right


def _bound(shares: Shares) -> Shares:
    """Below what the mean of two uniform numbers lies with these probabilities."""
    bound: Shares = np.where(
        shares < 0.5, np.sqrt(shares / 2), 1 - np.sqrt(np.maximum(1 - shares, 0) / 2)
    )
    return bound


def column(generator: np.random.Generator, right: NDArray[np.float64]) -> DecidingColumn:
    """The benchmark as a board has it."""
    n = right.shape[1]
    units: Units = generator.integers(0, 2**63, (n,)).astype(np.uint64)
    resample_weights = weights(units)
    means, draws = right.mean(axis=1), (right @ resample_weights) / resample_weights.sum(axis=0)
    first, second = np.triu_indices(len(right), 1)
    return DecidingColumn(
        differences=means[first] - means[second],
        draws=draws[first] - draws[second],
        lower_is_better=False,
        units=n,
        width=1.0,
    )


def board(generator: np.random.Generator, shares: Shares, n: int) -> list[TierRank]:
    """The standings of one board."""
    columns = [column(generator, answers(generator, each, n)) for each in shares]
    return standings(shares.shape[1], columns)


def level(generator: np.random.Generator, benchmarks: int) -> Shares:
    """How hard each benchmark is, for all models alike; shape (benchmarks, 1)."""
    levels: Shares = generator.uniform(0.3, 0.8, (benchmarks, 1))
    return levels


def each_better_on_some(generator: np.random.Generator, benchmarks: int) -> Shares:
    """What is added to the shares so that models differ on benchmarks and not in their mean."""
    signs = np.resize([1.0, -1.0], benchmarks)
    signs[-1] *= benchmarks % 2 == 0
    model_signs = [generator.permutation(signs) for _ in range(MODELS)]
    return SPREAD * np.stack(model_signs, axis=1) / 2


def equal_models(boards: int) -> Iterator[str]:
    """What boards of equal models claim."""
    yield (
        "| benchmarks | instances | boards with tiers | the same, each model better on some "
        "| mean width of a rank interval |"
    )
    yield "|---|---|---|---|---|"
    for benchmarks, n in product(BENCHMARKS, SIZES):
        generator = np.random.default_rng([benchmarks, n])
        ranked = [
            board(generator, level(generator, benchmarks) + np.zeros(MODELS), n)
            for _ in range(boards)
        ]
        spans = [row.rank_high - row.rank_low + 1 for rows in ranked for row in rows]
        mixed = "-"
        if benchmarks > 1:
            shares = (
                level(generator, benchmarks) + each_better_on_some(generator, benchmarks)
                for _ in range(boards)
            )
            mixed = _share(_has_tiers(board(generator, each, n)) for each in shares)
        yield (
            f"| {benchmarks} | {n} | {_share(map(_has_tiers, ranked))} | {mixed} "
            f"| {np.mean(spans):.2f} of {MODELS} |"
        )


def more_boards() -> Iterator[str]:
    """The same on enough boards to distinguish 5 % from 7 %, from other seeds."""
    yield "| benchmarks | instances | each model better on some | boards | boards with tiers |"
    yield "|---|---|---|---|---|"
    for benchmarks, n, boards, is_mixed in MORE:
        generator = np.random.default_rng([7, benchmarks, n])
        added = each_better_on_some if is_mixed else _nothing
        shares = (
            level(generator, benchmarks) + added(generator, benchmarks) for _ in range(boards)
        )
        hits = _share(_has_tiers(board(generator, each, n)) for each in shares)
        yield f"| {benchmarks} | {n} | {'yes' if is_mixed else 'no'} | {boards} | {hits} |"


def _nothing(_: np.random.Generator, benchmarks: int) -> Shares:
    return np.zeros((benchmarks, MODELS))


def one_behind(boards: int) -> Iterator[str]:
    """How often the model that is behind on each benchmark is in a lower tier."""
    yield (
        "| benchmarks | instances | behind by | boards with it in a lower tier "
        "| with it below all others |"
    )
    yield "|---|---|---|---|---|"
    for benchmarks, n, behind in product((1, 8), (300,), BEHIND):
        generator = np.random.default_rng([benchmarks, n, int(1000 * behind)])
        minus = np.append(np.zeros(MODELS - 1), behind)
        last = [
            board(generator, level(generator, benchmarks) - minus, n)[-1] for _ in range(boards)
        ]
        yield (
            f"| {benchmarks} | {n} | {100 * behind:g} points | {_share(r.tier > 1 for r in last)} "
            f"| {_share(r.rank_low == MODELS for r in last)} |"
        )


def pairs_of_equal_models(boards: int) -> Iterator[str]:
    """What tests of all pairs on each benchmark claim on boards of equal models."""
    yield "| benchmarks | instances | boards with a pair at p < 5 % | the same, adjusted |"
    yield "|---|---|---|---|"
    for benchmarks, n in PAIRS:
        generator = np.random.default_rng([benchmarks, n, MODELS])
        adjusted_pairs = [
            list(adjusted(_pairs(generator, level(generator, benchmarks) + np.zeros(MODELS), n)))
            for _ in range(boards)
        ]
        unadjusted_share = _share(
            any((pair.difference.p_value or 1) < 0.05 for pair in pairs) for pairs in adjusted_pairs
        )
        adjusted_share = _share(
            any((pair.adjusted_p or 1) < 0.05 for pair in pairs) for pairs in adjusted_pairs
        )
        yield f"| {benchmarks} | {n} | {unadjusted_share} | {adjusted_share} |"


def _pairs(generator: np.random.Generator, shares: Shares, n: int) -> list[BoardPair]:
    return [
        BoardPair(
            scenario_name=str(number),
            display_name="",
            main_metric="",
            first=str(first),
            second=str(second),
            difference=paired_difference(right[first], right[second]),
            lower_is_better=False,
        )
        for number, right in enumerate(answers(generator, each, n) for each in shares)
        for first, second in combinations(range(MODELS), 2)
    ]


def _has_tiers(rows: Iterable[TierRank]) -> bool:
    return any(row.tier > 1 for row in rows)


def _share(hits: Iterable[bool]) -> str:
    return f"{100 * np.mean(list(hits)):.1f} %"


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=400)
    args = parser.parse_args()
    lines = [
        "# What boards claim",
        "",
        f"Made by `make bench-intervals`: {MODELS} models, {args.boards} boards a row. A benchmark "
        "is between 30 % and 80 % right, the same for all models unless a table says otherwise.",
        "",
        "## Equal models",
        "",
        "At most 5 % of these boards may have more than one tier. In the fourth column a model is "
        f"up to {100 * SPREAD:g} points better than another on some benchmarks and as much worse "
        "on others; the means over the board's benchmarks are equal. Of 400 boards a share of 5 % "
        "has a standard error of 1.1 points; the second table has more boards.",
        "",
        *equal_models(args.boards),
        "",
        *more_boards(),
        "",
        "## One model behind the others",
        "",
        *one_behind(args.boards),
        "",
        "## All pairs of equal models, one test a benchmark",
        "",
        *pairs_of_equal_models(args.boards),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
