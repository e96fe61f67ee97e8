"""What people said of the judged answers, where the feature `ratings` is installed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from medhelm_spark import features
from medhelm_spark.judge_checks.juries import CheckedJury
from medhelm_spark.judge_checks.stored import AnswerName
from medhelm_spark.lake.reader import Reader
from medhelm_spark.metrics.metric import Params
from medhelm_spark.statistics.agreement import MeasurementLevel
from medhelm_spark.statistics.alt_test import EPSILON, AltTest
from medhelm_spark.statistics.two_by_two import Estimated


@dataclass(frozen=True, slots=True, kw_only=True)
class WithPeople:
    """The agreement of one judge or the jury with the raters, or of the raters themselves."""

    who: str
    icc: Estimated | None
    alpha: Estimated | None
    """Krippendorff's, of raters only; it needs no answer that all raters rated."""
    num_items: int
    alt_test: AltTest | None = None
    why: str = ""
    """Why a number is not defined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeoplesRatings:
    """The raters' mean of each answer, and how raters, judges and jury agree."""

    means: Mapping[AnswerName, float] = field(default_factory=dict)
    raters: WithPeople | None = None
    jury: WithPeople | None = None
    judges: tuple[WithPeople, ...] = ()


def peoples_ratings(
    reader: Reader, checked: CheckedJury, params: Mapping[str, Params]
) -> PeoplesRatings:
    """The ratings of a jury's answers that count; empty for a lake without ratings.

    Means of ratings are taken as the jury's score, by its arguments in `params` of each run.
    """
    specs, annotator, judges = checked.specs, checked.annotator, checked.judges
    stored = features.part("ratings", "stored")
    agreement, cells = features.part("ratings", "agreement"), features.part("ratings", "cells")
    typed = features.part("ratings", "typed")
    if stored is None or agreement is None or cells is None or typed is None:
        return PeoplesRatings()
    rows = stored.stored_ratings(reader, [spec.run_spec_id for spec in specs])
    if not rows:
        return PeoplesRatings()
    means: dict[AnswerName, float] = {}
    values_of = typed.criterion_values(reader, specs)
    criteria = frozenset(each.name for each in annotator.rubric.criteria)
    for spec in specs:
        own = [row for row in rows if row.run_spec_id == spec.run_spec_id]
        args = params.get(spec.run_spec_id, {})
        of_run = cells.means_as_jury(own, spec, values_of, criteria, args)
        for (instance, trial), value in of_run.items():
            means[spec.run_spec_id, instance, trial] = value
    found = agreement.agreement_of(
        reader, specs, rows, scale=MeasurementLevel.INTERVAL, epsilon=EPSILON
    )
    rated = [row.criterion for row in found if row.who == agreement.RATERS]
    criterion = agreement.ALL if agreement.ALL in rated else rated[0]
    by_who = {row.who: row for row in found if row.criterion == criterion}
    judged = [row for row in by_who.values() if row.annotator == annotator.spec.name]
    each = [_agreement(row) for row in judged if row.is_of_a_judge]
    jury = (
        each if len(judges) == 1 else [_agreement(row) for row in judged if not row.is_of_a_judge]
    )
    return PeoplesRatings(
        means=means,
        raters=_agreement(by_who[agreement.RATERS]),
        jury=jury[0] if jury else None,
        judges=() if len(judges) == 1 else tuple(each),
    )


def _agreement(row: Any) -> WithPeople:
    return WithPeople(
        who=row.who,
        icc=row.icc,
        alpha=row.alpha_of_clusters,
        num_items=row.num_items,
        alt_test=row.alt_test,
        why="; ".join(row.notes),
    )
