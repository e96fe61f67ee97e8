"""Coverage of the intervals of F1, macro F1 and selective accuracy, by simulation.

A reader of letters finds 70 % of the urgent ones and calls 5 % of the others urgent. Confidence and
correctness of the calibration's part: c is uniform from 0.4 to 1, and an answer is right with
probability c. The true values follow from the probabilities, that of the surest tenth from 10^6
answers.

    python -m benchmarks.run_level_coverage [--repeats 1000] > benchmarks/results/run_level.md
"""

import argparse
import sys
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import Stat
from medhelm_spark.stages.summarize.run_summarizer import Observed, RunSummarizer

SHARES = (0.02, 0.05, 0.1, 0.25, 0.5)
SIZES = (100, 300, 1000)
FOUND, CALLED = 0.7, 0.05
LABELS = {"labels": "urgent|routine"}


def stats_of(name: str, args: Mapping[str, str], rows: NDArray[np.float64]) -> dict[str, Stat]:
    """The stats of a run-level metric on these rows, one an instance."""
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    observed = [
        Observed(
            run_spec_id="r",
            place=0,
            split="test",
            perturbation="",
            values=tuple(map(float, values)),
            rows=int(count),
        )
        for values, count in zip(distinct, counts, strict=True)
    ]
    metrics = {"r": (MetricSpec(name=name, args=dict(args)),)}
    return {stat.name: stat for stat in RunSummarizer(metrics)(observed)}


def true_f1s(share: float) -> dict[str, float]:
    """F1 of the urgent class and macro F1, where `share` of the letters are urgent."""
    tp, fp = share * FOUND, (1 - share) * CALLED
    fn, tn = share - tp, 1 - share - fp
    urgent, routine = 2 * tp / (2 * tp + fp + fn), 2 * tn / (2 * tn + fp + fn)
    return {
        "classification_f1[urgent]": urgent,
        "classification_macro_f1": (urgent + routine) / 2,
    }


def letters(generator: np.random.Generator, share: float, n: int) -> NDArray[np.float64]:
    """Right and called classes as bits, 1 for urgent and 2 for routine; shape (n, 2)."""
    is_urgent = generator.random(n) < share
    called = generator.random(n) < np.where(is_urgent, FOUND, CALLED)
    rows: NDArray[np.float64] = np.where(np.stack([is_urgent, called], 1), 1.0, 2.0)
    return rows


def answers(generator: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Confidence, to two digits, and correctness; shape (n, 2)."""
    confidence = np.round(generator.uniform(0.4, 1, n), 2)
    rows: NDArray[np.float64] = np.stack([confidence, generator.random(n) < confidence], 1) * 1.0
    return rows


def covered(
    true: Mapping[str, float], runs: list[dict[str, Stat]]
) -> dict[str, tuple[float, float]]:
    """Of each stat the share of its intervals that contain the true value, and their mean width."""
    coverage = {}
    for name, value in true.items():
        ends = [(stats[name].ci_low, stats[name].ci_high) for stats in runs]
        intervals = [(low, high) for low, high in ends if low is not None and high is not None]
        hits = [low <= value <= high for low, high in intervals]
        coverage[name] = (
            float(np.mean(hits)),
            float(np.mean([high - low for low, high in intervals])),
        )
    return coverage


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1000)
    repeats = parser.parse_args().repeats
    lines = [
        "# Intervals of stats of whole runs",
        "",
        f"Made by `make bench-intervals`: {repeats} runs a row, share of the 95 % intervals that "
        "contain the true value, and their mean width.",
        "",
        "| urgent letters | n | F1 of the class | macro F1 |",
        "|---|---|---|---|",
    ]
    for share in SHARES:
        for n in SIZES:
            generator = np.random.default_rng([int(1000 * share), n])
            runs = [
                stats_of("classification", LABELS, letters(generator, share, n))
                for _ in range(repeats)
            ]
            cells = [
                f"{100 * c:.1f} % ({w:.2f})" for c, w in covered(true_f1s(share), runs).values()
            ]
            lines.append(f"| {100 * share:g} % | {n} | {' | '.join(cells)} |")
    many = stats_of("calibration", {}, answers(np.random.default_rng(0), 1_000_000))
    names = ("selective_cov_acc_area", "selective_acc@10", "brier_score")
    true = {name: many[name].mean or 0.0 for name in names}
    lines += ["", "| n | selective accuracy | accuracy of the surest tenth | Brier score |"]
    lines += ["|---|---|---|---|"]
    for n in SIZES:
        generator = np.random.default_rng(n)
        runs = [stats_of("calibration", {}, answers(generator, n)) for _ in range(repeats // 4)]
        cells = [f"{100 * c:.1f} % ({w:.2f})" for c, w in covered(true, runs).values()]
        lines.append(f"| {n} | {' | '.join(cells)} |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
