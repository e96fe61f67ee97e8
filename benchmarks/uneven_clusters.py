"""Clusters of uneven sizes: does the interval contain the mean, does the test have its level?

Answers of 0 and 1. Each cluster has its own probability of a right answer, drawn from a beta
distribution with mean 0.7 and standard deviation 0.19, and two equal models have each their own.

    python -m benchmarks.uneven_clusters [--repeats 20000] > benchmarks/results/uneven_clusters.md
"""

import argparse
import sys
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.clusters import ClusterTotals
from medhelm_spark.statistics.intervals import clustered
from medhelm_spark.statistics.student import LEVEL, two_sided

COUNTS = (5, 8, 10, 20, 40, 100)
MEAN = 0.7
SHAPE = (3.5, 1.5)
FAR_APART = (0.7, 0.3)
"""Clusters whose probabilities have a standard deviation of 0.32: most are near 0 or 1."""


@dataclass(frozen=True, slots=True)
class ClusterCoverage:
    """What was found: share of intervals with the true mean, their mean width, share of p < 5 %."""

    effective: float
    coverage: float
    width: float
    false_differences: float


def sizes_of(clusters: int) -> dict[str, NDArray[np.int64]]:
    """Sizes of so many clusters, by the name of their distribution."""
    positions = np.arange(clusters)
    root_sizes = 5 ** (positions / (clusters - 1))  # the largest is 25 times the smallest, squared
    pareto = 3 * (1 - (positions + 0.5) / clusters) ** (-1 / 1.1)
    return {
        "equal": np.full(clusters, 10),
        "geometric": np.rint(2 * root_sizes**2).astype(np.int64),
        "Pareto": np.minimum(200, pareto).astype(np.int64),
        "one of 100, others 5": np.array([100, *[5] * (clusters - 1)]),
        "one of 300, others 5": np.array([300, *[5] * (clusters - 1)]),
    }


def uneven_clusters(
    sizes: NDArray[np.int64], repeats: int, seed: int, shape: tuple[float, float] = SHAPE
) -> ClusterCoverage:
    """Simulate two equal models on clusters of these sizes and of such probabilities."""
    generator = np.random.default_rng(seed)
    shares = generator.beta(*shape, (2, repeats, len(sizes)))
    first, second = generator.binomial(sizes, shares).astype(float)
    counts = sizes.astype(float)
    df = ClusterTotals(counts, counts, counts).degrees_of_freedom
    covered, widths, num_differences = 0, 0.0, 0
    for ours, theirs in zip(first, second, strict=True):
        interval = clustered(ClusterTotals(counts, ours, ours), 0.0, 1.0)
        if interval:
            covered += interval.low <= MEAN <= interval.high
            widths += interval.high - interval.low
        # `paired_difference` tests its mean by t; the standard error needs no squares.
        difference = ClusterTotals(counts, ours - theirs, ours + theirs)
        if error := difference.standard_error():
            num_differences += two_sided(difference.mean / error, df) < LEVEL
    return ClusterCoverage(df + 1, covered / repeats, widths / repeats, num_differences / repeats)


def copied_answers_coverage(
    clusters: int, kind: str, share: float, repeats: int, seed: int
) -> float:
    """How many intervals contain the share; each answer copies its cluster's with probability 0.55.

    Two answers of a cluster correlate by 0.55^2 = 0.3.
    """
    generator = np.random.default_rng(seed)
    sizes = sizes_of(clusters)[kind]
    own = generator.random((repeats, clusters)) < share
    copies = generator.binomial(sizes, np.sqrt(0.3), (repeats, clusters))
    right = (np.where(own, copies, 0) + generator.binomial(sizes - copies, share)).astype(float)
    counts = sizes.astype(float)
    intervals = (clustered(ClusterTotals(counts, ours, ours), 0.0, 1.0) for ours in right)
    return sum(i is not None and i.low <= share <= i.high for i in intervals) / repeats


def _copied_table(repeats: int) -> list[str]:
    """A row for each number of clusters and distribution of sizes, a column for each share."""
    shares = (0.5, 0.8, 0.9, 0.97)
    lines = [
        f"| clusters | sizes | {' | '.join(f'{100 * share:.0f} % right' for share in shares)} |",
        f"|---|---|{'---|' * len(shares)}",
    ]
    for clusters in COUNTS[2:]:
        for kind in ("equal", "geometric", "Pareto"):
            coverages = (
                copied_answers_coverage(clusters, kind, share, repeats, clusters)
                for share in shares
            )
            cells = " | ".join(f"{100 * coverage:.1f} %" for coverage in coverages)
            lines.append(f"| {clusters} | {kind} | {cells} |")
    return lines


def _table(repeats: int, shape: tuple[float, float], names: Collection[str] = ()) -> list[str]:
    """A row for each number of clusters and distribution of sizes, of these names or all."""
    lines = [
        "| clusters | sizes | effective clusters | intervals with the mean | mean width "
        "| differences at p < 5 % |",
        "|---|---|---|---|---|---|",
    ]
    for clusters in COUNTS:
        for name, sizes in sizes_of(clusters).items():
            if names and name not in names:
                continue
            simulated = uneven_clusters(sizes, repeats, clusters, shape)
            lines.append(
                f"| {clusters} | {name} | {simulated.effective:.1f} | "
                f"{100 * simulated.coverage:.1f} % "
                f"| {simulated.width:.2f} | {100 * simulated.false_differences:.1f} % |"
            )
    return lines


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20_000)
    repeats = parser.parse_args().repeats
    lines = [
        "# Clusters of uneven sizes",
        "",
        f"Made by `make bench-intervals`: {repeats:,} boards of two equal models a row. Nominal: "
        "95 % of intervals contain the true mean, 5 % of tests find a difference. The probability "
        "of a right answer differs between clusters with a standard deviation of 0.19.",
        "",
        *_table(repeats, SHAPE),
        "",
        "The same where clusters are far apart, with a standard deviation of 0.32:",
        "",
        *_table(repeats, FAR_APART, ("geometric", "Pareto")),
        "",
        "Intervals with the mean where an answer copies its cluster's own with a probability "
        "of 0.55, so that two answers of a cluster correlate by 0.3:",
        "",
        *_copied_table(repeats // 4),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
