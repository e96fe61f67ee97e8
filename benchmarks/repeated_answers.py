"""Instances that are asked several times: how often the interval of the share contains the truth.

Each instance has its own probability of a right answer, by a beta distribution; its answers are
alike by a correlation. Beside the interval, which counts each instance as a cluster, are two that
do not: of all answers as if they were independent, and of as many answers as there are instances.

    python -m benchmarks.repeated_answers [--repeats 3000] > benchmarks/results/repeats.md
"""

import argparse
import sys

import numpy as np

from medhelm_spark.domain.stats import Interval
from medhelm_spark.statistics.clusters import ClusterTotals
from medhelm_spark.statistics.intervals import clustered, wilson

TIMES = 3
SHARES = (0.7, 0.95)
ALIKE = (0.0, 0.125, 0.3, 0.7)
"""The correlation of two answers to one instance."""
SIZES = (4, 10, 30, 100, 300)
METHODS = ("instances as clusters", "all answers independent", "one answer an instance")


def intervals_of(right: np.ndarray) -> list[Interval | None]:
    """The intervals by METHODS, from how often each instance was answered rightly."""
    n, total = len(right), float(right.sum())
    return [
        clustered(ClusterTotals(np.full(n, float(TIMES)), right, right), 0.0, 1.0),
        wilson(total, TIMES * n),
        wilson(total / TIMES, n),
    ]


def row(share: float, alike: float, n: int, repeats: int) -> str:
    """A row of the table: coverage and mean width by each method."""
    generator = np.random.default_rng(n)
    spread = 1 / alike - 1 if alike else 1e6
    shares = generator.beta(spread * share, spread * (1 - share), (repeats, n))
    drawn = generator.binomial(TIMES, shares).astype(float)
    hits = np.array(
        [
            [(each.low <= share <= each.high, each.high - each.low) for each in intervals if each]
            for intervals in map(intervals_of, drawn)
        ]
    )
    cells = (f"{100 * hit:.1f} % ({width:.3f})" for hit, width in hits.mean(axis=0))
    return f"| {100 * share:g} % | {alike:g} | {n} | {' | '.join(cells)} |"


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3_000)
    repeats = parser.parse_args().repeats
    lines = [
        "# Instances asked several times",
        "",
        f"Made by `make bench-intervals`: {repeats:,} samples a row, every instance asked {TIMES} "
        "times. The share of 95 % intervals that contain the true share of right answers, and "
        "their "
        "mean width; `stats` has the first. At four instances the counts come in few steps.",
        "",
        f"| right | correlation | instances | {' | '.join(METHODS)} |",
        "|---|---|---|---|---|---|",
        *(row(share, alike, n, repeats) for share in SHARES for alike in ALIKE for n in SIZES),
    ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
