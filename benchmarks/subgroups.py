"""How often the interval of a gap contains the true gap, how often a model seems to fall behind.

By simulation: groups whose scores are shares of 0/1 answers, alone or in clusters, and boards of
equal models on patients whose groups mean nothing.

    python -m benchmarks.subgroups [--repeats 2000] [--boards 200] > benchmarks/results/subgroups.md
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import combinations, product

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medhelm_spark.board.measured import InstanceStat
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import SHARE, Summary
from medhelm_spark.stages.summarize.run_summarizer import Observed
from medhelm_spark.statistics.clusters import ClusterTotals
from medhelm_spark.statistics.paired import PairedDifference
from medhelm_spark.statistics.pairs import BoardPair
from medhelm_spark.statistics.summary import summarize
from medhelm_spark.subgroups.estimates import IntervalEstimate, estimate
from medhelm_spark.subgroups.group_stats import RunGroups
from medhelm_spark.subgroups.model_groups import ModelGroups, adjusted as adjusted_groups
from medhelm_spark.subgroups.of_whole_runs import CountedStat, rows_of_run
from medhelm_spark.subgroups.pairs import GroupDecision, adjusted, pairs_of
from medhelm_spark.subgroups.part_summarizer import MARK, PartSummarizer
from medhelm_spark.subgroups.range_interval import range_interval
from medhelm_spark.subgroups.tables import GroupStat

GROUPS = (2, 5, 10)
SIZES = ("12", "50", "200", "1000", "12 to 1000", "1000 to 12")
"""Patients of each group; of unequal ones the first group, which is worst, has the first number."""
PER_CLUSTER, WITHIN = 5, 0.3
"""Answers of a cluster on average, and the correlation of two of them."""
MODELS, COLUMNS, PATIENTS = 10, (2, 3, 5, 10), 400
LETTERS, ILL = 1200, 0.3
"""Of boards that score a sensitivity: letters, three of a patient, and the share of the ill."""
SCREENED = (MetricSpec(name="diagnostic_accuracy", args={"labels": "ill|well", "positive": "ill"}),)
PUBLIC_RUN = RunGroups(metrics=SCREENED, split="test", access_level=AccessLevel.PUBLIC, minimum=1)
AGREEING = 0.7
"""How often two equal models are right or wrong together beyond chance."""
ROUNDING = 1e-12

Shares = NDArray[np.float64]


def truths(groups: int) -> Iterator[tuple[str, Shares]]:
    """How groups differ, with each group's true share; the first one is the worst."""
    yield "none differs, 70 % right", np.full(groups, 0.7)
    one = np.full(groups, 0.8)
    one[0] = 0.6
    yield "one at 60 %, others at 80 %", one
    small = np.full(groups, 0.8)
    small[0] = 0.75
    yield "one at 75 %, others at 80 %", small
    if groups > 2:
        yield "evenly from 60 % to 80 %", np.linspace(0.6, 0.8, groups)
        half = np.full(groups, 0.8)
        half[: groups // 2] = 0.6
        yield "half at 60 %, half at 80 %", half


def sizes_of(name: str, groups: int) -> NDArray[np.int64]:
    """How many patients, or clusters, each group has."""
    first, _, last = name.partition(" to ")
    return np.round(np.geomspace(int(first), int(last or first), groups)).astype(np.int64)


def shares(
    generator: np.random.Generator, truth: Shares, sizes: NDArray[np.int64]
) -> list[Summary]:
    """Independent answers of each group, summarised as a board does."""
    right = generator.binomial(sizes, truth)
    return [
        summarize([(1.0, int(hits)), (0.0, int(n - hits))], 0, SHARE)
        for hits, n in zip(right, sizes, strict=True)
    ]


def in_clusters(
    generator: np.random.Generator, truth: Shares, sizes: NDArray[np.int64]
) -> list[Summary]:
    """Answers of so many clusters in each group; a cluster's answers are alike at random."""
    summaries = []
    for share, clusters in zip(truth, sizes, strict=True):
        counts = generator.integers(1, 2 * PER_CLUSTER, size=clusters)
        common = generator.random(clusters) < share
        own = generator.binomial(counts, share)
        num_copied = generator.binomial(counts, WITHIN**0.5)
        # The copied answers are the cluster's; the others are each one's own.
        own_hits = generator.binomial(counts - num_copied, share)
        right = np.where(num_copied > 0, num_copied * common + own_hits, own)
        right = right.astype(np.float64)  # 0/1 answers are their own squares
        totals = ClusterTotals(counts.astype(np.float64), right, right)
        hits, n = int(right.sum()), int(counts.sum())
        summaries.append(summarize([(1.0, hits), (0.0, n - hits)], 0, SHARE, totals))
    return summaries


def estimates_of(groups: list[Summary]) -> list[IntervalEstimate]:
    """The numbers of groups with their intervals, as a gap reads them."""
    estimates = (
        estimate(
            group.mean,
            group.ci_low,
            group.ci_high,
            group.ci_method,
            group.num_effective_clusters or group.count,
        )
        for group in groups
    )
    return [each for each in estimates if each]


def coverage_row(name: str, truth: Shares, repeats: int, *, is_clustered: bool) -> str:
    """The shares of samples whose interval contains the true gap, by the sizes of groups."""
    draw = in_clusters if is_clustered else shares
    gap, cells = float(truth.max() - truth.min()), []
    for size in SIZES:
        generator, hits = np.random.default_rng(len(truth)), 0
        for _ in range(repeats):
            groups = estimates_of(draw(generator, truth, sizes_of(size, len(truth))))
            low, high = range_interval(*groups)
            hits += low - ROUNDING <= gap <= min(1.0, high) + ROUNDING
        cells.append(f"{100 * hits / repeats:.1f} %")
    return f"| {len(truth)} | {name} | {' | '.join(cells)} |"


def coverage(repeats: int, *, is_clustered: bool) -> Iterator[str]:
    """The table of one kind of answers."""
    yield f"| Groups | Truth | {' | '.join(SIZES)} |"
    yield f"|---|---|{'---|' * len(SIZES)}"
    for groups in GROUPS:
        for name, truth in truths(groups):
            yield coverage_row(name, truth, repeats, is_clustered=is_clustered)


def board(
    generator: np.random.Generator, *, worse_by: float = 0.0, few: int = 0
) -> tuple[InstanceStat, Mapping[str, Mapping[str, str]]]:
    """Equal models, and groups that mean nothing.

    The first model is worse by `worse_by` for the `few` patients of a group of one column.
    """
    hard = generator.random(PATIENTS)
    names = [f"p{index}" for index in range(PATIENTS)]
    groups = {
        f"column {count}": dict(zip(names, _drawn(generator, count), strict=True))
        for count in COLUMNS
    }
    shares = np.full((MODELS, PATIENTS), 0.7)
    if few:
        ill = set(generator.choice(names, few, replace=False).tolist())
        groups["column 2"] = {name: "ill" if name in ill else "well" for name in names}
        shares[0, [name in ill for name in names]] -= worse_by
    own = generator.random((MODELS, PATIENTS))
    luck = np.where(generator.random((MODELS, PATIENTS)) < AGREEING, hard, own)
    values = (luck < shares).astype(np.float64)
    patients = pa.array(names)
    return InstanceStat(values, None, SHARE, patients.dictionary_encode(), patients), groups


def _drawn(generator: np.random.Generator, groups: int) -> list[str]:
    """The group of each patient, by chance."""
    return list(map(str, generator.integers(groups, size=PATIENTS)))


def all_pairs() -> tuple[list[BoardPair], list[str]]:
    """Every model against every other one."""
    units = [f"m{index}" for index in range(MODELS)]
    pairs = [
        BoardPair(
            scenario_name="s",
            display_name="S",
            main_metric="exact_match",
            first=first,
            second=second,
            difference=PairedDifference(n=0, num_dropped=0),
            lower_is_better=False,
            run_spec_ids=(first, second),
        )
        for first, second in combinations(units, 2)
    ]
    return pairs, units


def boards(repeats: int) -> Iterator[str]:
    """How many boards have a false claim, and how often a planted group is found."""
    pairs, units = all_pairs()
    num_claims = 0
    for seed in range(repeats):
        runs, groups = board(np.random.default_rng(seed))
        adjusted_pairs = adjusted(list(pairs_of(runs, pairs, units, groups, 11)))
        num_claims += any(
            pair.decision in (GroupDecision.SMALLER, GroupDecision.LARGER)
            for pair in adjusted_pairs
        )
    yield (
        f"Of {repeats} boards of {MODELS} equal models on {PATIENTS} patients with {len(COLUMNS)} "
        f"columns of {', '.join(map(str, COLUMNS))} groups, {100 * num_claims / repeats:.1f} % "
        "have any false claim among all pairs, columns and groups: a model that seems to fall "
        "behind or to catch up."
    )
    for worse_by in (0.2, 0.4):
        hits = 0
        for seed in range(repeats):
            runs, groups = board(np.random.default_rng(seed), worse_by=worse_by, few=60)
            one = {"column 2": groups["column 2"]}
            adjusted_pairs = adjusted(list(pairs_of(runs, pairs[:1], units, one, 11)))
            hits += any(
                pair.group_value == "ill" and pair.decision is GroupDecision.SMALLER
                for pair in adjusted_pairs
            )
        yield (
            f"One of two models that is worse by {100 * worse_by:.0f} points for 60 of {PATIENTS} "
            f"patients falls behind there on {100 * hits / repeats:.1f} % of boards."
        )


def sensitivities(repeats: int) -> Iterator[str]:
    """How many boards of equal models name a group by its sensitivity, and find a planted one."""
    num_named = sum(
        any(pair.worse for pair in grouped_board(np.random.default_rng(seed)))
        for seed in range(repeats)
    )
    yield (
        f"Of {repeats} boards of {MODELS} equal models with a sensitivity of 80 % on {LETTERS:,} "
        f"letters of {LETTERS // 3} patients, {100 * ILL:.0f} % of them with the condition, by "
        f"{len(COLUMNS)} columns of {', '.join(map(str, COLUMNS))} groups, "
        f"{100 * num_named / repeats:.1f} % name any group as worse than all others."
    )
    for worse_by in (0.2, 0.4):
        num_found = 0
        for seed in range(repeats):
            board = grouped_board(np.random.default_rng(seed), worse_by=worse_by)
            num_found += any(
                model_groups.run_spec_id == "m0"
                and model_groups.group_column == "column 5"
                and stat.group_value == "0"
                for model_groups in board
                for stat in model_groups.worse
            )
        yield (
            f"A group of a fifth of the patients for whom one of these models finds "
            f"{100 * worse_by:.0f} points fewer is named on {100 * num_found / repeats:.1f} % of "
            "boards."
        )


def grouped_board(generator: np.random.Generator, *, worse_by: float = 0.0) -> list[ModelGroups]:
    """The groups of equal models, by the code that summarises runs by group.

    The first model finds fewer of the ill in the first group of the column of five.
    """
    patients = generator.integers(LETTERS // 3, size=LETTERS)
    groups = {
        f"column {count}": generator.integers(count, size=LETTERS // 3)[patients]
        for count in COLUMNS
    }
    is_ill = generator.random(LETTERS) < ILL
    model_groups: list[ModelGroups] = []
    for model in range(MODELS):
        share = np.full(LETTERS, 0.8)
        if model == 0:
            share[groups["column 5"] == 0] -= worse_by
        predicted = np.where(generator.random(LETTERS) < share, is_ill, ~is_ill)
        name = f"m{model}"
        observed = [
            row
            for column, values in groups.items()
            for value in np.unique(values)
            for row in _observed(
                name, f"{column}{MARK}{value}", values == value, is_ill, predicted, patients
            )
        ]
        stats = PartSummarizer({name: SCREENED})(observed)
        counted_stats = (
            CountedStat(
                **{each.name: getattr(stat, each.name) for each in fields(stat)}, patients=99
            )
            for stat in stats
            if stat.name == "sensitivity"
        )
        model_groups += _as_groups(name, list(rows_of_run(list(counted_stats), PUBLIC_RUN)))
    return adjusted_groups(model_groups)


def _observed(
    name: str,
    split: str,
    mask: NDArray[np.bool_],
    is_ill: NDArray[np.bool_],
    predicted: NDArray[np.bool_],
    patients: NDArray[np.int64],
) -> Iterator[Observed]:
    """The letters of one group, by right and given class: 1 is ill."""
    for right, answer in product((True, False), repeat=2):
        units = patients[mask & (is_ill == right) & (predicted == answer)]
        if len(units):
            yield Observed(
                run_spec_id=name,
                place=0,
                split=split,
                perturbation="",
                values=(2.0 - right, 2.0 - answer),
                rows=len(units),
                is_clustered=True,
                units=tuple(units.tolist()),
            )


def _as_groups(name: str, rows: Sequence[GroupStat]) -> Iterator[ModelGroups]:
    """The rows of one model, by column."""
    for column in dict.fromkeys(row.group_column for row in rows):
        yield ModelGroups(
            run_spec_id=name,
            scenario_name="s",
            display_name="S",
            model_deployment=name,
            metric="sensitivity",
            lower_is_better=False,
            group_column=column,
            stats=tuple(row for row in rows if row.group_column == column),
            gap=None,
            overall=None,
        )


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2000, help="samples a cell")
    parser.add_argument("--boards", type=int, default=200, help="boards")
    args = parser.parse_args()
    parts = [
        "# Groups of patients\n",
        f"Made by `make bench-intervals`, {args.repeats:,} samples a cell: how often the 95 % "
        "interval of a gap, the best group's score less the worst group's, contains the true gap. "
        "Columns are patients by group; of unequal ones the worst group has the first number.\n",
        "Answers of 0 and 1:\n",
        *coverage(args.repeats, is_clustered=False),
        f"\nClusters of 1 to {2 * PER_CLUSTER - 1} such answers, two of one correlated by "
        f"{WITHIN}; columns are clusters by group:\n",
        *coverage(max(1, args.repeats // 4), is_clustered=True),
        "\n## Differences of differences\n",
        *(f"{line}\n" for line in boards(args.boards)),
        "## A group against its rest\n",
        *(f"{line}\n" for line in sensitivities(args.boards)),
    ]
    sys.stdout.write("\n".join(parts))


if __name__ == "__main__":
    main()
