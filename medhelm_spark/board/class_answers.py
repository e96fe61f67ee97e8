"""What a declared positive class and log-probabilities show of a run, from its stored scores."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from medhelm_spark.board.scores import ORDER, TRIALS, in_order, value_of
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.errors import ConfigError
from medhelm_spark.metrics import Params, run_metrics_for, stats_of
from medhelm_spark.metrics.calibration import CALIBRATION, confidence_edges
from medhelm_spark.metrics.classification import labels_of
from medhelm_spark.metrics.diagnostic import DIAGNOSTIC_ACCURACY, costs_of, positive_of
from medhelm_spark.statistics.reliability import Bin, curve
from medhelm_spark.statistics.two_by_two import (
    NEGATIVE,
    NEITHER,
    POSITIVE,
    ClassAnswers,
    Costs,
    Labels,
)


def class_params(spec: RunSpec) -> Params:
    """The arguments of the run's diagnostic accuracy; empty where it has none."""
    try:
        chosen = run_metrics_for(spec.metrics)
    except ConfigError:  # a metric that is not installed here
        return {}
    return next((params for metric, params in chosen if metric is DIAGNOSTIC_ACCURACY), {})


def has_positive(spec: RunSpec) -> bool:
    """Whether a positive class is declared."""
    return "positive" in class_params(spec)


def classes_of(spec: RunSpec) -> tuple[str, ...]:
    """The names of the classes, as the run's metric declares them; empty where it has none."""
    params = class_params(spec)
    return tuple(labels_of(params)) if params else ()


def class_stats_of(spec: RunSpec) -> tuple[str, ...]:
    """The stats of instances with the right and the predicted class; empty without classes."""
    params = class_params(spec)
    return tuple(DIAGNOSTIC_ACCURACY.reads(params)) if params else ()


def needed_stats_of(spec: RunSpec) -> tuple[str, ...]:
    """The stats of instances that add something to the run's stats; empty where none do."""
    classes = class_stats_of(spec) if has_positive(spec) else ()
    return (*classes, *_confidence(spec))


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseAnswers:
    """The answers of one run by class, with the row of scores behind each."""

    answers: ClassAnswers
    rows: pa.Table
    """The rows of scores that have a class, in the order of `answers`."""

    @property
    def cases(self) -> pa.Array:
        """`INSTANCE/TRAIN_TRIAL/TRIAL` of each answer, shape (answers,)."""
        trials = (self.rows[name].combine_chunks().cast(pa.string()) for name in TRIALS)
        instances = self.rows["instance_id"].cast(pa.string()).combine_chunks()
        return pc.binary_join_element_wise(instances, *trials, "/")


def in_common(first: CaseAnswers, second: CaseAnswers) -> tuple[ClassAnswers, ClassAnswers]:
    """The answers of both runs to the cases that both have in the same class, case by case."""
    index = pc.index_in(first.cases, second.cases)
    ours = np.flatnonzero(pc.is_valid(index).to_numpy(zero_copy_only=False))
    theirs = index.drop_null().to_numpy().astype(np.int64)
    is_same = first.answers.is_positive[ours] == second.answers.is_positive[theirs]
    return first.answers.only(ours[is_same]), second.answers.only(theirs[is_same])


def answers_of(spec: RunSpec, scores: pa.Table, positive: str | None = None) -> CaseAnswers | None:
    """The answers by class; None where no positive class is declared or no answer has a class.

    Args:
        spec: the run.
        scores: its rows of `per_instance_stats` on one split, without perturbed copies.
        positive: the class that counts as the positive one (None: those that the run declares).
    """
    by_class = _by_class(spec, in_order(scores), positive)
    if by_class is None:
        return None
    params, right, predicted, classes, rows = by_class
    is_positive = np.isin(right, classes)
    answers = ClassAnswers(
        is_positive=is_positive,
        predicted=np.where(
            predicted == 0, NEITHER, np.where(np.isin(predicted, classes), POSITIVE, NEGATIVE)
        ),
        clusters=_clusters(spec, rows),
        costs=_costs(costs_of(params), right, predicted, classes) if "costs" in params else None,
    )
    return CaseAnswers(answers=answers, rows=rows.select(ORDER))


def errors_of(spec: RunSpec, scores: pa.Table) -> tuple[pa.Table, pa.Table] | None:
    """The rows of missed cases and of false alarms; None where no positive class is declared.

    Arguments as in `answers_of`; other columns of `scores` are kept.
    """
    by_class = _by_class(spec, scores)
    if by_class is None:
        return None
    _, right, predicted, classes, rows = by_class
    is_positive, is_alarm = np.isin(right, classes), np.isin(predicted, classes)
    return rows.filter(pa.array(is_positive & ~is_alarm)), rows.filter(
        pa.array(~is_positive & is_alarm)
    )


def _by_class(
    spec: RunSpec, scores: pa.Table, positive: str | None = None
) -> tuple[Params, NDArray[np.int64], NDArray[np.int64], list[int], pa.Table] | None:
    """The metric's arguments, right and predicted class of each row, the positive classes, rows.

    None where no positive class is declared or no answer has a class.
    """
    params = class_params(spec)
    if params and positive is not None:
        params = {**params, "positive": positive}
    if "positive" not in params:
        return None
    codes, rows = _columns(scores, DIAGNOSTIC_ACCURACY.reads(params))
    if not len(codes):
        return None
    right, predicted = codes.astype(np.int64).T
    return params, right, predicted, [index + 1 for index in positive_of(params)], rows


def curve_of(spec: RunSpec, scores: pa.Table) -> tuple[Bin, ...]:
    """The calibration curve; empty without log-probabilities. Arguments as in `answers_of`."""
    names = _confidence(spec)
    if not names:
        return ()
    values, rows = _columns(in_order(scores), names)
    if not len(values):
        return ()
    confidence, right = values.T
    return curve(confidence, right, confidence_edges(confidence), _clusters(spec, rows))


def _confidence(spec: RunSpec) -> tuple[str, ...]:
    """The stats behind a calibration curve, where the run has both; else none."""
    try:
        chosen = run_metrics_for(spec.metrics)
        params = next((params for metric, params in chosen if metric is CALIBRATION), {})
        names = CALIBRATION.reads(params)
        return names if {stat.name for stat in stats_of(spec.metrics)}.issuperset(names) else ()
    except ConfigError:
        return ()


def _costs(
    matrix: NDArray[np.float64],
    right: NDArray[np.int64],
    predicted: NDArray[np.int64],
    classes: Sequence[int],
) -> Costs:
    is_positive = np.isin(right, classes)
    of_class = np.isin(np.arange(1, len(matrix) + 1), classes)

    def in_classes(label: int) -> tuple[float, float]:
        costs = matrix[right - 1, label]
        positive, negative = costs[is_positive], costs[~is_positive]
        return _mean(positive), _mean(negative)

    labels = range(1, matrix.shape[1])
    return Costs(
        of_answers=matrix[right - 1, predicted],
        costliest=(
            float(matrix[of_class].max(initial=0.0)),
            float(matrix[~of_class].max(initial=0.0)),
        ),
        always={
            POSITIVE: [in_classes(label) for label in labels if label in classes],
            NEGATIVE: [in_classes(label) for label in labels if label not in classes],
        },
    )


def _mean(costs: NDArray[np.float64]) -> float:
    """The mean; 0 of a class without a case."""
    return float(costs.mean()) if len(costs) else 0.0


def _columns(scores: pa.Table, names: Sequence[str]) -> tuple[NDArray[np.float64], pa.Table]:
    """The values of the answers that have all of these stats, a row each, and these answers."""
    values = np.stack([value_of(scores, name) for name in names], axis=1)
    is_known = np.isfinite(values).all(axis=1)
    return values[is_known], scores.filter(pa.array(is_known))


def _clusters(spec: RunSpec, scores: pa.Table) -> Labels | None:
    """A label for each answer: of its cluster, or of its instance; None where all are alone."""
    if (
        scores["cluster_id"].null_count == len(scores)
        and spec.adapter_spec.requests_per_instance == 1
    ):
        return None
    clusters, instances = (
        scores[name].cast(pa.string()).combine_chunks() for name in ("cluster_id", "instance_id")
    )
    keys = pc.coalesce(clusters, instances).dictionary_encode()
    labels: Labels = keys.indices.to_numpy().astype(np.int64)
    return labels
