"""What a board claims of a model that leaves out answers, by simulation.

Nine equal models answer the same instances, some hard and some easy for all of them; one of them
leaves out the 5 % of answers that would have been wrong, or 5 % at random. Counted are the boards
that rank it alone at the top, and those with more than one tier, by the means of common instances
and by each model's own mean.

    python -m benchmarks.missing_answers [--boards 400] > benchmarks/results/missing_answers.md
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from benchmarks.rank_claims import MODELS, answers
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.stats import SHARE
from medhelm_spark.statistics.board import Leaderboard, build_board
from medhelm_spark.statistics.bootstrap import mean_draws
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.common import NOTHING_MISSING, CommonMeans, OnCommon, common_means

SIZES = (100, 300)
BENCHMARKS = (1, 5)
LEFT_OUT = 0.05
KINDS = ("would be wrong", "at random", "at random, all models")
CELL = BoardCell(
    model="",
    model_deployment="",
    locality="local",
    scenario_name="",
    display_name="",
    category="",
    subcategory="",
    access_level=AccessLevel.PUBLIC,
    main_metric="exact_match",
    lower_is_better=False,
    split="test",
    count=0,
    num_unscored=0,
    mean=None,
    ci_low=None,
    ci_high=None,
    minimum=0.0,
    maximum=1.0,
)
Values = NDArray[np.float64]
_Key = tuple[tuple[str, ...], tuple[str, ...]]


def leave_out(generator: np.random.Generator, right: Values, kind: str) -> Values:
    """NaN in place of the answers that are left out; model 0 leaves out, or all do."""
    remaining = right.copy()
    number = round(LEFT_OUT * right.shape[1])
    for model in range(len(right) if kind == KINDS[2] else 1):
        candidates = np.flatnonzero(right[model] == 0) if kind == KINDS[0] else right.shape[1]
        remaining[model, generator.choice(candidates, number, replace=False)] = np.nan
    return remaining


def boards_of(
    generator: np.random.Generator, benchmarks: int, n: int, kind: str
) -> tuple[Leaderboard, Leaderboard]:
    """One draw, compared on common instances and by each model's own mean."""
    cells: list[BoardCell] = []
    common: dict[_Key, CommonMeans] = {}
    for number in range(benchmarks):
        right = answers(generator, np.full(MODELS, generator.uniform(0.3, 0.8)), n)
        values = leave_out(generator, right, kind)
        units = generator.integers(0, 2**63, n).astype(np.uint64)
        cells += [_cell(str(number), str(model), row, units) for model, row in enumerate(values)]
        common |= _common(str(number), values, units)
    return (
        build_board(cells, common=common, coverage_floor=0.9),
        build_board(cells, common=NOTHING_MISSING, coverage_floor=0.9),
    )


def _cell(name: str, model: str, values: Values, units: NDArray[np.uint64]) -> BoardCell:
    is_present = ~np.isnan(values)
    draws = mean_draws(units[is_present], np.ones(int(is_present.sum())), values[is_present])
    return replace(
        CELL,
        model=model,
        model_deployment=model,
        scenario_name=name,
        display_name=name,
        count=int(is_present.sum()),
        num_unscored=int((~is_present).sum()),
        mean=float(values[is_present].mean()),
        draws=None if draws is None else tuple(draws.tolist()),
        run_spec_ids=(f"{model} on {name}",),
    )


def _common(name: str, values: Values, units: NDArray[np.uint64]) -> dict[_Key, CommonMeans]:
    pairs = list(combinations(range(len(values)), 2))
    common_values = [_on_common(values[list(pair)]) for pair in pairs]
    pair_means = common_means(common_values, units, SHARE)
    keys = [((f"{first} on {name}",), (f"{second} on {name}",)) for first, second in pairs]
    means_by_pair: dict[_Key, CommonMeans] = {}
    for (first, second), means in zip(keys, pair_means, strict=True):
        means_by_pair[first, second], means_by_pair[second, first] = means, means.turned
    return means_by_pair


def _on_common(values: Values) -> OnCommon:
    is_common = np.asarray(~np.isnan(values).any(axis=0))
    return OnCommon(is_common, values[:, is_common].mean(axis=1), values[:, is_common])


def _is_first(leaderboard: Leaderboard) -> bool:
    """Whether model 0 has rank 1 for itself."""
    return [row.model for row in leaderboard.rows if row.rank == 1] == ["0"]


def _has_tiers(leaderboard: Leaderboard) -> bool:
    return any(row.standing and row.standing.tier > 1 for row in leaderboard.rows)


def table(boards: int) -> Iterator[str]:
    """A row for each kind, number of benchmarks and size."""
    yield (
        "| left out | benchmarks | instances | alone at the top | boards with tiers "
        "| alone at the top, own means | boards with tiers, own means |"
    )
    yield "|---|---|---|---|---|---|---|"
    for kind, benchmarks, n in product(KINDS, BENCHMARKS, SIZES):
        generator = np.random.default_rng([benchmarks, n, KINDS.index(kind)])
        draws = [boards_of(generator, benchmarks, n, kind) for _ in range(boards)]
        shares = [
            np.mean([is_so(each) for each in leaderboards])
            for leaderboards in zip(*draws, strict=True)
            for is_so in (_is_first, _has_tiers)
        ]
        cells = " | ".join(f"{100 * share:.1f} %" for share in shares)
        yield f"| {kind} | {benchmarks} | {n} | {cells} |"


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=400)
    args = parser.parse_args()
    lines = [
        "# Boards with missing answers",
        "",
        f"Made by `make bench-intervals`: {MODELS} equal models, {args.boards} boards a row. Model "
        f"0 leaves out {100 * LEFT_OUT:g} % of its answers, or all models do. Equal models are "
        f"alone at the top in {100 / MODELS:.0f} % of boards without ties, and at most 5 % of "
        "boards may have more than one tier.",
        "",
        "Pairs on the instances that both models have take about half of the lead away that a "
        "model gains by leaving out what it would get wrong. They cannot take all: who chooses "
        "its questions keeps an advantage on those that are left. The board prints the missing "
        "share beside the mean, and below the coverage floor a mean counts in no rank.",
        "",
        *table(args.boards),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
