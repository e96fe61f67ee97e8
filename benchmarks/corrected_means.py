"""How often the interval of a corrected mean contains the true mean.

A judge is too kind by 0.6 of a scale from 1 to 5 and errs besides; people rated some of its 1,000
answers, which belong to patients or stand alone.

    python -m benchmarks.corrected_means [--repeats 2000] > benchmarks/results/corrected_means.md
"""

import argparse
import sys

import numpy as np

from medhelm_spark.statistics.prediction_powered import corrected_mean
from medhelm_spark.statistics.student import quantile

VALUES, SHARES = (1.0, 2.0, 3.0, 4.0, 5.0), (0.03, 0.07, 0.15, 0.4, 0.35)
TRUE_MEAN = float(np.dot(VALUES, SHARES))
ANSWERS, BIAS = 1000, 0.6
SIZES = (30, 40, 150, 300)
ERRORS = (0.3, 1.0, 3.0)
"""Standard deviations of what the judge errs by besides."""
PATIENT = 5
"""Answers of a patient, where they belong to patients."""


def counted(rated: int, error: float, repeats: int, *, is_clustered: bool) -> list[float]:
    """Percent of intervals with the true mean, their mean width, and that of ratings alone."""
    generator = np.random.default_rng(rated)
    inside, width, alone = 0, 0.0, 0.0
    for _ in range(repeats):
        truth = generator.choice(VALUES, ANSWERS, p=SHARES)
        labels = np.arange(ANSWERS)
        if is_clustered:  # three of five answers are like the patient's first one
            labels //= PATIENT
            is_alike = generator.random(ANSWERS) < 0.6
            truth = np.where(is_alike, truth[labels * PATIENT], truth)
        judge = np.clip(truth + BIAS + generator.normal(0, error, ANSWERS), 1, 5)
        held = corrected_mean(
            truth[:rated],
            judge[:rated],
            judge[rated:],
            (1, 5),
            clusters=(labels[:rated], labels[rated:]),
        )
        if held is None:
            return []
        inside += held.low <= TRUE_MEAN <= held.high
        width += held.high - held.low
        error_of_ratings = truth[:rated].std(ddof=1) / np.sqrt(rated)
        alone += 2 * quantile(rated - 1) * error_of_ratings
    return [100 * inside / repeats, width / repeats, alone / repeats]


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2_000)
    repeats = parser.parse_args().repeats
    lines = [
        "# Corrected means of a jury",
        "",
        f"Made by `python -m benchmarks.corrected_means`, {repeats:,} samples a cell. A judge of "
        f"{ANSWERS:,} answers on a scale from 1 to 5 is too kind by {BIAS} and errs by a standard "
        "deviation besides; so many of its answers were rated by people. Percent of the 95 % "
        "intervals that contain the true mean, and their mean width; in brackets the width of the "
        "interval of the ratings alone, which ignores patients. In the lower half answers belong "
        f"to patients with {PATIENT} each, who are as alike as three of five equal answers make "
        "them; 30 and 40 rated answers are of too few patients to correct a mean.",
        "",
        f"| the judge errs by | {' | '.join(f'{n} rated' for n in SIZES)} |",
        f"|---|{'---|' * len(SIZES)}",
    ]
    for is_clustered in (False, True):
        for error in ERRORS:
            cells = []
            for size in SIZES:
                found = counted(size, error, repeats, is_clustered=is_clustered)
                cells.append("{:.1f}, {:.2f} ({:.2f})".format(*found) if found else "none")
            name = f"{error}, {PATIENT} answers a patient" if is_clustered else f"{error}"
            lines.append(f"| {name} | {' | '.join(cells)} |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
