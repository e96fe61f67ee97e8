"""How often intervals of agreement contain the true one where answers belong to patients.

Three raters; the quality of answers, and what a rater thinks of a patient, are alike within one.

    python -m benchmarks.clustered_agreement > benchmarks/results/clustered_agreement.md
"""

import argparse
import sys

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.statistics.agreement import (
    MeasurementLevel,
    krippendorff,
    krippendorff_interval,
)
from medhelm_spark.statistics.clustered_agreement import Counted, clustered_interval
from medhelm_spark.statistics.intraclass import intraclass
from medhelm_spark.statistics.two_by_two import Estimated

PATIENTS, ANSWERS, RATERS = (8, 12, 20, 40), 5, 3
SHARED = (0.0, 0.5, 0.8)
"""How much of quality and of errors the answers of a patient share."""
QUALITY, ERROR = 0.98, 0.5
TRUTH = QUALITY / (QUALITY + ERROR)


def _sample(
    generator: np.random.Generator, patients: int, shared: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    n = patients * ANSWERS
    parts = []
    for variance, columns in ((QUALITY, 1), (ERROR, RATERS)):
        patient_effect = generator.normal(0, np.sqrt(shared * variance), (patients, columns))
        answer_effect = generator.normal(0, np.sqrt((1 - shared) * variance), (n, columns))
        parts.append(np.repeat(patient_effect, ANSWERS, axis=0) + answer_effect)
    return parts[0] + parts[1], np.repeat(np.arange(patients), ANSWERS)


def _icc(table: NDArray[np.float64]) -> float | None:
    agreement = intraclass(table).agreement
    return agreement.value if agreement else None


def _contains_truth(agreement: Estimated | None) -> bool:
    return (
        agreement is not None
        and agreement.low is not None
        and agreement.low <= TRUTH <= (agreement.high or 0)
    )


def _coverage(patients: int, shared: float, repeats: int) -> str:
    """Percent with the truth: ICC(A,1) by F, by clusters; alpha by bootstrap, by clusters."""
    generator = np.random.default_rng(patients)
    inside = np.zeros(4)
    interval = MeasurementLevel.INTERVAL
    for _ in range(repeats):
        table, labels = _sample(generator, patients, shared)
        coarse = np.round(table, 1)

        def icc_value(indices: Counted, table: NDArray[np.float64] = table) -> float | None:
            return _icc(table[indices])

        def alpha_value(indices: Counted, coarse: NDArray[np.float64] = coarse) -> float | None:
            return krippendorff(coarse[indices], interval)

        inside += [
            _contains_truth(intraclass(table).agreement),
            _contains_truth(clustered_interval(icc_value, labels)),
            _contains_truth(krippendorff_interval(coarse, interval)),
            _contains_truth(clustered_interval(alpha_value, labels)),
        ]
    return "{:.1f}, **{:.1f}**; {:.1f}, **{:.1f}**".format(*(100 * inside / repeats))


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=300)
    repeats = parser.parse_args().repeats
    lines = [
        "# Agreement on answers that belong to patients",
        "",
        f"Made by `python -m benchmarks.clustered_agreement`, {repeats:,} samples a cell. "
        f"{RATERS} raters of {ANSWERS} answers a patient, true coefficient {TRUTH:.3f}. Percent of "
        "95 % intervals that contain it: of ICC(A,1) by quantiles of F, **by the jackknife over "
        "patients**; of Krippendorff's alpha by a bootstrap over answers, **by the jackknife**. "
        "Shared: the part of the variance of quality, and of a rater's errors, that is the "
        "patient's.",
        "",
        f"| shared | {' | '.join(f'{n} patients' for n in PATIENTS)} |",
        f"|---|{'---|' * len(PATIENTS)}",
    ]
    for shared in SHARED:
        cells = [_coverage(patients, shared, repeats) for patients in PATIENTS]
        lines.append(f"| {shared} | {' | '.join(cells)} |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
