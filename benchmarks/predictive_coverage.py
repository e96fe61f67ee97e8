"""Coverage of PPV, NPV and declared cost at a stated prevalence, by simulation.

A model finds a share of the positive cases and calls another share of the negative ones positive;
a missed case costs 10, a false alarm 1. The data has so many cases of each class, and the
prevalence is another one, of the place of use.

    python -m benchmarks.predictive_coverage [--repeats 4000] > benchmarks/results/predictive.md
"""

import argparse
import sys

import numpy as np

from medhelm_spark.statistics.two_by_two import (
    CASES,
    NEGATIVE,
    POSITIVE,
    AtPrevalence,
    ClassAnswers,
    Costs,
    Estimated,
    at_prevalence,
)

MISSED, ALARM = 10.0, 1.0
STUDIES = (
    (0.9, 0.1, 30, 70, 0.05),
    (0.95, 0.02, 20, 200, 0.01),
    (0.6, 0.3, 15, 85, 0.2),
    (0.8, 0.2, 100, 900, 0.1),
    (0.9, 0.1, 200, 200, 0.02),
    (0.99, 0.01, 50, 50, 0.1),
)
"""Share found, share called, positive and negative cases, prevalence."""


def study(found: int, called: int, positive: int, negative: int) -> ClassAnswers:
    """The answers of a model that found and called so many cases."""
    is_positive = np.repeat([True, False], [positive, negative])
    counts = [found, positive - found, called, negative - called]
    predictions = np.repeat([POSITIVE, NEGATIVE, POSITIVE, NEGATIVE], counts)
    costs = np.repeat([0.0, MISSED, ALARM, 0.0], counts)
    return ClassAnswers(
        is_positive=is_positive,
        predicted=predictions,
        costs=Costs(of_answers=costs, costliest=(MISSED, ALARM), always={}),
    )


def contains(interval: Estimated | None, truth: float) -> bool:
    """Whether the interval contains the true value; one that is not there contains everything."""
    if interval is None or interval.low is None or interval.high is None:
        return True
    return interval.low <= truth <= interval.high


def coverage(
    generator: np.random.Generator, repeats: int, case: tuple[float, float, int, int, float]
) -> tuple[float, ...]:
    """The shares of the intervals of PPV, NPV and cost that contain the true value."""
    right, wrong, positive, negative, prevalence = case
    rest = 1 - prevalence
    truths = {
        "ppv": prevalence * right / (prevalence * right + rest * wrong),
        "npv": rest * (1 - wrong) / (rest * (1 - wrong) + prevalence * (1 - right)),
        "cost": CASES * (prevalence * (1 - right) * MISSED + rest * wrong * ALARM),
    }
    hits = dict.fromkeys(truths, 0)
    for found, called in zip(
        generator.binomial(positive, right, repeats),
        generator.binomial(negative, wrong, repeats),
        strict=True,
    ):
        estimates: AtPrevalence | None = at_prevalence(
            study(int(found), int(called), positive, negative), prevalence
        )
        for name, truth in truths.items():
            hits[name] += contains(getattr(estimates, name), truth)
    return tuple(count / repeats for count in hits.values())


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=4000)
    repeats = parser.parse_args().repeats
    generator = np.random.default_rng(20260301)
    lines = [
        "# Intervals of PPV, NPV and cost at a stated prevalence",
        "",
        f"Made by `make bench-intervals`: {repeats} studies a row, share of the 95 % intervals "
        "that contain the true value. A missed case costs 10, a false alarm 1.",
        "",
        "| found | called | positive cases | negative cases | prevalence | PPV | NPV | cost |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case in STUDIES:
        shares = [f"{100 * share:.1f} %" for share in coverage(generator, repeats, case)]
        right, wrong, positive, negative, prevalence = case
        stated = [f"{right:.0%}", f"{wrong:.0%}", str(positive), str(negative), f"{prevalence:.0%}"]
        lines.append(f"| {' | '.join([*stated, *shares])} |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
