"""How often the intervals of bounded means contain the true mean, by simulation.

Answers on a scale from 1 to 5 are drawn from distributions whose mean is known; counted is the
share of samples whose interval contains it. The percentile bootstrap, which was used before, is
beside it on the same samples. Paired differences: `benchmarks.paired_coverage`.

    python -m benchmarks.interval_coverage [--repeats 10000] > benchmarks/results/intervals.md
"""

import argparse
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from medhelm_spark.statistics.intervals import mean_interval

LOW, HIGH = 1.0, 5.0
SIZES = (10, 20, 50, 100, 300)
DISTRIBUTIONS: Mapping[str, Mapping[float, float]] = {
    "90 % at the top": {1: 0.025, 2: 0.025, 3: 0.025, 4: 0.025, 5: 0.9},
    "skewed": {1: 0.02, 2: 0.05, 3: 0.13, 4: 0.3, 5: 0.5},
    "bimodal": {1: 0.4, 2: 0.1, 4: 0.1, 5: 0.4},
    "uniform": {1: 0.2, 2: 0.2, 3: 0.2, 4: 0.2, 5: 0.2},
}
FURTHER: Mapping[str, Mapping[float, float]] = {
    "90 % at the top, else the bottom": {1: 0.1, 5: 0.9},
    "90 % at the top, else next to it": {4: 0.1, 5: 0.9},
    "90 % at the top, 5 % next, 5 % bottom": {1: 0.05, 4: 0.05, 5: 0.9},
}
ROUNDING = 1e-9

Counts = Sequence[tuple[float, int]]
Limits = Callable[[Counts], tuple[float, float]]
Coverage = tuple[float, float, float]
"""The share of samples that contain the mean, the mean width and the least width of an interval."""


def covered(
    weights: Mapping[float, float],
    n: int,
    repeats: int,
    seed: int,
    scale: tuple[float, float] = (LOW, HIGH),
    limits: Limits | None = None,
) -> Coverage:
    """Draws `repeats` samples of n values and looks how often their interval contains the mean."""
    values, shares = list(weights), np.array(list(weights.values()))
    mean = float(np.dot(values, shares))
    hits, widths = 0, []
    for counts in np.random.default_rng(seed).multinomial(n, shares, size=repeats).tolist():
        present = [pair for pair in zip(values, counts, strict=True) if pair[1]]
        low, high = (limits or _of_scale(*scale))(present)
        hits += low - ROUNDING <= mean <= high + ROUNDING
        widths.append(high - low)
    return hits / repeats, float(np.mean(widths)), min(widths)


def _of_scale(low: float, high: float) -> Limits:
    def limits(counts: Counts) -> tuple[float, float]:
        interval = mean_interval(counts, low, high)
        if interval is None:
            raise ValueError("a bounded mean has no interval")
        return interval.low, interval.high

    return limits


def percentile_bootstrap(counts: Counts) -> tuple[float, float]:
    """The interval that was used before: percentiles of 1,000 resampled means."""
    values, times = (np.array(column, dtype=float) for column in zip(*counts, strict=True))
    n = int(times.sum())
    means = np.random.default_rng(0).multinomial(n, times / n, size=1000) @ values / n
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def _row(name: str, cells: Sequence[Coverage]) -> str:
    texts = (f"{100 * share:.1f} % ({width:.2f})" for share, width, _ in cells)
    least = min(least for _, _, least in cells)
    return f"| {name} | {' | '.join(texts)} | {least:.3f} |"


def _table(
    distributions: Mapping[str, Mapping[float, float]],
    repeats: int,
    scale: tuple[float, float] = (LOW, HIGH),
    limits: Limits | None = None,
) -> list[str]:
    sizes = " | ".join(f"n = {n}" for n in SIZES)
    return [
        f"| | {sizes} | least width |",
        f"|---|{'---|' * len(SIZES)}---|",
        *(
            _row(name, [covered(weights, n, repeats, n, scale, limits) for n in SIZES])
            for name, weights in distributions.items()
        ),
        "",
    ]


def report(repeats: int) -> str:
    """The tables as Markdown."""
    bootstrap_repeats = min(repeats, 2000)
    lines = [
        "# Coverage of 95 % intervals",
        "",
        f"Made by `make bench-intervals`. Each cell: the share of {repeats:,} samples whose "
        "interval contains the true mean, and the mean width of the intervals. Values go "
        "from 1 to 5.",
        "",
        "`bounded_score`, as in `stats`:",
        "",
        *_table(DISTRIBUTIONS, repeats),
        "Harder ones. A sum of few rare values can only be covered in steps, and an answer that "
        "might fall far below the others cannot be distinguished from one that cannot "
        "by 100 answers:",
        "",
        *_table(FURTHER, repeats),
        f"The percentile bootstrap, which was used before ({bootstrap_repeats:,} samples):",
        "",
        *_table(DISTRIBUTIONS, bootstrap_repeats, limits=percentile_bootstrap),
    ]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=10_000)
    print(report(parser.parse_args().repeats), end="")


if __name__ == "__main__":
    main()
