"""How often a failing judge makes one of two equal models a false winner, by simulation.

Two models are equally good and are judged by a strict and a mild judge. The strict judge fails on a
fifth of one model's answers. Counted is how often the interval of the paired difference leaves out
0, by each rule for incomplete juries: answers with a failed judge unscored, or scored by the mean
of the verdicts that are there.

    python -m benchmarks.incomplete_jury [--repeats 500] > benchmarks/results/incomplete_jury.md
"""

import argparse
from collections.abc import Mapping

import numpy as np

from medhelm_spark.domain.policy import IncompleteJury
from medhelm_spark.domain.request import (
    Completion,
    CriterionScore,
    FinishReason,
    RequestState,
    Verdict,
    VerdictStatus,
)
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.metrics import METRICS
from medhelm_spark.statistics.paired import PairedDifference, Values, paired_difference

RATING = MetricInfo(name="rating", display_name="Rating", minimum=1.0, maximum=5.0)
SIZES = (50, 100, 300)
FAILING = 0.2
ANSWER = (Completion(text="an answer", finish_reason=FinishReason.STOP),)
SHIFTS: Mapping[str, float] = {"strict": -1.0, "mild": 1.0}
"""How far a judge's ratings lie from the answer's quality."""


def _verdict(judge: str, score: float, *, fails: bool) -> Verdict:
    return Verdict(
        annotator="jury",
        judge=judge,
        status=VerdictStatus.REQUEST_FAILED if fails else VerdictStatus.OK,
        scores=() if fails else (CriterionScore(criterion="quality", score=score),),
    )


def model(
    quality: np.ndarray, failing: float, generator: np.random.Generator
) -> list[RequestState]:
    """The judged answers of a model to instances of this quality; the strict judge may fail."""
    noise = generator.normal(0, 0.6, size=(len(SHIFTS), len(quality)))
    fails = generator.random(len(quality)) < failing
    states = []
    for index, true_quality in enumerate(quality):
        ratings = {
            judge: float(np.clip(round(true_quality + shift + noise[row, index]), 1, 5))
            for row, (judge, shift) in enumerate(SHIFTS.items())
        }
        states.append(
            RequestState(
                run_spec_id="r",
                instance_id=str(index),
                perturbation="",
                train_trial_index=0,
                trial_index=0,
                split="test",
                completions=ANSWER,
                verdicts=tuple(
                    _verdict(judge, score, fails=judge == "strict" and bool(fails[index]))
                    for judge, score in ratings.items()
                ),
            )
        )
    return states


def scored(states: list[RequestState], rule: IncompleteJury) -> Values:
    """The jury score of every answer by this rule."""
    rows = METRICS["jury_score"].fn(states, {"incomplete_jury": rule.value})
    return np.array([row[0].value for row in rows], np.float64)  # None becomes NaN


def is_false_win(difference: PairedDifference) -> bool:
    """Whether two equal models differ by the interval."""
    low, high = difference.ci_low, difference.ci_high
    return low is not None and high is not None and not low <= 0 <= high


def false_wins(n: int, repeats: int, failing: float, seed: int) -> dict[IncompleteJury, float]:
    """The share of boards with a false winner, by rule, where n instances are judged."""
    generator = np.random.default_rng(seed)
    wins = dict.fromkeys(IncompleteJury, 0)
    for _ in range(repeats):
        quality = generator.normal(3, 0.8, size=n)
        first, second = model(quality, failing, generator), model(quality, 0.0, generator)
        for rule in IncompleteJury:
            difference = paired_difference(scored(first, rule), scored(second, rule), RATING)
            wins[rule] += is_false_win(difference)
    return {rule: count / repeats for rule, count in wins.items()}


def report(repeats: int) -> str:
    """The table as Markdown."""
    header = " | ".join(f"n = {n}" for n in SIZES)
    lines = [
        "# False wins with incomplete juries",
        "",
        f"Made by `make bench-intervals`: {repeats:,} boards a cell, two equal models, a strict "
        "and a mild judge 2 points apart. The share of boards whose difference leaves out 0.",
        "",
        f"| the strict judge fails on | incomplete_jury | {header} |",
        f"|---|---|{'---|' * len(SIZES)}",
    ]
    for failing, words in ((0.0, "no answer"), (FAILING, "20 % of one model's answers")):
        shares = [false_wins(n, repeats, failing, seed=n) for n in SIZES]
        for rule in (IncompleteJury.AVAILABLE, IncompleteJury.UNSCORED):
            cells = " | ".join(f"{100 * share_by_rule[rule]:.1f} %" for share_by_rule in shares)
            lines.append(f"| {words} | `{rule.value}` | {cells} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=500)
    print(report(parser.parse_args().repeats), end="")


if __name__ == "__main__":
    main()
