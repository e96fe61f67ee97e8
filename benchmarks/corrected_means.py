"""How often the interval of a corrected mean, difference or share contains the true one.

A judge is too kind by 0.6 of a scale from 1 to 5 and errs besides; people rated some of its 1,000
answers, which belong to patients or do not. Of two models it is too kind to the first alone. A
judge of two classes has a sensitivity and a specificity.

    python -m benchmarks.corrected_means [--repeats 2000] > benchmarks/results/corrected_means.md
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.corrected_share import CorrectedShare, corrected_share
from medhelm_spark.statistics.prediction_powered import (
    CorrectedMean,
    corrected_difference,
    corrected_mean,
)
from medhelm_spark.statistics.student import quantile

VALUES, SHARES = (1.0, 2.0, 3.0, 4.0, 5.0), (0.03, 0.07, 0.15, 0.4, 0.35)
TRUE_MEAN = float(np.dot(VALUES, SHARES))
ANSWERS, BIAS = 1000, 0.6
SIZES = (30, 40, 150, 300)
ERRORS = (0.3, 1.0, 3.0)
"""Standard deviations of what the judge errs by besides."""
PATIENT = 5
"""Answers of a patient, where they belong to patients."""
JUDGES = ((0.95, 0.9), (0.98, 0.6), (0.6, 0.6), (0.5, 0.5))
"""Sensitivity and specificity of judges of two classes; the last one ignores the truth."""
CLASS_SHARES = (0.1, 0.5, 0.8)

Values = NDArray[np.float64]
Labels = NDArray[np.int64]
Coverage = list[float]
"""Percent of intervals with the truth, their mean width, and that of the ratings alone."""


def _sample(generator: np.random.Generator, *, is_clustered: bool) -> tuple[Values, Labels]:
    """True values and the labels of their patients."""
    truth, labels = generator.choice(VALUES, ANSWERS, p=SHARES), np.arange(ANSWERS)
    if is_clustered:  # three of five answers are like the patient's first one
        labels //= PATIENT
        is_alike = generator.random(ANSWERS) < 0.6
        truth = np.where(is_alike, truth[labels * PATIENT], truth)
    return truth, labels


def _width_of_ratings(rated: Values) -> float:
    """The width of the interval of the ratings alone, by t."""
    return float(2 * quantile(len(rated) - 1) * rated.std(ddof=1) / np.sqrt(len(rated)))


def mean_coverage(rated: int, error: float, repeats: int, *, is_clustered: bool) -> Coverage:
    """Of corrected means."""
    generator = np.random.default_rng(rated)
    inside, width, ratings_width = 0, 0.0, 0.0
    for _ in range(repeats):
        truth, labels = _sample(generator, is_clustered=is_clustered)
        judge = np.clip(truth + BIAS + generator.normal(0, error, ANSWERS), 1, 5)
        corrected = corrected_mean(
            truth[:rated],
            judge[:rated],
            judge[rated:],
            (1, 5),
            clusters=(labels[:rated], labels[rated:]),
        )
        if corrected is None:
            return []
        inside += corrected.low <= TRUE_MEAN <= corrected.high
        width += corrected.high - corrected.low
        ratings_width += _width_of_ratings(truth[:rated])
    return [100 * inside / repeats, width / repeats, ratings_width / repeats]


def difference_coverage(rated: int, error: float, repeats: int, *, is_clustered: bool) -> Coverage:
    """Of corrected differences of two equal models; the judge is too kind to the first."""
    generator = np.random.default_rng(rated)
    inside, width, ratings_width = 0, 0.0, 0.0
    for _ in range(repeats):
        first, labels = _sample(generator, is_clustered=is_clustered)
        second, _ = _sample(generator, is_clustered=is_clustered)
        kind = np.clip(first + BIAS + generator.normal(0, error, ANSWERS), 1, 5)
        fair = np.clip(second + generator.normal(0, error, ANSWERS), 1, 5)
        corrected = corrected_difference(
            (first[:rated], second[:rated]),
            (kind[:rated], fair[:rated]),
            (kind[rated:], fair[rated:]),
            (1, 5),
            clusters=(labels[:rated], labels[rated:]),
        )
        if corrected is None:
            return []
        inside += corrected.low <= 0 <= corrected.high
        width += corrected.high - corrected.low
        ratings_width += _width_of_ratings(first[:rated] - second[:rated])
    return [100 * inside / repeats, width / repeats, ratings_width / repeats]


def share_coverage(
    rated: int, judge: tuple[float, float], share: float, repeats: int, *, is_difference: bool
) -> Coverage:
    """Of corrected shares of a class, or of their difference of two equal models."""
    generator = np.random.default_rng(rated)
    inside, width, ratings_width, count = 0, 0.0, 0.0, 0
    corrected: CorrectedMean | CorrectedShare | None
    for _ in range(repeats):
        models = []
        for model_number in range(1 + is_difference):
            truth = generator.random(ANSWERS) < share
            # Of two models the judge is perfect for the second.
            sensitivity, specificity = (1.0, 1.0) if model_number else judge
            chance = generator.random(ANSWERS)
            models.append((truth, np.where(truth, chance < sensitivity, chance > specificity)))
        truths = [truth[:rated].astype(float) for truth, _ in models]
        if is_difference:
            scores = [classes.astype(float) for _, classes in models]
            corrected = corrected_difference(
                (truths[0], truths[1]),
                (scores[0][:rated], scores[1][:rated]),
                (scores[0][rated:], scores[1][rated:]),
                (0, 1),
            )
            true_value, rating_values = 0.0, truths[0] - truths[1]
        else:
            (truth, classes) = models[0]
            corrected = corrected_share(truth[:rated], classes[:rated], classes[rated:])
            true_value, rating_values = share, truths[0]
        if corrected is None:  # ratings that are all equal
            continue
        count += 1
        inside += corrected.low <= true_value <= corrected.high
        width += corrected.high - corrected.low
        ratings_width += _width_of_ratings(rating_values)
    return [100 * inside / count, width / count, ratings_width / count] if count else []


def _line(name: str, counted: Callable[[int], Coverage]) -> str:
    coverages = map(counted, SIZES)
    cells = [
        "{:.1f}, {:.2f} ({:.2f})".format(*coverage) if coverage else "none"
        for coverage in coverages
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _head(name: str) -> Sequence[str]:
    return ("", f"| {name} | {' | '.join(f'{n} rated' for n in SIZES)} |", f"|---|{'---|' * 4}")


def _lines(repeats: int) -> Iterator[str]:
    yield from (
        "# Corrected means of a jury",
        "",
        f"Made by `python -m benchmarks.corrected_means`, {repeats:,} samples a cell. A judge of "
        f"{ANSWERS:,} answers on a scale from 1 to 5 is too kind by {BIAS} and errs by a standard "
        "deviation besides; so many of its answers were rated by people. Percent of the 95 % "
        "intervals that contain the true mean, and their mean width; in brackets the width of the "
        "interval of the ratings alone, which ignores patients. In the lower half answers belong "
        f"to patients with {PATIENT} each, who are as alike as three of five equal answers make "
        "them; 30 and 40 rated answers are of too few patients to correct a mean.",
    )
    kinds = [(error, is_clustered) for is_clustered in (False, True) for error in ERRORS]
    for title, simulation in (
        ("", mean_coverage),
        ("Differences of two models", difference_coverage),
    ):
        if title:
            yield from ("", f"## {title}", "")
            yield (
                f"Two equal models on the same {ANSWERS:,} instances; the judge is too kind by "
                f"{BIAS} to the first alone, so that its own difference is wrong by up to as much. "
                "So many instances have ratings of both answers."
            )
        yield from _head("the judge errs by")
        for error, is_clustered in kinds:
            name = f"{error}, {PATIENT} answers a patient" if is_clustered else f"{error}"
            yield _line(
                name,
                partial(simulation, error=error, repeats=repeats, is_clustered=is_clustered),
            )
    for is_difference in (False, True):
        yield from ("", f"## {'Differences of shares' if is_difference else 'Two classes'}", "")
        yield (
            "Two equal models whose answers are of one of two classes; the judge has this "
            "sensitivity and specificity for the first, and makes no error about the second."
            if is_difference
            else "Answers of one of two classes, and a judge with a sensitivity and a specificity. "
            "The width in brackets is that of Wald's interval, which covers less."
        )
        yield from _head("share, sensitivity, specificity")
        for share in CLASS_SHARES:
            for judge in JUDGES:
                yield _line(
                    f"{share}, {judge[0]}, {judge[1]}",
                    partial(
                        share_coverage,
                        judge=judge,
                        share=share,
                        repeats=repeats,
                        is_difference=is_difference,
                    ),
                )


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=2_000)
    sys.stdout.write("\n".join(_lines(parser.parse_args().repeats)) + "\n")


if __name__ == "__main__":
    main()
