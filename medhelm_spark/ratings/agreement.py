"""How raters agree among themselves, and judges, juries and metrics with them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.board.stat_rows import direction_of
from medhelm_spark.domain.request import Annotation, VerdictStatus
from medhelm_spark.domain.run import MEDHELM_08, AnnotatorSpec, RunSpec
from medhelm_spark.domain.stages import ANNOTATE, SCORE
from medhelm_spark.domain.stats import PerInstanceStats
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.metrics import stem_of
from medhelm_spark.metrics.jury_criteria import STEMS
from medhelm_spark.ratings.by_cluster import (
    ClusteredAgreement,
    Clusters,
    clustered_other,
    clustered_raters,
    clusters_of,
    labels_of,
)
from medhelm_spark.ratings.tables import Rating
from medhelm_spark.ratings.typed import CriterionValues, criterion_values, points_by_judge
from medhelm_spark.statistics.agreement import (
    Bias,
    MeasurementLevel,
    bland_altman,
    kendall,
    krippendorff_interval,
    spearman,
    weighted_kappa,
)
from medhelm_spark.statistics.alt_test import AltTest, alt_test
from medhelm_spark.statistics.intraclass import NOTHING, Intraclass, intraclass
from medhelm_spark.statistics.two_by_two import Estimated

_OF_RUNS = """
SELECT * FROM ({source}) o WHERE perturbation = '' AND run_spec_id IN ({units})
"""
ALL = "mean of criteria"
"""In place of a criterion: the mean over the criteria of a rater, judge or jury."""
RATERS = "raters"
JUDGE, JURY, METRIC = "judge", "jury", "metric"

Item = tuple[str, str, int]
"""An answer: run_spec_id, instance and trial."""
Values = Mapping[Item, float]
_Correlation = Callable[[NDArray[np.float64], NDArray[np.float64]], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The agreement of the raters, or of a judge, jury or metric with them, on one criterion.

    A number is None where it is not defined: `notes` say why.
    """

    criterion: str
    who: str
    """`raters`, `judge NAME`, `jury NAME` or `metric NAME`; the rubric too where two name one."""
    model: str
    """The deployment whose answers these are; empty for all."""
    num_items: int
    """The answers with a value and a rating; of raters those with two ratings or more."""
    num_complete: int
    """Those that all raters rated, on which the intraclass correlations rest."""
    num_raters: int
    intraclass: Intraclass = NOTHING
    """Of raters among themselves; of others of their value beside the mean of the raters."""
    alpha: Estimated | None = None
    """Krippendorff's alpha of the raters."""
    spearman: float | None = None
    """With the mean of the other raters, averaged over the raters left out."""
    kendall: float | None = None
    """The same."""
    kappa: float | None = None
    """Cohen's kappa with quadratic weights, averaged over the pairs with a rater."""
    bias: Bias | None = None
    """Of a judge, jury or metric: its value less the mean of the raters."""
    alt_test: AltTest | None = None
    """Of a judge, jury or metric where an answer has two raters."""
    clustered: ClusteredAgreement | None = None
    """The same with intervals that count clusters, where the card names a column of them."""
    notes: tuple[str, ...] = field(default=())
    annotator: str = ""
    """Of a judge or jury: the annotator whose verdicts these are."""

    @property
    def icc(self) -> Estimated | None:
        """ICC(A,1), with the interval that counts clusters where there are any."""
        held = self.clustered.intraclass if self.clustered else self.intraclass
        return held.agreement

    @property
    def alpha_of_clusters(self) -> Estimated | None:
        """Krippendorff's alpha, with the interval that counts clusters where there are any."""
        return self.clustered.alpha if self.clustered else self.alpha


def agreement_of(
    reader: Reader,
    specs: Sequence[RunSpec],
    ratings: Sequence[Rating],
    *,
    scale: MeasurementLevel,
    epsilon: float,
    by_model: bool = False,
) -> list[Agreement]:
    """A row for the raters and for each judge, jury and metric, by criterion and model.

    Args:
        reader: it has the verdicts and scores of the runs.
        specs: the runs whose answers were rated.
        ratings: those that count.
        scale: what a difference of two ratings means, for alpha and the alternative annotator test.
        epsilon: see `statistics.alt_test.EPSILON`.
        by_model: rows for each model beside those of all.

    Raises:
        ConfigError: there is no rating.
    """
    if not ratings:
        raise ConfigError(
            "no answer of these runs has a rating; `ratings invite` makes links for raters, "
            "`ratings import` stores a file of ratings."
        )
    values_of = criterion_values(reader, specs)
    is_class = scale is MeasurementLevel.NOMINAL
    people = by_criterion(ratings, values_of, is_class=is_class)
    others = [
        *_of_judges(reader, specs, values_of, is_class=is_class),
        *_of_metrics(reader, specs),
    ]
    models = {spec.run_spec_id: spec.model_deployment for spec in specs}
    clusters = clusters_of(reader, specs)
    rows = []
    for criterion, raters in people.items():
        for model in ["", *(sorted(set(models.values())) if by_model else [])]:
            kept = {
                name: {item: v for item, v in values.items() if model in ("", models[item[0]])}
                for name, values in raters.items()
            }
            if any(kept.values()):
                rows.append(of_raters(criterion, model, kept, scale, clusters))
                rows += [
                    found
                    for other in others
                    if (found := _of_other(criterion, model, kept, other, scale, epsilon, clusters))
                ]
    return rows


def by_criterion(
    ratings: Iterable[Rating], values_of: CriterionValues, *, is_class: bool
) -> dict[str, dict[str, dict[Item, float]]]:
    """The values by criterion, rater and answer; with several criteria their mean too.

    Args:
        ratings: those that count.
        values_of: what a value of a typed criterion is worth.
        is_class: a class is its place in the criterion's list, and not its score.
    """
    held: dict[str, dict[str, dict[Item, float]]] = {}
    by_rater: dict[str, dict[Item, dict[str, float]]] = {}
    for row in ratings:
        item = (row.run_spec_id, row.instance_id, row.trial_index)
        by_rater.setdefault(row.rater, {}).setdefault(item, {})[row.criterion] = row.value
        value = _value(values_of, item, row.criterion, row.value, is_class=is_class)
        of_rater = held.setdefault(row.criterion, {}).setdefault(row.rater, {})
        if value is not None:
            of_rater[item] = value
    if len(held) > 1:
        names = held.keys()
        held[ALL] = {
            rater: {
                item: mean
                for item, given in of_rater.items()
                if given.keys() == names
                and (mean := values_of.mean(item[0], item[1], given)) is not None
            }
            for rater, of_rater in sorted(by_rater.items())
        }
    return held


def _value(
    values_of: CriterionValues, item: Item, criterion: str, given: float, *, is_class: bool
) -> float | None:
    unit, instance, _ = item
    return given if is_class else values_of.scored(unit, instance, criterion, given)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Other:
    """What is compared with raters; `by_criterion` has a value for each answer."""

    who: str
    by_criterion: Mapping[str, Values]
    has_criteria: bool
    """Whether it judges by criteria; a metric has one value, which is compared with each."""
    annotator: str = ""
    """Of a judge or jury."""


def _of_judges(
    reader: Reader, specs: Sequence[RunSpec], values_of: CriterionValues, *, is_class: bool
) -> Iterator[_Other]:
    """Each judge, and each jury as the mean of its judges."""
    sql = _OF_RUNS.format(
        source=output_of("annotations", ANNOTATE),
        units=literals(spec.run_spec_id for spec in specs),
    )
    held: dict[tuple[str, str], dict[str, dict[Item, float]]] = {}
    met: dict[tuple[str, str], dict[Item, dict[int, float]]] = {}
    rows: list[Annotation] = reader.rows(sql, Annotation)
    for row in rows:
        if row.status is not VerdictStatus.OK:
            continue
        item = (row.run_spec_id, row.instance_id, row.trial_index)
        if row.rubric_item is not None:
            by_item = met.setdefault((row.annotator, row.judge), {}).setdefault(item, {})
            by_item[row.rubric_item] = row.scores[0].score
            continue
        of_judge = held.setdefault((row.annotator, row.judge), {})
        given = {score.criterion: score.score for score in row.scores}
        for name, one in given.items():
            value = _value(values_of, item, name, one, is_class=is_class)
            if value is not None:
                of_judge.setdefault(name, {})[item] = value
        mean = values_of.mean(item[0], item[1], given) if len(given) > 1 else None
        if mean is not None:
            of_judge.setdefault(ALL, {})[item] = mean
    own = {spec.name: spec for run in specs for spec in run.annotators}
    yield from _judges_and_juries(held, own, has_criteria=True)
    if met:
        shares = points_by_judge(reader, specs, met)
        yield from _judges_and_juries(shares, own, has_criteria=False)


def _judges_and_juries(
    held: Mapping[tuple[str, str], Mapping[str, Values]],
    own: Mapping[str, AnnotatorSpec],
    *,
    has_criteria: bool,
) -> Iterator[_Other]:
    """Each judge and each jury, by the names that a judge card has."""
    by_rubric = len(own) > 1  # two rubrics may have one jury, or a judge in common

    def other(kind: str, name: str, annotator: str, values: Mapping[str, Values]) -> _Other:
        rubric = f", rubric {own[annotator].rubric}" if by_rubric else ""
        return _Other(
            who=f"{kind} {name}{rubric}",
            by_criterion=values,
            has_criteria=has_criteria,
            annotator=annotator,
        )

    for (annotator, judge), values in sorted(held.items()):
        yield other(JUDGE, judge, annotator, values)
    for annotator in sorted({annotator for annotator, _ in held}):
        judges = [values for (name, _), values in held.items() if name == annotator]
        if len(judges) > 1:
            yield other(JURY, own[annotator].jury, annotator, _mean_of(judges))


def _mean_of(judges: Sequence[Mapping[str, Values]]) -> dict[str, Values]:
    """By criterion the mean of the judges that have a value."""
    means: dict[str, Values] = {}
    for criterion in sorted({name for judge in judges for name in judge}):
        values: dict[Item, list[float]] = {}
        for judge in judges:
            for item, value in judge.get(criterion, {}).items():
                values.setdefault(item, []).append(value)
        means[criterion] = {item: sum(held) / len(held) for item, held in values.items()}
    return means


def _of_metrics(reader: Reader, specs: Sequence[RunSpec]) -> Iterator[_Other]:
    """Each stat of an answer that says how good it is."""
    sql = _OF_RUNS.format(
        source=output_of("per_instance_stats", SCORE),
        units=literals(spec.run_spec_id for spec in specs),
    )
    by_unit = {spec.run_spec_id: spec for spec in specs}
    held: dict[str, dict[Item, float]] = {}
    rows: list[PerInstanceStats] = reader.rows(sql, PerInstanceStats)
    for row in rows:
        item = (row.run_spec_id, row.instance_id, row.trial_index)
        for score in row.stats:
            if score.value is not None and _is_of_quality(by_unit[row.run_spec_id], score.name):
                held.setdefault(score.name, {})[item] = score.value
    for name, values in sorted(held.items()):
        if len(set(values.values())) > 1:  # a constant orders nothing
            yield _Other(who=f"{METRIC} {name}", by_criterion={"": values}, has_criteria=False)


def _is_of_quality(spec: RunSpec, name: str) -> bool:
    """Whether a higher or lower value of a stat is better; tokens and seconds are neither.

    MedHELM's own value of a metric that stands beside ours is left out, and so are the stats of a
    jury's criteria: its judges are compared by their verdicts.
    """
    if stem_of(name) in STEMS:
        return False
    return not name.endswith(f"@{MEDHELM_08}") and direction_of(spec, name) is not None


def _table(raters: Mapping[str, Values], items: Sequence[Item]) -> NDArray[np.float64]:
    """Shape (items, raters), NaN without a rating."""
    columns = [[raters[name].get(item, np.nan) for item in items] for name in sorted(raters)]
    return np.array(columns, np.float64).reshape(len(raters), len(items)).T


def _items(raters: Mapping[str, Values]) -> list[Item]:
    return sorted({item for values in raters.values() for item in values})


def of_raters(
    criterion: str,
    model: str,
    raters: Mapping[str, Values],
    scale: MeasurementLevel,
    clusters: Clusters = MappingProxyType({}),
) -> Agreement:
    """The raters among themselves.

    Args:
        criterion: what they rated.
        model: whose answers these are; empty for all.
        raters: by rater the value of each answer.
        scale: what a difference of two ratings means, for alpha.
        clusters: of the answers, where the card names them.
    """
    raters = {name: values for name, values in raters.items() if values}
    items = _items(raters)
    table = _table(raters, items)
    is_rated = ~np.isnan(table)
    whole = table[is_rated.all(axis=1)]
    several = is_rated.sum(axis=1) >= 2
    alpha = krippendorff_interval(table, scale)
    num_raters = table.shape[1]
    notes = []
    if num_raters < 2:
        notes.append("one rater: there is no ceiling")
    elif len(whole) < 2:
        notes.append("too few answers have all raters: no intraclass correlation")
    elif alpha is None:
        notes.append("all ratings are equal, or no answer has two")
    return Agreement(
        criterion=criterion,
        who=RATERS,
        model=model,
        num_items=int(several.sum()),
        num_complete=len(whole),
        num_raters=num_raters,
        intraclass=intraclass(whole) if num_raters > 1 else NOTHING,
        alpha=alpha,
        spearman=_mean(_left_out(table, None, _spearman)),
        kendall=_mean(_left_out(table, None, kendall)),
        kappa=_kappa_of_raters(table),
        clustered=clustered_raters(
            table, labels_of(items, clusters), scale, kappa=_kappa_of_raters
        ),
        notes=tuple(notes),
    )


def _kappa_of_raters(table: NDArray[np.float64]) -> float | None:
    return _mean(
        weighted_kappa(*_both(table[:, first], table[:, second]))
        for first in range(table.shape[1])
        for second in range(first)
    )


def _of_other(
    criterion: str,
    model: str,
    raters: Mapping[str, Values],
    other: _Other,
    scale: MeasurementLevel,
    epsilon: float,
    clusters: Clusters,
) -> Agreement | None:
    """None where it has no value of the criterion for an answer that was rated."""
    values = other.by_criterion.get(criterion if other.has_criteria else "", {})
    items = [item for item in _items(raters) if item in values]
    if not items:
        return None
    table = _table(raters, items)
    own = np.array([values[item] for item in items])
    mean = np.nanmean(table, axis=1)
    notes = []
    if len(items) < 2:
        notes.append("one answer: no correlation")
    elif np.ptp(own) == 0 or np.ptp(mean) == 0:
        notes.append("all values are equal: no correlation")
    # A share and a rating from 1 to 5 have ranks in common and no unit.
    has_unit = other.has_criteria or (not other.who.startswith(METRIC) and _are_shares(raters))
    found = (
        alt_test(table, own, is_class=scale is MeasurementLevel.NOMINAL, epsilon=epsilon)
        if has_unit
        else None
    )
    if found and found.is_small:
        notes.append(f"alt-test: a rater has {found.fewest_items} answers, fewer than 30")
    return Agreement(
        criterion=criterion,
        who=other.who,
        model=model,
        num_items=len(items),
        num_complete=int((~np.isnan(table)).all(axis=1).sum()),
        num_raters=int((~np.isnan(table)).any(axis=0).sum()),
        intraclass=intraclass(np.stack([own, mean], axis=1)) if has_unit else NOTHING,
        clustered=clustered_other(own, table, labels_of(items, clusters), kappa=_kappa_with)
        if has_unit
        else None,
        spearman=_mean(_left_out(table, own, _spearman)),
        kendall=_mean(_left_out(table, own, kendall)),
        kappa=_kappa_with(own, table) if has_unit else None,
        bias=bland_altman(own, mean) if has_unit else None,
        alt_test=found,
        notes=tuple(notes),
        annotator=other.annotator,
    )


def _kappa_with(own: NDArray[np.float64], table: NDArray[np.float64]) -> float | None:
    return _mean(weighted_kappa(*_both(own, rater)) for rater in table.T)


def _are_shares(raters: Mapping[str, Values]) -> bool:
    """Whether people rated from 0 to 1, as a share of points is."""
    return all(0 <= value <= 1 for values in raters.values() for value in values.values())


def _left_out(
    table: NDArray[np.float64], other: NDArray[np.float64] | None, correlation: _Correlation
) -> Iterator[float | None]:
    """For each rater left out: the rater, or the other, against the mean of the remaining ones.

    So raters and judges are compared with the same means; a judge beside a single rater, with
    this rater.
    """
    if table.shape[1] == 1:
        if other is not None:
            yield correlation(*_both(other, table[:, 0]))
        return
    for rater in range(table.shape[1]):
        rest = np.delete(table, rater, axis=1)
        is_rated = ~np.isnan(rest).all(axis=1)
        own = table[:, rater] if other is None else other
        yield correlation(*_both(own[is_rated], np.nanmean(rest[is_rated], axis=1)))


def _spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    held = spearman(first, second)
    return held.value if held else None


def _both(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The values where both have one."""
    both = ~(np.isnan(first) | np.isnan(second))
    return first[both], second[both]


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of those that are defined; None where none is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
