"""Two juries, or rubrics, on the same answers and ratings: which agrees better with the raters."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medhelm_spark import features
from medhelm_spark.board import BoardRun
from medhelm_spark.domain.ids import digest
from medhelm_spark.errors import ConfigError
from medhelm_spark.judge_checks.juries import CheckedJury, checked_jury
from medhelm_spark.judge_checks.planting import StoredAnswer
from medhelm_spark.judge_checks.stored import AnswerName, stored_answers, stored_verdicts
from medhelm_spark.statistics.agreement import MeasurementLevel
from medhelm_spark.statistics.agreement_differences import (
    AgreementDifference,
    AgreementMeasure,
    agreement_differences,
)
from medhelm_spark.workspace.entries import LoadedEntries
from medhelm_spark.workspace.workspace import Workspace

MEAN = "mean of criteria"
"""In place of a criterion: the mean of a jury's criteria, beside the mean of the rated ones."""

Values = Mapping[AnswerName, float]
Raters = Mapping[str, Values]
"""By rater the value of each answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSide:
    """The scores of one of the two juries; answers have their names in the first jury's run."""

    jury: CheckedJury
    scores: Values
    """The jury's mean of its criteria that people rated, of all where they rated none of them, by
    answer on which all its judges have a usable verdict."""
    by_criterion: Mapping[str, Values]
    """The same of each criterion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedAgreement:
    """One measure of the agreement of two juries with the raters, and of the raters."""

    criterion: str
    agreement: AgreementDifference
    ceiling: float | None
    """The raters among themselves, on the same answers; None of a single rater."""
    num_answers: int
    num_raters: int
    alpha: float | None = None
    """Krippendorff's alpha of the raters, where their intraclass correlation is not defined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedJuries:
    """Two juries and how each agrees with the raters."""

    first: CheckedJury
    second: CheckedJury
    found: tuple[ComparedAgreement, ...]
    """Of the mean of criteria, then of each criterion that both have and people rated."""
    num_both: int
    """The answers that both judged."""
    num_rated: int
    """The answers that both judged and people rated."""
    has_unit: bool
    """Whether both juries' scales are the raters'."""


def compared_juries(
    workspace: Workspace,
    first: tuple[Sequence[BoardRun], str | None],
    second: tuple[Sequence[BoardRun], str | None],
    entries: LoadedEntries | None = None,
) -> ComparedJuries:
    """Compare the stored verdicts of two juries with the ratings of the answers that both judged.

    No judge is asked. Two runs share an answer where it is of the same request.

    Args:
        workspace: the site and the lake.
        first: runs of one scenario in one suite, and the jury's name (None: the only one).
        second: the same of the other jury.
        entries: run entries, where rubrics or juries are in a benchmark's own files.

    Raises:
        ConfigError: a jury is not the one that judged, both are the same, or no answer was judged
            by both.
    """
    one = checked_jury(workspace, *first, entries)
    other = checked_jury(workspace, *second, entries, flag="--against")
    if one.part == other.part:
        same = (
            f"--against: the judges and the rubric are those of jury {one.annotator.jury.name!r}, "
            f"rubric {one.annotator.rubric.name!r}"
        )
        cure = "name another jury or rubric by --against, or another suite by --against-suite"
        if one.suite != other.suite:
            cure = "judge in one of the two suites by a rubric or jury with another name"
        raise ConfigError(f"{same}; {cure}.")
    reader = workspace.reader
    answers = stored_answers(reader, one.specs, one.annotator.rubric)
    others = stored_answers(reader, other.specs, other.annotator.rubric)
    by_request = {_shared(answer): name for name, answer in answers.items()}
    renamed = {
        name: by_request[shared]
        for name, answer in others.items()
        if (shared := _shared(answer)) in by_request
    }
    people = _people(workspace, [*one.specs, *other.specs], renamed)
    names = people.keys() - {MEAN}
    ours = _side(workspace, one, answers, {name: name for name in answers}, names)
    theirs = _side(workspace, other, others, renamed, names)
    both = ours.scores.keys() & theirs.scores.keys()
    if not both:
        raise ConfigError(
            f"scenario {one.scenario_name!r}: no answer has a usable verdict of both juries; "
            "medhelm-spark run judges the same answers by a second rubric (in a suite of its own)."
        )
    rated = {item for raters in people.values() for values in raters.values() for item in values}
    found = [
        each
        for criterion, raters in people.items()
        if criterion == MEAN or len(names) > 1
        for each in _of_criterion(criterion, raters, ours, theirs, answers)
    ]
    return ComparedJuries(
        first=one,
        second=other,
        found=tuple(found),
        num_both=len(both),
        num_rated=len(both & rated),
        has_unit=any(each.agreement.measure.has_unit for each in found if each.criterion == MEAN),
    )


def _shared(answer: StoredAnswer) -> tuple[str, str, int]:
    """The name of an answer in every run that has it."""
    return answer.request_id, answer.instance.instance_id, answer.trial_index


def _side(
    workspace: Workspace,
    jury: CheckedJury,
    answers: Mapping[AnswerName, StoredAnswer],
    renamed: Mapping[AnswerName, AnswerName],
    rated: Set[str],
) -> JudgedSide:
    """The jury's verdicts; hard gates are left out, as they are of the raters' means."""
    annotator = jury.annotator
    verdicts = stored_verdicts(
        workspace.reader, jury.specs, annotator.spec.name, jury.judges, annotator.rubric
    )
    scores = {renamed[name]: v for name, v in verdicts.of_jury.items() if name in renamed}
    by_criterion: dict[str, dict[AnswerName, float]] = {}
    for criterion in () if annotator.rubric.is_per_item else annotator.rubric.criteria:
        for name in verdicts.of_jury.keys() & renamed.keys():
            fields = answers[name].instance.extra_data
            values = [verdicts.criteria[judge][name].get(criterion.name) for judge in jury.judges]
            known = [
                score
                for value in values
                if value is not None and (score := criterion.score(value, fields)) is not None
            ]
            if len(known) == len(jury.judges):
                mean = sum(known) / len(known)
                by_criterion.setdefault(criterion.name, {})[renamed[name]] = mean
    own = sorted(rated & by_criterion.keys())
    if own and (len(rated) == 1 or by_criterion.keys() - rated):
        # As the raters' mean is of what they rated: one value as it is, of some the plain mean.
        first, *more = (by_criterion[name] for name in own)
        items = set(first).intersection(*more)
        scores = {i: sum(by_criterion[name][i] for name in own) / len(own) for i in items}
    return JudgedSide(jury=jury, scores=scores, by_criterion=by_criterion)


def _people(
    workspace: Workspace, specs: Sequence[Any], renamed: Mapping[AnswerName, AnswerName]
) -> dict[str, Raters]:
    """The raters' mean of criteria, then their values by criterion. Empty without ratings.

    A rating in the second jury's run counts for the same answer in the first jury's run. Of two
    ratings by one rater the newer counts.
    """
    stored, agreement = features.part("ratings", "stored"), features.part("ratings", "agreement")
    typed = features.part("ratings", "typed")
    if stored is None or agreement is None or typed is None:
        return {}
    reader = workspace.reader
    newest: dict[tuple[Any, ...], Any] = {}
    for row in stored.stored_ratings(reader, sorted({spec.run_spec_id for spec in specs})):
        own = (row.run_spec_id, row.instance_id, row.trial_index)
        unit, instance, trial = renamed.get(own, own)
        row = replace(row, run_spec_id=unit, instance_id=instance, trial_index=trial)
        key = (unit, instance, trial, row.rater, row.criterion)
        if key not in newest or newest[key].rated_at < row.rated_at:
            newest[key] = row
    rows = [newest[key] for key in sorted(newest)]
    by_criterion = agreement.by_criterion(
        rows, typed.criterion_values(reader, specs), is_class=False
    )
    if len(by_criterion) == 1:
        return {MEAN: next(iter(by_criterion.values())), **by_criterion}
    mean = by_criterion.pop(agreement.ALL, None)
    return {} if mean is None else {MEAN: mean, **by_criterion}


def _of_criterion(
    criterion: str,
    raters: Raters,
    ours: JudgedSide,
    theirs: JudgedSide,
    answers: Mapping[AnswerName, StoredAnswer],
) -> Iterator[ComparedAgreement]:
    if criterion == MEAN:
        first, second = ours.scores, theirs.scores
        scales = [(side.jury.scale.minimum, side.jury.scale.maximum) for side in (ours, theirs)]
    else:
        first = ours.by_criterion.get(criterion, {})
        second = theirs.by_criterion.get(criterion, {})
        scales = [
            (each.minimum, each.maximum)
            for side in (ours, theirs)
            for each in side.jury.annotator.rubric.criteria
            if each.name == criterion
        ]
    rated = {item for values in raters.values() for item in values}
    items = sorted(first.keys() & second.keys() & rated)
    if not items:
        return
    selected = {
        name: {item: values[item] for item in items if item in values}
        for name, values in sorted(raters.items())
    }
    selected = {name: values for name, values in selected.items() if values}
    table = np.array(
        [[values.get(item, np.nan) for item in items] for values in selected.values()], np.float64
    ).T
    units = [int(digest(answers[item].cluster)[:16], 16) for item in items]
    ceiling, alpha = _ceiling(criterion, selected, table)
    for agreement in agreement_differences(
        np.array([first[item] for item in items]),
        np.array([second[item] for item in items]),
        table,
        np.array(units, dtype=np.uint64),
        has_unit=_has_unit(scales, table),
    ):
        yield ComparedAgreement(
            criterion=criterion,
            agreement=agreement,
            ceiling=ceiling.get(agreement.measure),
            num_answers=len(items),
            num_raters=len(selected),
            alpha=alpha if agreement.measure is AgreementMeasure.ICC else None,
        )


def _has_unit(
    scales: Sequence[tuple[float | None, float | None]], table: NDArray[np.float64]
) -> bool:
    """Whether both juries have one scale, and all ratings lie on it."""
    (low, high), *others = scales
    if low is None or high is None or any(other != (low, high) for other in others):
        return False
    return bool(low <= np.nanmin(table) and np.nanmax(table) <= high)


def _ceiling(
    criterion: str, raters: Raters, table: NDArray[np.float64]
) -> tuple[dict[AgreementMeasure, float | None], float | None]:
    """The same measures of the raters among themselves, and alpha where the ICC is missing.

    A measure that is not defined is None.
    """
    agreement = features.part("ratings", "agreement")
    if agreement is None or len(raters) < 2:
        return {}, None
    among_raters = agreement.of_raters(criterion, "", raters, MeasurementLevel.INTERVAL)
    icc = among_raters.intraclass.agreement
    measures = {
        AgreementMeasure.ICC: icc.value if icc else None,
        AgreementMeasure.SPEARMAN: among_raters.spearman,
        AgreementMeasure.KAPPA: among_raters.kappa,
        AgreementMeasure.DISTANCE: _distance_of_raters(table),
    }
    return measures, among_raters.alpha.value if among_raters.alpha and not icc else None


def _distance_of_raters(table: NDArray[np.float64]) -> float | None:
    """The mean distance of a rater from the mean of the others, each rater left out in turn."""
    distances = []
    for column, own in enumerate(table.T):
        rest = np.delete(table, column, axis=1)
        is_rated = ~np.isnan(own) & ~np.isnan(rest).all(axis=1)
        distances.append(np.abs(own[is_rated] - np.nanmean(rest[is_rated], axis=1)))
    flat = list(chain.from_iterable(distances))
    return float(np.mean(flat)) if flat else None
