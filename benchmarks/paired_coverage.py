"""How often intervals of paired differences and clustered means contain the truth, by simulation.

Counted beside it is how often a test at 5 % finds a difference where there is none.

    python -m benchmarks.paired_coverage [--repeats 4000] > benchmarks/results/paired.md
"""

import argparse
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.intervals import clustered
from medhelm_spark.statistics.paired import paired_difference

RATING = MetricInfo(name="rating", display_name="Rating", minimum=1.0, maximum=5.0)
SIZES = (20, 50, 100, 300, 1000)
GROUPS = (10, 20, 40, 100, 300)
PER_GROUP = 5
SHARES = ((0.1, 0.1), (0.02, 0.02), (0.2, 0.1), (0.3, 0.05), (0.06, 0.01))
"""Of pairs, those that only the first has right, and only the second."""
WITHIN = (0.0, 0.3, 0.8)
"""How alike the answers of a cluster are: the correlation of two of them."""
ROUNDING = 1e-12

Draw = Callable[[np.random.Generator, int], tuple[float | None, float | None, float | None]]
"""Ends of an interval, and a p-value, of a sample of so many pairs or clusters."""


def row(name: str, draw: Draw, truth: float, sizes: tuple[int, ...], repeats: int) -> str:
    """The shares of samples whose interval contains the truth; the false claims where it is 0."""
    cells = []
    for n in sizes:
        generator = np.random.default_rng(n)
        hits, claims = 0, 0
        for _ in range(repeats):
            low, high, p_value = draw(generator, n)
            hits += low is None or high is None or low - ROUNDING <= truth <= high + ROUNDING
            claims += p_value is not None and p_value < 0.05
        claim_cell = f", {100 * claims / repeats:.1f} %" if truth == 0 else ""
        cells.append(f"{100 * hits / repeats:.1f} %{claim_cell}")
    return f"| {name} | {' | '.join(cells)} |"


def shares_of(first: float, second: float) -> Draw:
    """0/1 values of two models that disagree on so many pairs."""

    def draw(
        generator: np.random.Generator, n: int
    ) -> tuple[float | None, float | None, float | None]:
        luck = generator.random(n)
        ours = (luck < first).astype(float)
        theirs = ((luck >= first) & (luck < first + second)).astype(float)
        difference = paired_difference(ours, theirs)
        return difference.ci_low, difference.ci_high, difference.p_value

    return draw


def ratings(
    generator: np.random.Generator, n: int
) -> tuple[float | None, float | None, float | None]:
    """Ratings from 1 to 5 of two equal models, most of them at the top."""
    quality = generator.choice([3.0, 4.0, 5.0], size=n, p=[0.1, 0.3, 0.6])
    ours, theirs = (
        np.clip(quality + generator.choice([-1, 0, 1], size=n, p=[0.2, 0.6, 0.2]), 1, 5)
        for _ in range(2)
    )
    difference = paired_difference(ours, theirs, RATING)
    return difference.ci_low, difference.ci_high, difference.p_value


def _alike(
    generator: np.random.Generator, groups: int, within: float, share: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Clusters of 1 to 9 answers, right or wrong; a cluster's own answer is kept at random."""
    labels = np.repeat(np.arange(groups), generator.integers(1, 2 * PER_GROUP, groups))
    own = (generator.random(groups) < share)[labels]
    keeps = generator.random(len(labels)) < np.sqrt(within)
    return labels, np.where(keeps, own, generator.random(len(labels)) < share).astype(float)


def clustered_mean(within: float, share: float) -> Draw:
    """The mean of clustered 0/1 answers."""

    def draw(
        generator: np.random.Generator, groups: int
    ) -> tuple[float | None, float | None, float | None]:
        interval = clustered(cluster_totals(*_alike(generator, groups, within, share)), 0.0, 1.0)
        return (interval.low, interval.high, None) if interval else (None, None, None)

    return draw


def clustered_difference(within: float) -> Draw:
    """The difference of two equal models on the same clustered instances."""

    def draw(
        generator: np.random.Generator, groups: int
    ) -> tuple[float | None, float | None, float | None]:
        labels, ours = _alike(generator, groups, within, 0.7)
        own = (generator.random(groups) < 0.7)[labels]
        keeps = generator.random(len(labels)) < np.sqrt(within)
        theirs = np.where(keeps, own, generator.random(len(labels)) < 0.7).astype(float)
        difference = paired_difference(ours, theirs, clusters=labels)
        return difference.ci_low, difference.ci_high, difference.p_value

    return draw


def _header(word: str, sizes: tuple[int, ...]) -> list[str]:
    return [
        f"| | {' | '.join(f'{word} = {size}' for size in sizes)} |",
        f"|---|{'---|' * len(sizes)}",
    ]


def report(repeats: int) -> str:
    """The tables as Markdown."""
    lines = [
        "# Paired differences and clusters",
        "",
        f"Made by `make bench-intervals`, {repeats:,} samples a cell: how often the 95 % interval "
        "contains the truth and, of equal models, how often the test finds a difference at 5 %. "
        "Counts come in steps: a test of few disagreeing pairs cannot reach 5 %.",
        "",
        "Values of 0 and 1 (McNemar's mid-p test, Bonett and Price's interval), by the pairs that "
        "only the first and only the second model has right:",
        "",
        *_header("n", SIZES),
        *(
            row(
                f"{100 * first:g} % and {100 * second:g} %",
                shares_of(first, second),
                first - second,
                SIZES,
                repeats,
            )
            for first, second in SHARES
        ),
        "",
        "Ratings from 1 to 5 (score test):",
        "",
        *_header("n", SIZES),
        row("most at the top", ratings, 0.0, SIZES, repeats),
        "",
        "Clustered means of 0/1 answers, 5 to a cluster on average:",
        "",
        *_header("clusters", GROUPS),
        *(
            row(
                f"{100 * share:g} % right, correlation {within:g}",
                clustered_mean(within, share),
                share,
                GROUPS,
                repeats,
            )
            for share in (0.5, 0.9)
            for within in WITHIN
        ),
        "",
        "Differences of two equal models on clustered instances:",
        "",
        *_header("clusters", GROUPS),
        *(
            row(f"correlation {within:g}", clustered_difference(within), 0.0, GROUPS, repeats)
            for within in WITHIN
        ),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=4000)
    sys.stdout.write(report(parser.parse_args().repeats))


if __name__ == "__main__":
    main()
