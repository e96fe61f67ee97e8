"""How the automatic metrics agree with clinicians, on data whose ratings are public.

Nothing of the data is stored: the report has correlations alone.

    python -m benchmarks.meta_evaluation FOLDER > benchmarks/results/meta_evaluation.md

FOLDER has `mts_dialog` (MTS-Dialog, CC BY 4.0: an expert's factual scores of 400 summaries) and
`kqa` (K-QA, MIT: three physicians on whether an answer contains a claim).
"""

import argparse
import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.request import Completion, FinishReason, RequestState
from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.scenario import CORRECT_TAG, Reference
from medhelm_spark.metrics import metrics_for
from medhelm_spark.statistics.agreement import fleiss, kendall, spearman

METRICS = ("rouge_1", "rouge_2", "rouge_l", "bleu_1", "bleu_4", "f1_score", "copied_share")
SUMMARIES = "MTS-Dialog-Automatic-Summaries-ValidationSet.csv"
SCORES = "MTS-Dialog-Manual-Scores4CorrelationStudy.csv"
CLAIMS = "NLI_medical_annotator.csv"
LABELS = ("Contradiction", "Neutral", "Entailment")

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """Texts with the ratings that people gave them."""

    name: str
    states: Sequence[RequestState]
    by_criterion: dict[str, Values]
    ceiling: str
    """How people agree with each other, or why that is not known."""


def state(index: int, source: str, reference: str, text: str) -> RequestState:
    """An answer as a metric sees it."""
    return RequestState(
        run_spec_id="r",
        instance_id=str(index),
        perturbation="",
        train_trial_index=0,
        trial_index=0,
        split="test",
        input=source,
        references=(Reference(text=reference, tags=(CORRECT_TAG,)),),
        completions=(Completion(text=text, finish_reason=FinishReason.STOP),),
    )


def summaries(folder: Path) -> Rated:
    """Summaries of dialogues beside an expert's scores of their facts."""
    rows = list(_rows(folder / SUMMARIES))
    scores = list(_rows(folder / SCORES))
    criteria = [name for name in scores[0] if name != "Edit Distance (Correction)"]
    return Rated(
        name="MTS-Dialog, 400 summaries",
        states=[
            state(index, row["Dialogue"], row["Reference Summary"], row["Automatic Summary"])
            for index, row in enumerate(rows)
        ],
        by_criterion={
            name: np.array([float(score[name]) for score in scores]) for name in criteria
        },
        ceiling="one expert: how experts agree is not known",
    )


def claims(folder: Path) -> Rated:
    """Whether an answer contains a claim, by the majority of three physicians."""
    rows = list(_rows(folder / CLAIMS))
    labels = [[row[f"label_{rater}"] for rater in range(3)] for row in rows]
    counts = np.array(
        [[claim_labels.count(label) for label in LABELS] for claim_labels in labels], float
    )
    ranks = np.array(
        [[LABELS.index(label) for label in claim_labels] for claim_labels in labels], float
    )
    correlations = [
        correlation.value
        for rater in range(3)
        if (correlation := spearman(ranks[:, rater], np.delete(ranks, rater, axis=1).mean(axis=1)))
    ]
    return Rated(
        name="K-QA, 399 claims",
        states=[
            state(index, row["Question"], row["claim"], row["answer"])
            for index, row in enumerate(rows)
        ],
        by_criterion={"the answer says the claim": ranks.mean(axis=1)},
        ceiling=f"Fleiss' kappa {fleiss(counts):.3f}; a physician with the mean of the other two: "
        f"Spearman {np.mean(correlations):.2f}",
    )


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        yield from csv.DictReader(stream)


def metric_values(rated: Rated) -> dict[str, Values]:
    """Each metric's value of each text, NaN without one."""
    by_metric = {}
    for metric, params in metrics_for([MetricSpec(name=name) for name in METRICS]):
        for scores in zip(*metric.fn(rated.states, params), strict=True):
            name = scores[0].name
            if name in METRICS:
                by_metric[name] = np.array([np.nan if s.value is None else s.value for s in scores])
    return by_metric


def report_lines(rated: Rated) -> Iterator[str]:
    """A heading, the ceiling and a table: metrics by criteria."""
    yield f"## {rated.name}"
    yield ""
    yield f"Among people: {rated.ceiling}."
    yield ""
    yield f"| Metric | {' | '.join(rated.by_criterion)} |"
    yield f"|---|{'---|' * len(rated.by_criterion)}"
    for name, values in metric_values(rated).items():
        cells = []
        for ratings in rated.by_criterion.values():
            is_scored = ~np.isnan(values)
            correlation = spearman(values[is_scored], ratings[is_scored])
            tau = kendall(values[is_scored], ratings[is_scored])
            cells.append(
                f"{correlation.value:+.2f} [{correlation.low:+.2f}, {correlation.high:+.2f}], "
                f"{tau:+.2f}"
                if correlation and tau is not None
                else "-"
            )
        yield f"| `{name}` | {' | '.join(cells)} |"
    yield ""


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    lines = [
        "# Metrics beside clinicians",
        "",
        "Made by `make meta-evaluation` from public ratings. Spearman's correlation of each metric "
        "with what people said, with its 95 % interval, then Kendall's tau-b. Texts of one source "
        "are related, and the intervals do not allow for that.",
        "",
        *report_lines(summaries(folder / "mts_dialog")),
        *report_lines(claims(folder / "kqa")),
    ]
    sys.stdout.write("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()
