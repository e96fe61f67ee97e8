"""The corrected means of a board's cells whose judged answers people rated (`features`)."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.board import BoardRun
from medhelm_spark.board.scores import TRIALS, scores_of, value_of
from medhelm_spark.board.sources import WORKING
from medhelm_spark.domain.criterion import criteria_of
from medhelm_spark.domain.pluralize import counted, counted_by
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stats import MetricInfo
from medhelm_spark.lake.reader import Reader
from medhelm_spark.metrics import JURY_SCORE, stem_of
from medhelm_spark.metrics.jury import lowest_by_gates
from medhelm_spark.metrics.jury_criteria import CRITERION
from medhelm_spark.metrics.metric import Params
from medhelm_spark.ratings.stored import stored_ratings
from medhelm_spark.ratings.tables import Rating
from medhelm_spark.ratings.typed import CriterionValues, criterion_values
from medhelm_spark.statistics.cell import BoardCell
from medhelm_spark.statistics.corrected_share import corrected_share
from medhelm_spark.statistics.prediction_powered import (
    FEWEST_RATED,
    Lacking,
    corrected_mean,
    lacking,
)

Answer = tuple[str, int]
"""An instance and a trial."""
Values = NDArray[np.float64]
Labels = NDArray[np.int64]
PLAIN = CriterionValues()
"""Criteria without direction, weight or classes."""


def with_cells(reader: Reader, runs: Sequence[BoardRun]) -> list[BoardRun]:
    """The runs, with corrected means where a jury's answers were rated too.

    Runs of a release have none: a release does not pin ratings.
    """
    people = _ratings_by_run(reader, [run for run in runs if run.cell])
    return [
        _corrected(reader, run, people[unit])
        if (unit := run.run_spec.run_spec_id) in people
        else run
        for run in runs
    ]


def rated_answers(reader: Reader, runs: Iterable[BoardRun]) -> dict[str, Mapping[Answer, float]]:
    """By run the mean rating of each answer, of the runs whose ratings are in the metric's unit.

    Runs without a jury, and those of a release, have none.
    """
    people = _ratings_by_run(reader, runs)
    return {unit: own for unit, own in people.items() if own is not None}


def _ratings_by_run(
    reader: Reader, runs: Iterable[BoardRun]
) -> dict[str, Mapping[Answer, float] | None]:
    """The same, and None for the runs whose ratings are not in the metric's unit."""
    judged = {
        run.run_spec.run_spec_id: run
        for run in runs
        if run.run_spec.annotators and run.release_status == WORKING
    }
    ratings: dict[str, list[Rating]] = {}
    for row in stored_ratings(reader, list(judged)):
        ratings.setdefault(row.run_spec_id, []).append(row)
    means: dict[str, Mapping[Answer, float] | None] = {}
    for unit, own in ratings.items():
        values_of = criterion_values(reader, [judged[unit].run_spec])
        scale = judged[unit].info
        criteria = _criteria_of_jury(judged[unit])
        counted = [row for row in own if not criteria or row.criterion in criteria]
        if scale is not None:
            has_unit = _is_typed(counted, values_of) or _has_unit(counted, scale)
            spec = judged[unit].run_spec
            means[unit] = (
                means_as_jury(counted, spec, values_of, criteria, _params_of(spec))
                if has_unit
                else None
            )
    return means


def _params_of(spec: RunSpec) -> Params:
    """The arguments of the jury score that is the run's main metric."""
    own = (metric.args for metric in spec.metrics if metric.name == JURY_SCORE)
    main = (args for args in own if args.get("stat_name", JURY_SCORE) == spec.main_metric)
    return next(main, {})


def means_as_jury(
    ratings: Sequence[Rating],
    spec: RunSpec,
    values_of: CriterionValues,
    criteria: Set[str],
    params: Params,
) -> Mapping[Answer, float]:
    """The mean rating of each answer, taken as the jury's score takes verdicts.

    Args:
        ratings: of one run.
        spec: the run.
        values_of: the scores of values of typed criteria.
        criteria: what the jury scored; empty: what people rated.
        params: of the jury's score. Where most raters give a hard gate its bad end, the mean is
            the lowest score.
    """
    means = dict(mean_ratings(ratings, values_of, criteria))
    votes: dict[Answer, dict[str, list[float]]] = {}
    for row in ratings:
        of_answer = votes.setdefault((row.instance_id, row.trial_index), {})
        of_answer.setdefault(row.criterion, []).append(row.value)
    own = criteria_of(params.get("criteria", ""))
    for answer in means:
        fields = values_of.fields.get((spec.run_spec_id, answer[0]), {})
        lowest = lowest_by_gates(params, own, votes[answer], fields)
        if lowest is not None:
            means[answer] = lowest
    return means


def _criteria_of_jury(run: BoardRun) -> frozenset[str]:
    """What the run's one jury scored, by the names of its stats; empty where these do not say."""
    if len(run.run_spec.annotators) > 1:
        return frozenset()
    names = (stat.name for stat in run.stats if stem_of(stat.name) == CRITERION)
    return frozenset(name.removeprefix(f"{CRITERION}[").removesuffix("]") for name in names)


def _corrected(reader: Reader, run: BoardRun, by_answer: Mapping[Answer, float] | None) -> BoardRun:
    spec, scale = run.run_spec, run.info
    if scale is None or run.cell is None:
        return run
    if by_answer is None:
        low, high = (
            "open" if end is None else f"{end:g}" for end in (scale.minimum, scale.maximum)
        )
        why = f"not all ratings are on the scale of {spec.main_metric}, {low} to {high}"
        return replace(run, cell=replace(run.cell, uncorrected=why))
    scores = scores_of(reader, [spec.run_spec_id], [spec.main_metric], spec.main_split)
    values = value_of(scores, spec.main_metric)
    instances = scores["instance_id"].to_pylist()
    trials = scores[TRIALS[1]].to_pylist()
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
    cell = _corrected_cell(
        run.cell,
        scale,
        (people[is_rated], values[is_rated], values[is_other]),
        (labels[is_rated], labels[is_other]),
    )
    return replace(run, cell=cell)


def _corrected_cell(
    cell: BoardCell,
    scale: MetricInfo,
    values: tuple[Values, Values, Values],
    clusters: tuple[Labels, Labels],
) -> BoardCell:
    """The cell with its corrected mean; if all ratings are one of two classes, a share.

    Args:
        cell: of the run.
        scale: of the metric.
        values: the ratings, the jury's values of the rated answers, and those of the others.
        clusters: of the rated answers and of the others.
    """
    rated, judged, others = values
    if lack := lacking(rated, clusters):
        return replace(cell, uncorrected=_why(lack, cell, rated, clusters))
    low, high = scale.minimum, scale.maximum
    if low is not None and high is not None and np.isin(rated, (low, high)).all():
        middle, width = (low + high) / 2, high - low
        share = corrected_share(rated == high, judged > middle, others > middle, clusters=clusters)
        if share is None:
            return cell
        return replace(
            cell,
            corrected_mean=low + width * share.value,
            corrected_low=low + width * share.low,
            corrected_high=low + width * share.high,
            num_rated=share.num_rated,
            jury_sensitivity=share.sensitivity,
            jury_specificity=share.specificity,
        )
    corrected = corrected_mean(rated, judged, others, (low, high), clusters=clusters)
    if corrected is None:
        return cell
    return replace(
        cell,
        corrected_mean=corrected.value,
        corrected_low=corrected.low,
        corrected_high=corrected.high,
        num_rated=corrected.num_rated,
    )


def _why(lack: Lacking, cell: BoardCell, rated: Values, clusters: tuple[Labels, Labels]) -> str:
    """Why the mean is not corrected, in words."""
    if lack is Lacking.RATED:
        groups = counted_by(len(np.unique(clusters[0])), cell.cluster_column or "instance")
        return (
            f"people rated answers of {groups} by all criteria, and answers of {FEWEST_RATED} are "
            "needed"
        )
    rest = {
        Lacking.OTHERS: "hardly an answer is left that the jury alone scored",
        Lacking.SPREAD: "all these ratings are equal",
    }
    summary = f"people rated {counted(len(rated), 'answer')}, with a mean of {rated.mean():.3f}"
    return f"{summary}, and {rest[lack]}"


def mean_ratings(
    ratings: Iterable[Rating],
    values_of: CriterionValues = PLAIN,
    criteria: Set[str] = frozenset(),
) -> Mapping[Answer, float]:
    """By answer of one run the mean over raters of each rater's mean of the criteria.

    A rater who left out a criterion has no mean of the answer; further ones do not count. Without
    `criteria`, they are those that anybody rated.
    """
    rows = list(ratings)
    criteria = criteria or {row.criterion for row in rows}
    by_rater: dict[tuple[Answer, str, str], dict[str, float]] = {}
    for row in (row for row in rows if row.criterion in criteria):
        key = ((row.instance_id, row.trial_index), row.rater, row.run_spec_id)
        by_rater.setdefault(key, {})[row.criterion] = row.value
    means: dict[Answer, list[float]] = {}
    for (answer, _, unit), values in sorted(by_rater.items()):
        mean = values_of.mean(unit, answer[0], values) if values.keys() == criteria else None
        if mean is not None:
            means.setdefault(answer, []).append(mean)
    return {answer: sum(own) / len(own) for answer, own in means.items()}


def _is_typed(ratings: Iterable[Rating], values_of: CriterionValues) -> bool:
    """Whether all ratings are of the run's typed criteria, as the jury's mean is."""
    return all(row.criterion in values_of.by_unit.get(row.run_spec_id, {}) for row in ratings)


def _has_unit(ratings: Iterable[Rating], scale: MetricInfo) -> bool:
    """Whether all ratings are on the metric's scale: a share and a rating have no common unit."""
    if scale.minimum is None or scale.maximum is None:
        return False
    return all(scale.minimum <= row.value <= scale.maximum for row in ratings)
