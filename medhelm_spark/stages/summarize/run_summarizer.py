"""Stats of whole runs from counted rows: values, intervals and draws of run-level metrics.

Rows stream into numpy columns, 8 bytes a value.
"""

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.run import MetricSpec
from medhelm_spark.domain.stats import ComputedOn, Interval, MetricInfo, Stat, Summary, values_of
from medhelm_spark.metrics import Params, RunMetric, run_metrics_for
from medhelm_spark.metrics.metric import Columns, SharesFn, Weights
from medhelm_spark.stages.comparability import StatKeys, keyed
from medhelm_spark.statistics.bootstrap import DRAWS, Units, measure_draws
from medhelm_spark.statistics.clusters import cluster_totals
from medhelm_spark.statistics.intervals import bounded_score, clustered, student_t
from medhelm_spark.statistics.jackknife import pseudo_values
from medhelm_spark.statistics.shares import (
    Clustering,
    Share,
    mean_interval_of,
    share_interval,
    shares_by_row,
    wider,
)
from medhelm_spark.statistics.summary import NOTHING

MAX_ROWS = 4096
"""With more distinct rows, a stat that is no share has neither interval nor draws, because it is
computed once without each row."""

GROUP = ("run_spec_id", "place", "split", "perturbation", "computed_on")

COMPARISONS = (ComputedOn.ORIGINAL, ComputedOn.WORST)
"""Stats of a perturbation beside those of its own answers."""

Numbers = dict[str, Any]
"""Fields of a Stat."""
Pick = Callable[[Sequence[float]], Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """How many instances of a group have these values of the stats that a run-level metric reads.

    `perturbation` and `computed_on` are as in `domain.stats.Stat`; rows of MEAN also give WORST and
    SPREAD. For WORST and INVARIANCE the values are those of several answers to an instance, one
    after the other; for MEAN those of the prompt or repeat that `whole` names. `units` are the
    hashes of the rows' clusters, or instances, if they are needed: for clustered and repeated
    answers, and if the metric is resampled.
    """

    run_spec_id: str
    place: int
    split: str
    perturbation: str
    values: tuple[float | None, ...]
    rows: int
    computed_on: str | None = None
    whole: str = ""
    is_clustered: bool = False
    units: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CountedRows:
    """The complete rows of one metric on one split, each distinct one once.

    `columns` has the shape (rows, stats); `weights`, of shape (rows,), is how many instances have
    each row. `units` and `rows` are the unit and the distinct row of every instance, empty if
    nothing is resampled by unit; `unscored` instances lack a value.
    """

    columns: Columns
    weights: Weights
    units: Units
    rows: NDArray[np.int64]
    is_clustered: bool
    unscored: int

    def counts(self, part: NDArray[np.float64] | None = None) -> Numbers:
        """The numbers of answers and of their clusters, by the names of Stat.

        Args:
            part: above 0 for the distinct rows that count for a share of a part of the answers; the
                clusters are those of this part.
        """
        return {
            "count": int(self.weights.sum()),
            "num_unscored": self.unscored,
            "denominator": None if part is None else int(self.weights @ part),
            **self._clusters(part),
        }

    def _clusters(self, part: NDArray[np.float64] | None) -> Numbers:
        if not self.is_clustered:
            return {}
        units = self.units if part is None else self.units[part[self.rows] > 0]
        return {
            "num_clusters": len(np.unique(units)),
            "num_effective_clusters": cluster_totals(units, np.zeros(len(units))).effective,
        }


@dataclass(frozen=True, slots=True)
class RunSummarizer:
    """The function of this step: counted rows in, sorted by group; stats of whole runs out.

    `trials` is how often a RunSpec asks each instance; `mains` are main metric and main split.
    """

    metrics: Mapping[str, tuple[MetricSpec, ...]]
    keys: Mapping[str, StatKeys] = field(default_factory=dict)
    trials: Mapping[str, int] = field(default_factory=dict)
    mains: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    together: ClassVar[Sequence[str]] = GROUP
    """Rows that are equal in these columns of Observed go to one partition."""

    def __call__(self, rows: Iterable[Observed]) -> Iterator[Stat]:
        for key, group in groupby(rows, attrgetter(*GROUP)):
            (metric, params), key_fields = self._metric(key), key_of(key)
            if key_fields["computed_on"] is ComputedOn.MEAN:
                made = _of_wholes(metric, params, group)
            elif key_fields["computed_on"] is ComputedOn.INVARIANCE:
                made = self._invariance(metric, params, group, key_fields["run_spec_id"])
            elif key_fields["computed_on"] is ComputedOn.WORST and metric.is_right is None:
                made = iter(())
            else:
                made = self._whole(metric, params, group, key_fields)
            for numbers in made:
                yield keyed(
                    Stat(**{**values_of(NOTHING, Summary), **key_fields, **numbers}), self.keys
                )

    def _metric(self, key: Sequence[Any]) -> tuple[RunMetric, Params]:
        run_spec_id, index, *_ = key
        metric, params = run_metrics_for(self.metrics[run_spec_id])[index]
        return metric, params

    def _clustering(self, group: CountedRows, run_spec_id: str) -> Clustering | None:
        """The clustering for the intervals of a group with dependent answers, else None."""
        is_joint = group.is_clustered or self.trials.get(run_spec_id, 1) > 1
        return Clustering(group.rows, group.units) if is_joint else None

    def _whole(
        self, metric: RunMetric, params: Params, rows: Iterable[Observed], key: Mapping[str, Any]
    ) -> Iterator[Numbers]:
        """The metric's stats over a group; for a comparison only those with a direction."""
        width = len(metric.reads(params))
        pick = _worst_of(metric, width) if key["computed_on"] is ComputedOn.WORST else None
        return self._of_group(metric, params, counted_rows(rows, width, pick), key)

    def _of_group(
        self, metric: RunMetric, params: Params, group: CountedRows, key: Mapping[str, Any]
    ) -> Iterator[Numbers]:
        """The same for rows that were counted."""
        computed_on, stats = key["computed_on"], metric.emitted(params)
        clustering = self._clustering(group, key["run_spec_id"])
        main = self.mains.get(key["run_spec_id"])
        drawn: Sequence[tuple[float, ...] | None] = [None] * len(stats)
        if not key["perturbation"] and main in {(stat.name, key["split"]) for stat in stats}:
            drawn = _drawn(metric, params, group)
        values, intervals, counted = _measured(metric, params, group, clustering)
        columns = zip(stats, values, intervals, counted, drawn, strict=True)
        for stat, value, interval, part, draws in columns:
            if computed_on in COMPARISONS and stat.lower_is_better is None:
                continue
            is_main = main == (stat.name, key["split"]) and not key["perturbation"]
            yield {
                "name": stat.name,
                **group.counts(part),
                "mean": value,
                **_ends(interval),
                "draws": draws if is_main else None,
            }

    def _invariance(
        self, metric: RunMetric, params: Params, rows: Iterable[Observed], run_spec_id: str
    ) -> Iterator[Numbers]:
        """The share of instances whose original and copies have the same values, by stat."""
        width = len(metric.reads(params))
        group = counted_rows(rows, 1, lambda values: (float(len(values) == width),))
        clustering = self._clustering(group, run_spec_id)
        share = Share(group.columns[:, 0], np.ones(len(group.columns)))
        is_known = len(group.weights) > 0
        interval = share_interval(share, group.weights, clustering) if is_known else None
        for stat in metric.emitted(params):
            if stat.lower_is_better is not None:
                yield {
                    "name": stat.name,
                    **group.counts(),
                    "mean": share.mean(group.weights) if is_known else None,
                    **_ends(interval),
                }


def key_of(key: Sequence[Any]) -> dict[str, Any]:
    """The key of a group by the names of Stat."""
    run_spec_id, _, split, perturbation, computed_on = key
    return {
        "run_spec_id": run_spec_id,
        "split": split,
        "perturbation": perturbation,
        "computed_on": ComputedOn(computed_on) if computed_on else None,
    }


def _ends(interval: Interval | None) -> Numbers:
    if interval is None:
        return {}
    return {"ci_low": interval.low, "ci_high": interval.high, "ci_method": interval.method}


def _of_wholes(
    metric: RunMetric, params: Params, group_rows: Iterable[Observed]
) -> Iterator[Numbers]:
    """Mean, worst and spread of a stat's values for each prompt, or each repeat."""
    width = len(metric.reads(params))
    by_whole = []
    for _, rows in groupby(group_rows, attrgetter("whole")):
        group = counted_rows(rows, width)
        if len(group.weights):
            by_whole.append(metric.fn(group.columns, group.weights, params))
    for stat, column in zip(metric.emitted(params), zip(*by_whole, strict=True), strict=False):
        known = [value for value in column if value is not None and math.isfinite(value)]
        if not known or stat.lower_is_better is None:
            continue
        worst = max(known) if stat.lower_is_better else min(known)
        for computed_on, value in (
            (ComputedOn.MEAN, math.fsum(known) / len(known)),
            (ComputedOn.WORST, worst),
            (ComputedOn.SPREAD, max(known) - min(known)),
        ):
            yield {
                "name": stat.name,
                "computed_on": computed_on,
                "count": len(known),
                "mean": value,
            }


def _worst_of(metric: RunMetric, width: int) -> Pick:
    """Picks the worst of several answers to an instance: a wrong one, else any.

    Of several wrong answers it picks the last in ascending order of their values, which is a class
    before an abstention.
    """

    def pick(values: Sequence[float]) -> Sequence[float]:
        answers = np.array(values, np.float64).reshape(-1, width)
        if metric.is_right is None:
            return tuple(answers[-1])
        wrong = answers[~metric.is_right(answers)]
        return tuple(wrong[-1] if len(wrong) else answers[-1])

    return pick


def counted_rows(observed: Iterable[Observed], width: int, pick: Pick | None = None) -> CountedRows:
    """The complete rows as columns with their counts; `pick` selects a row's values.

    They are sorted, because sums and resamples depend on the order and Spark keeps none.
    """
    values, counts, units, unscored, is_clustered = array("d"), array("q"), array("q"), 0, False
    sizes = array("q")
    for row in observed:
        known = [value for value in row.values if value is not None and math.isfinite(value)]
        if len(known) < len(row.values) or not known:
            unscored += row.rows
        else:
            values.extend(pick(known) if pick else known)
            counts.append(row.rows)
            units.extend(row.units)
            sizes.append(len(row.units))
            is_clustered = is_clustered or row.is_clustered
    columns = np.frombuffer(values, np.float64).reshape(-1, width)
    weights = np.frombuffer(counts, np.int64)
    # The weight comes last: rows of different answers may be equal once one answer is picked.
    order = np.lexsort((weights, *columns.T))
    row_of = np.repeat(np.argsort(order), np.frombuffer(sizes, np.int64))
    by_row = np.argsort(row_of, kind="stable")
    return CountedRows(
        columns=columns[order],
        weights=weights[order],
        units=np.frombuffer(units, np.uint64)[by_row],
        rows=row_of[by_row],
        is_clustered=is_clustered,
        unscored=unscored,
    )


def _drawn(
    metric: RunMetric, params: Params, group: CountedRows
) -> Sequence[tuple[float, ...] | None]:
    """The resampled values of each of a metric's stats; None if a resample has no value."""
    nothing = [None] * len(metric.emitted(params))
    if not len(group.units) or len(group.weights) > MAX_ROWS:
        return nothing
    drawn = measure_draws(
        lambda weights: metric.fn(group.columns, weights, params),
        group.units,
        group.rows,
        len(group.weights),
    )
    if drawn is None:
        return nothing
    columns = (
        tuple(value for value in values if value is not None and math.isfinite(value))
        for values in zip(*drawn, strict=True)
    )
    return [values if len(values) == DRAWS else None for values in columns]


def _measured(
    metric: RunMetric, params: Params, group: CountedRows, clustering: Clustering | None
) -> tuple[Sequence[float | None], Sequence[Interval | None], Sequence[NDArray[np.float64] | None]]:
    """The values of a metric's stats, their intervals, and the rows that count for a share."""
    stats = metric.emitted(params)
    nothing = [None] * len(stats)
    if not len(group.weights):
        return nothing, nothing, nothing
    measured = metric.fn(group.columns, group.weights, params)
    values = [
        None if value is None else stat.accepted(value)
        for stat, value in zip(stats, measured, strict=True)
    ]
    shares = _shares(metric.shares, metric, group, params)
    overlaps = _shares(metric.overlaps, metric, group, params)
    pseudo = _Pseudo(metric, params, group, clustering)
    intervals: list[Interval | None] = []
    for index, (stat, value) in enumerate(zip(stats, values, strict=True)):
        interval = None
        if value is not None and stat.name not in metric.biased:
            if shares[index]:
                interval = mean_interval_of(shares[index], group.weights, clustering)
            elif classes := [share for share in overlaps[index] if group.weights @ share.counts]:
                interval = mean_interval_of(classes, group.weights, clustering, are_f1=True)
                if len(classes) > 1:  # an error concerns two classes: they are not independent
                    interval = wider(interval, pseudo.interval(index, stat))
            else:
                interval = pseudo.interval(index, stat)
        intervals.append(interval)
    counted = [parts[0].counts if len(parts) == 1 else None for parts in shares]
    return values, intervals, counted


def _shares(
    fn: SharesFn | None, metric: RunMetric, group: CountedRows, params: Params
) -> list[list[Share]]:
    """The shares of each stat by distinct row; empty for a stat that is no mean of shares."""
    if fn is None:
        return [[] for _ in metric.emitted(params)]
    return shares_by_row(lambda rows, weights: fn(rows, weights, params), group.columns)


class _Pseudo:
    """Intervals of a metric's stats from their pseudo-values, which are computed at most once."""

    def __init__(
        self, metric: RunMetric, params: Params, group: CountedRows, clustering: Clustering | None
    ) -> None:
        self._metric, self._params = metric, params
        self._group, self._clustering = group, clustering

    @cached_property
    def _values(self) -> NDArray[np.float64]:
        group = self._group
        return pseudo_values(
            lambda weights: self._metric.fn(group.columns, weights, self._params), group.weights
        )

    def interval(self, index: int, stat: MetricInfo) -> Interval | None:
        """The interval of one stat; None with too many rows or without all pseudo-values."""
        weights = self._group.weights
        if len(weights) > MAX_ROWS or np.isnan(values := self._values[index]).any():
            return None
        n = float(weights.sum())
        mean = float(weights @ values / n)
        # By a rounding error the mean may be beyond the end of the scale.
        low = None if stat.minimum is None else min(stat.minimum, mean)
        high = None if stat.maximum is None else max(stat.maximum, mean)
        if self._clustering:
            totals = cluster_totals(self._clustering.labels, values[self._clustering.rows])
            if not totals.are_single:
                return clustered(totals, low, high)
        variance = float(weights @ (values - mean) ** 2 / n)
        if low is None or high is None:
            return student_t(mean, variance, n, low, high)
        part = self._metric.rests_on.get(stat.name, 1.0)
        return bounded_score(mean, part * variance, max(1.0, part * n), low, high)
