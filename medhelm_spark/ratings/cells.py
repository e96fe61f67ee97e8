"""The corrected means of a board's cells whose jury people have checked (`features`)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from medhelm_spark.board import BoardRun
from medhelm_spark.board.scores import ASKED_AS, scores_of, value_of
from medhelm_spark.board.sources import WORKING
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.lake.reader import Reader
from medhelm_spark.ratings.stored import stored_ratings
from medhelm_spark.ratings.tables import Rating
from medhelm_spark.ratings.typed import CriterionValues, criterion_values
from medhelm_spark.statistics.prediction_powered import CorrectedMean, corrected_mean

Answer = tuple[str, int]
"""An instance and a trial."""
PLAIN = CriterionValues()
"""Criteria that are scales alone."""


def with_cells(reader: Reader, runs: Sequence[BoardRun]) -> list[BoardRun]:
    """The runs, with corrected means where a jury's answers were rated too.

    Runs of a release have none: a release does not pin ratings.
    """
    judged = {
        run.run_spec.run_spec_id: run
        for run in runs
        if run.cell and run.run_spec.annotators and run.release_status == WORKING
    }
    ratings: dict[str, list[Rating]] = {}
    for row in stored_ratings(reader, list(judged)):
        ratings.setdefault(row.run_spec_id, []).append(row)
    return [
        _corrected(reader, run, ratings[unit])
        if (unit := run.run_spec.run_spec_id) in ratings
        else run
        for run in runs
    ]


def _corrected(reader: Reader, run: BoardRun, ratings: Sequence[Rating]) -> BoardRun:
    held = _corrected_mean(reader, run, ratings)
    if held is None or run.cell is None:
        return run
    cell = replace(
        run.cell,
        corrected_mean=held.value,
        corrected_low=held.low,
        corrected_high=held.high,
        num_rated=held.num_rated,
    )
    return replace(run, cell=cell)


def _corrected_mean(
    reader: Reader, run: BoardRun, ratings: Sequence[Rating]
) -> CorrectedMean | None:
    spec, scale = run.run_spec, run.info
    values_of = criterion_values(reader, [spec])
    if scale is None or not (_is_typed(ratings, values_of) or _has_unit(ratings, scale)):
        return None
    by_answer = mean_ratings(ratings, values_of)
    scores = scores_of(reader, [spec.run_spec_id], [spec.main_metric], spec.main_split)
    values = value_of(scores, spec.main_metric)
    instances = scores["instance_id"].to_pylist()
    trials = scores[ASKED_AS[1]].to_pylist()
    people = np.array(
        [by_answer.get(answer, np.nan) for answer in zip(instances, trials, strict=True)]
    )
    units = [
        cluster or instance
        for cluster, instance in zip(scores["cluster_id"].to_pylist(), instances, strict=True)
    ]
    labels = np.unique(np.array(units, dtype=str), return_inverse=True)[1].astype(np.int64)
    is_rated = ~np.isnan(people) & ~np.isnan(values)
    is_other = np.isnan(people) & ~np.isnan(values)
    return corrected_mean(
        people[is_rated],
        values[is_rated],
        values[is_other],
        (scale.minimum, scale.maximum),
        clusters=(labels[is_rated], labels[is_other]),
    )


def mean_ratings(
    ratings: Iterable[Rating], values_of: CriterionValues = PLAIN
) -> Mapping[Answer, float]:
    """By answer of one run the mean over raters of each rater's mean of the criteria.

    A rater who left out a criterion that others rated has no mean of the answer.
    """
    rows = list(ratings)
    criteria = {row.criterion for row in rows}
    by_rater: dict[tuple[Answer, str, str], dict[str, float]] = {}
    for row in rows:
        key = ((row.instance_id, row.trial_index), row.rater, row.run_spec_id)
        by_rater.setdefault(key, {})[row.criterion] = row.value
    means: dict[Answer, list[float]] = {}
    for (answer, _, unit), values in sorted(by_rater.items()):
        mean = values_of.mean(unit, answer[0], values) if values.keys() == criteria else None
        if mean is not None:
            means.setdefault(answer, []).append(mean)
    return {answer: sum(held) / len(held) for answer, held in means.items()}


def _is_typed(ratings: Iterable[Rating], values_of: CriterionValues) -> bool:
    """Whether all ratings are of the run's typed criteria, so that their mean is the jury's."""
    return all(row.criterion in values_of.by_unit.get(row.run_spec_id, {}) for row in ratings)


def _has_unit(ratings: Iterable[Rating], scale: MetricInfo) -> bool:
    """Whether all ratings are on the metric's scale: a share and a rating have no common unit."""
    if scale.minimum is None or scale.maximum is None:
        return False
    return all(scale.minimum <= row.value <= scale.maximum for row in ratings)
