"""Clusters of uneven sizes: does the interval hold the mean, does the test hold its level?

Answers of 0 and 1. Each cluster has its own probability of a right answer, drawn from a beta
distribution with mean 0.7 and standard deviation 0.19, and two equal models have each their own.

    python -m benchmarks.uneven_clusters [--repeats 1000] > benchmarks/results/uneven_clusters.md
"""

import argparse
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.intervals import clustered
from medhelm_spark.statistics.paired import paired_difference

COUNTS = (5, 8, 10, 20, 40, 100)
SHAPE = (3.5, 1.5)
MEAN = 0.7


@dataclass(frozen=True, slots=True)
class Held:
    """What held: share of intervals with the true mean, their mean width, share of p < 5 %."""

    effective: float
    coverage: float
    width: float
    false_differences: float


def sizes_of(clusters: int) -> dict[str, NDArray[np.int64]]:
    """Sizes of so many clusters, by the name of their distribution."""
    places = np.arange(clusters)
    ends = 5 ** (places / (clusters - 1))  # the largest is 25 times the smallest, squared
    pareto = 3 * (1 - (places + 0.5) / clusters) ** (-1 / 1.1)
    return {
        "equal": np.full(clusters, 10),
        "geometric": np.rint(2 * ends**2).astype(np.int64),
        "Pareto": np.minimum(200, pareto).astype(np.int64),
        "one of 100, others 5": np.array([100, *[5] * (clusters - 1)]),
        "one of 300, others 5": np.array([300, *[5] * (clusters - 1)]),
    }


def uneven_clusters(sizes: NDArray[np.int64], repeats: int, seed: int) -> Held:
    """Simulate two equal models on clusters of these sizes."""
    generator = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    covered, widths, found = 0, 0.0, 0
    for _ in range(repeats):
        first, second = (
            (generator.random(len(labels)) < generator.beta(*SHAPE, len(sizes))[labels]) * 1.0
            for _ in range(2)
        )
        interval = clustered(cluster_totals(labels, first), 0.0, 1.0)
        if interval:
            covered += interval.low <= MEAN <= interval.high
            widths += interval.high - interval.low
        p_value = paired_difference(first, second, clusters=labels).p_value
        found += p_value is not None and p_value < 0.05
    effective = cluster_totals(labels, np.zeros(len(labels))).effective
    return Held(effective, covered / repeats, widths / repeats, found / repeats)


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    repeats = parser.parse_args().repeats
    lines = [
        "# Clusters of uneven sizes",
        "",
        f"Made by `make bench-intervals`: {repeats} boards of two equal models a row. Nominal: 95 "
        "% of intervals hold the true mean, 5 % of tests find a difference.",
        "",
        "| clusters | sizes | effective clusters | intervals with the mean | mean width "
        "| differences at p < 5 % |",
        "|---|---|---|---|---|---|",
    ]
    for clusters in COUNTS:
        for name, sizes in sizes_of(clusters).items():
            held = uneven_clusters(sizes, repeats, seed=clusters)
            lines.append(
                f"| {clusters} | {name} | {held.effective:.1f} | {100 * held.coverage:.1f} % | "
                f"{held.width:.2f} | {100 * held.false_differences:.1f} % |"
            )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
