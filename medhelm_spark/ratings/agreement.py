"""How raters agree among themselves, and judges, juries and metrics with them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.run import RunSpec
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.reader import Reader
from medhelm_spark.ratings.by_cluster import (
    ClusteredAgreement,
    Clusters,
    clustered_other,
    clustered_raters,
    clusters_of,
    labels_of,
)
from medhelm_spark.ratings.compared import (
    ALL,
    JUDGE,
    METRIC,
    ComparedValues,
    Item,
    Values,
    of_judges,
    of_metrics,
    scored_value,
)
from medhelm_spark.ratings.tables import Rating
from medhelm_spark.ratings.typed import CriterionValues, criterion_values
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

RATERS = "raters"

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
    """The answers with a value and a rating; for raters the answers with two ratings or more."""
    num_complete: int
    """The answers that all raters rated; the intraclass correlations use only these."""
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
    def is_of_a_judge(self) -> bool:
        """Whether the row is of one judge, and not of a jury."""
        return self.who.startswith(f"{JUDGE} ")

    @property
    def icc(self) -> Estimated | None:
        """ICC(A,1), with the interval that counts clusters where there are any."""
        coefficients = self.clustered.intraclass if self.clustered else self.intraclass
        return coefficients.agreement

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
        ratings: the ratings that count.
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
        *of_judges(reader, specs, values_of, is_class=is_class),
        *of_metrics(reader, specs),
    ]
    models = {spec.run_spec_id: spec.model_deployment for spec in specs}
    clusters = clusters_of(reader, specs)
    rows = []
    for criterion, raters in people.items():
        for model in ["", *(sorted(set(models.values())) if by_model else [])]:
            selected = {
                name: {item: v for item, v in values.items() if model in ("", models[item[0]])}
                for name, values in raters.items()
            }
            if any(selected.values()):
                rows.append(of_raters(criterion, model, selected, scale, clusters))
                rows += [
                    found
                    for other in others
                    if (
                        found := _of_other(
                            criterion, model, selected, other, scale, epsilon, clusters
                        )
                    )
                ]
    return rows


def by_criterion(
    ratings: Iterable[Rating], values_of: CriterionValues, *, is_class: bool
) -> dict[str, dict[str, dict[Item, float]]]:
    """The values by criterion, rater and answer; with several criteria also their mean.

    Args:
        ratings: the ratings that count.
        values_of: the scores of values of typed criteria.
        is_class: the value of a class is its index in the criterion's list, and not its score.
    """
    values: dict[str, dict[str, dict[Item, float]]] = {}
    by_rater: dict[str, dict[Item, dict[str, float]]] = {}
    for row in ratings:
        item = (row.run_spec_id, row.instance_id, row.trial_index)
        by_rater.setdefault(row.rater, {}).setdefault(item, {})[row.criterion] = row.value
        value = scored_value(values_of, item, row.criterion, row.value, is_class=is_class)
        of_rater = values.setdefault(row.criterion, {}).setdefault(row.rater, {})
        if value is not None:
            of_rater[item] = value
    if len(values) > 1:
        names = values.keys()
        values[ALL] = {
            rater: {
                item: mean
                for item, scores in of_rater.items()
                if scores.keys() == names
                and (mean := values_of.mean(item[0], item[1], scores)) is not None
            }
            for rater, of_rater in sorted(by_rater.items())
        }
    return values


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
    other: ComparedValues,
    scale: MeasurementLevel,
    epsilon: float,
    clusters: Clusters,
) -> Agreement | None:
    """The judge, jury or metric with the raters; None where no rated answer has a value of it."""
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
    # A share and a rating from 1 to 5 can be compared by rank, but have no common unit.
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
    """Whether all ratings are from 0 to 1, as a share of points is."""
    return all(0 <= value <= 1 for values in raters.values() for value in values.values())


def _left_out(
    table: NDArray[np.float64], other: NDArray[np.float64] | None, correlation: _Correlation
) -> Iterator[float | None]:
    """For each rater left out: the rater, or the other, against the mean of the remaining raters.

    So raters and judges are compared with the same means; with a single rater, a judge is compared
    with this rater.
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
    estimate = spearman(first, second)
    return estimate.value if estimate else None


def _both(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The values where both have one."""
    both = ~(np.isnan(first) | np.isnan(second))
    return first[both], second[both]


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of the defined values; None without any."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
