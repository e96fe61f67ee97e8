"""How often a board of equal models tells any of them apart, by simulation.

Models answer the same instances, some hard and some easy for all of them. Counted are the boards
with more than one tier, what two means that differ at 5 % would have claimed on the same boards,
and the ranks that are left possible; of models that differ, the pairs that are told apart.

    python -m benchmarks.rank_claims [--boards 400] > benchmarks/results/rank_claims.md
"""

import argparse
import sys
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.bootstrap import weights
from medhelm_spark.statistics.paired import paired_difference
from medhelm_spark.statistics.pairs import BoardPair, adjusted
from medhelm_spark.statistics.tiers import RankedColumn, Standing, standings

MODELS = 9
SIZES = ((1, 30), (1, 300), (2, 100), (3, 100), (5, 100), (17, 300), (35, 300))
STEPS = (0.005, 0.01, 0.02)
"""How much better each model is than the next."""


def answers(
    generator: np.random.Generator, shares: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """Right (1) or wrong (0) by model and instance; instances are hard for all models alike."""
    level = generator.uniform(-0.2, 0.2)
    hardness = generator.random(n)
    luck = (hardness + generator.random((len(shares), n))) / 2
    right: NDArray[np.float64] = (luck < (shares + level)[:, None]).astype(np.float64)
    return right


def column(generator: np.random.Generator, right: NDArray[np.float64]) -> RankedColumn:
    """The benchmark as a board has it."""
    n = right.shape[1]
    drawn = weights(generator.integers(0, 2**63, n).astype(np.uint64))
    draws = (right @ drawn) / drawn.sum(axis=0)
    return RankedColumn(means=right.mean(axis=1), draws=draws, lower_is_better=False, units=n)


def board(
    generator: np.random.Generator, shares: NDArray[np.float64], columns: int, n: int
) -> tuple[list[Standing], list[BoardPair]]:
    """The standings of a board, and the pairs of its models on every benchmark."""
    held = [answers(generator, shares, n) for _ in range(columns)]
    rows = standings([column(generator, right) for right in held], np.ones(len(shares), bool))
    pairs = [
        BoardPair(
            scenario_name=str(number),
            display_name="",
            main_metric="",
            first=str(first),
            second=str(second),
            difference=paired_difference(right[first], right[second]),
            lower_is_better=False,
        )
        for number, right in enumerate(held)
        for first, second in combinations(range(len(shares)), 2)
    ]
    return rows, list(adjusted(pairs))


def _share(hits: list[bool]) -> str:
    return f"{100 * np.mean(hits):.1f} %"


def equal_models(boards: int) -> list[str]:
    """What boards of equal models claim."""
    lines = [
        "| benchmarks | instances | boards with tiers | mean width of a rank interval "
        "| boards with a pair at p < 5 % | the same, adjusted |",
        "|---|---|---|---|---|---|",
    ]
    for columns, n in SIZES:
        generator = np.random.default_rng([columns, n])
        claims, raw, after, spans = [], [], [], []
        for _ in range(boards):
            rows, pairs = board(generator, np.full(MODELS, 0.5), columns, n)
            claims.append(any(row.tier > 1 for row in rows))
            spans.append(np.mean([row.rank_high - row.rank_low + 1 for row in rows]))
            raw.append(any((pair.difference.p_value or 1) < 0.05 for pair in pairs))
            after.append(any((pair.adjusted_p or 1) < 0.05 for pair in pairs))
        lines.append(
            f"| {columns} | {n} | {_share(claims)} | {np.mean(spans):.1f} of {MODELS} | "
            f"{_share(raw)} | {_share(after)} |"
        )
    return lines


def different_models(boards: int) -> list[str]:
    """How many pairs of models that differ are told apart, and how many the wrong way round."""
    lines = [
        "| each better than the next by | benchmarks | instances | pairs told apart "
        "| the wrong way round | tiers |",
        "|---|---|---|---|---|---|",
    ]
    for step in STEPS:
        shares = 0.5 + step * (np.arange(MODELS)[::-1] - MODELS // 2)
        for columns, n in ((5, 300), (17, 300), (35, 300)):
            generator = np.random.default_rng([int(1000 * step), columns])
            told, wrong, tiers = [], [], []
            for _ in range(boards // 8):
                held = [column(generator, answers(generator, shares, n)) for _ in range(columns)]
                rows = standings(held, np.ones(MODELS, bool))
                tiers.append(max(row.tier for row in rows))
                told.append(sum(row.rank_low - 1 for row in rows))
                wrong.append(sum(row.rank_low > place for place, row in enumerate(rows, 1)))
            pairs = MODELS * (MODELS - 1) / 2
            lines.append(
                f"| {100 * step:g} points | {columns} | {n} "
                f"| {100 * np.mean(told) / pairs:.0f} % | "
                f"{np.sum(wrong)} of {len(wrong)} boards | {np.mean(tiers):.1f} |"
            )
    return lines


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=400)
    args = parser.parse_args()
    lines = [
        "# What boards claim",
        "",
        f"Made by `make bench-intervals`: {MODELS} models, {args.boards} boards a row. At most 5 % "
        "of boards of equal models may have more than one tier.",
        "",
        "## Equal models",
        "",
        *equal_models(args.boards),
        "",
        "## Models that differ",
        "",
        *different_models(args.boards),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
