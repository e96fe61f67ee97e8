"""Two models with equal mean ratings: how often a paired test calls one of them better.

The score test of the mean difference, which boards use, beside the paired t test. Nominal are 2.5 %
for either model. With a shift the models differ, and what is counted is how often the better one
is found.

    python -m benchmarks.rating_tests [--repeats 3000] > benchmarks/results/ratings.md
"""

import argparse
import math
import sys
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.statistics.paired import paired_difference
from medhelm_spark.statistics.student import LEVEL, two_sided

RATING = MetricInfo(name="rating", display_name="Rating", minimum=1.0, maximum=5.0)
SCORE = MetricInfo(name="score", display_name="Score")
SIZES = (20, 50, 100, 200, 300)

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], tuple[Values, Values]]
"""Ratings of both models on so many instances."""


def _disasters(generator: np.random.Generator, n: int) -> tuple[Values, Values]:
    first = generator.choice([1.0, 4.0, 5.0], size=n, p=[0.02, 0.92, 0.06])
    return first, np.full(n, 4.0)


def _noisy_disasters(generator: np.random.Generator, n: int) -> tuple[Values, Values]:
    first = generator.choice([1.0, 3.0, 4.0, 5.0], size=n, p=[0.03, 0.15, 0.58, 0.24])
    return first, generator.choice([3.0, 4.0, 5.0], size=n, p=[0.03, 0.94, 0.03])


def _score_disasters(generator: np.random.Generator, n: int) -> tuple[Values, Values]:
    """0 in one of fifty answers, all others a little above the other model's."""
    first = generator.uniform(0.7, 0.9, n)
    first = np.where(generator.random(n) < 0.02, 0.0, first + 0.8 / 0.98 - 0.8)
    return first, generator.uniform(0.7, 0.9, n)


def _zero_inflated(generator: np.random.Generator, n: int) -> tuple[Values, Values]:
    second = np.full(n, 0.9)
    return second + generator.choice([0.0, 0.1, -0.9], size=n, p=[0.8, 0.18, 0.02]), second


def _skewed(generator: np.random.Generator, n: int) -> tuple[Values, Values]:
    return generator.beta(0.5, 4.5, n), generator.beta(5.0, 45.0, n)


def _likert(generator: np.random.Generator, n: int) -> tuple[Values, Values]:
    quality = generator.choice([2.0, 3.0, 4.0], size=n)
    steps = generator.choice([-1.0, 0.0, 1.0], size=(2, n), p=[0.2, 0.6, 0.2])
    return quality + steps[0], quality + steps[1]


def _likert_shifted(generator: np.random.Generator, n: int) -> tuple[Values, Values]:
    quality = generator.choice([2.0, 3.0, 4.0], size=n)
    ours = generator.choice([-1.0, 0.0, 1.0], size=n, p=[0.1, 0.6, 0.3])
    return quality + ours, quality + generator.choice([-1.0, 0.0, 1.0], size=n, p=[0.2, 0.6, 0.2])


def _score_shifted(generator: np.random.Generator, n: int) -> tuple[Values, Values]:
    common = generator.uniform(0.3, 0.6, n)
    return (
        common + 0.05 + generator.uniform(-0.15, 0.15, n),
        common + generator.uniform(-0.15, 0.15, n),
    )


EQUAL: Mapping[str, tuple[Draw, MetricInfo]] = {
    "1 to 5, a 1 in fifty answers, else 4 or 5, against always 4": (_disasters, RATING),
    "1 to 5, a 1 in thirty answers, else 3 to 5, against 3 to 5": (_noisy_disasters, RATING),
    "0 to 1, a 0 in fifty answers": (_score_disasters, SCORE),
    "0 to 1, four of five pairs equal, rare large losses": (_zero_inflated, SCORE),
    "0 to 1, one model far more skewed": (_skewed, SCORE),
    "1 to 5, both alike": (_likert, RATING),
}
SHIFTED: Mapping[str, tuple[Draw, MetricInfo]] = {
    "1 to 5, 0.2 points better": (_likert_shifted, RATING),
    "0 to 1, 0.05 better": (_score_shifted, SCORE),
}


def _by_t(differences: Values) -> float:
    """The p-value of the paired t test."""
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    if not error:
        return 1.0
    return two_sided(float(differences.mean()) / error, len(differences) - 1)


def counted(draw: Draw, scale: MetricInfo, n: int, repeats: int) -> NDArray[np.float64]:
    """Share of samples in which the first, and the second, is better: by score test, then by t."""
    generator = np.random.default_rng(n)
    shares = np.zeros((2, 2))
    for _ in range(repeats):
        first, second = draw(generator, n)
        side = int(np.sum(first - second) < 0)
        p_value = paired_difference(first, second, scale).p_value
        shares[0, side] += p_value is not None and p_value < LEVEL
        shares[1, side] += _by_t(first - second) < LEVEL
    return shares / repeats


def _sides(shares: NDArray[np.float64]) -> str:
    return " ".join(f"{100 * first:.1f} + {100 * second:.1f}," for first, second in shares)[:-1]


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3_000)
    repeats = parser.parse_args().repeats
    header = [f"| | {' | '.join(f'n = {n}' for n in SIZES)} |", f"|---|{'---|' * len(SIZES)}"]
    lines = [
        "# Paired tests of ratings",
        "",
        f"Made by `make bench-intervals`, {repeats:,} samples a cell. Equal means: percent of "
        "samples in which the first + the second model is called better at 5 %, by the score test "
        "that boards use, then by the paired t test. The first model is the one with disasters. "
        "The score test takes its degrees of freedom from the kurtosis of the differences, because "
        "samples with few of the rare large losses have a small spread.",
        "",
        *header,
    ]
    for name, (draw, scale) in EQUAL.items():
        cells = (_sides(counted(draw, scale, n, repeats)) for n in SIZES)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "Percent of samples in which the better model is found, by either:", "", *header]
    for name, (draw, scale) in SHIFTED.items():
        shares = (counted(draw, scale, n, repeats)[:, 0] for n in SIZES)
        cells = (f"{100 * score:.1f}, {100 * t:.1f}" for score, t in shares)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
