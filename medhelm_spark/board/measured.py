"""One stat of the runs of a column, measured on the instances that two of the runs share."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from medhelm_spark.board.runs import BoardRun
from medhelm_spark.board.scores import side_by_side
from medhelm_spark.domain.stats import UNBOUNDED, MetricInfo
from medhelm_spark.metrics import Params, RunMetric, run_metric_behind
from medhelm_spark.statistics.common import OnCommon
from medhelm_spark.statistics.jackknife import pseudo_values
from medhelm_spark.statistics.paired import Labels, PairedDifference, Values, paired_difference
from medhelm_spark.statistics.shares import Share, shares_by_row


class Measured(Protocol):
    """The runs of a column by index; `units` is what is resampled together, by instance.

    `instances` are the ids; an instance has an index for each of its trials where these count.
    """

    @property
    def units(self) -> pa.DictionaryArray: ...

    @property
    def instances(self) -> pa.Array: ...

    def difference(self, first: int, second: int) -> PairedDifference:
        """First minus second on the instances that both have."""
        ...

    def on_common(self, first: int, second: int) -> OnCommon:
        """The stat of both on the instances that both have."""
        ...

    def among(self, chosen: NDArray[np.bool_]) -> "Measured":
        """The same runs on the `chosen` instances, shape (instances,)."""
        ...

    def has_value(self, run: int) -> NDArray[np.bool_]:
        """On which instances a run has all that the stat is made of; shape (instances,)."""
        ...

    def denominators(self, run: int) -> Mapping[str, NDArray[np.bool_]]:
        """By stat that is a share of a part of the run's answers, this part; shape (instances,).

        All such stats of the metric are named, as the sensitivity beside a balanced accuracy;
        none where each instance has the stat.
        """
        ...


def needed_stats(run: BoardRun, main_metric: str) -> tuple[str, ...]:
    """The stats of instances that a main metric is measured by."""
    of_run = run_metric_behind(main_metric, run.run_spec.metrics)
    return tuple(of_run[0].reads(of_run[1])) if of_run else (main_metric,)


def measured(
    run: BoardRun, main_metric: str, scores: pa.Table, run_spec_ids: Sequence[str]
) -> Measured:
    """The main metric of these runs of one scenario and split.

    Args:
        run: one of the runs; it has the metric's arguments and scale.
        main_metric: the metric of the column.
        scores: rows of `per_instance_stats` of these runs on the split.
        run_spec_ids: the runs, in the order of their indices.
    """
    scale = run.info or UNBOUNDED
    of_run = run_metric_behind(main_metric, run.run_spec.metrics)
    if of_run is None:
        aligned = side_by_side(scores, run_spec_ids, [main_metric])
        return InstanceStat(
            aligned.values[:, :, 0], aligned.clusters, scale, aligned.drawn, aligned.plain_ids
        )
    metric, params = of_run
    aligned = side_by_side(scores, run_spec_ids, metric.reads(params), by_trial=True)
    labels = aligned.clusters
    if labels is None and run.run_spec.adapter_spec.requests_per_instance > 1:
        labels = aligned.labels
    index = [stat.name for stat in metric.emitted(params)].index(main_metric)
    return RunStat(
        metric, params, index, aligned.values, labels, scale, aligned.drawn, aligned.plain_ids
    )


@dataclass(frozen=True, slots=True)
class InstanceStat:
    """A stat that each instance has; `values` of shape (runs, instances)."""

    values: Values
    clusters: Labels | None
    scale: MetricInfo
    units: pa.DictionaryArray
    instances: pa.Array

    def among(self, chosen: NDArray[np.bool_]) -> "InstanceStat":
        """See Measured."""
        return replace(
            self,
            values=self.values[:, chosen],
            clusters=None if self.clusters is None else self.clusters[chosen],
            units=self.units.filter(pa.array(chosen)),
            instances=self.instances.filter(pa.array(chosen)),
        )

    def difference(self, first: int, second: int) -> PairedDifference:
        return paired_difference(self.values[first], self.values[second], self.scale, self.clusters)

    def has_value(self, run: int) -> NDArray[np.bool_]:
        """See Measured."""
        is_known: NDArray[np.bool_] = ~np.isnan(self.values[run])
        return is_known

    def denominators(self, run: int) -> Mapping[str, NDArray[np.bool_]]:
        """See Measured."""
        return {}

    def on_common(self, first: int, second: int) -> OnCommon:
        both = self.has_value(first) & self.has_value(second)
        if not both.any():
            return OnCommon.nothing(len(both))
        parts = self.values[[first, second]][:, both]
        return OnCommon(both=both, values=parts.mean(axis=1), parts=parts)


@dataclass(frozen=True, slots=True)
class RunStat:
    """A stat of whole runs; `rows` of shape (runs, instances, stats) are what the metric reads."""

    metric: RunMetric
    params: Params
    stat_index: int
    rows: NDArray[np.float64]
    clusters: Labels | None
    scale: MetricInfo
    units: pa.DictionaryArray
    instances: pa.Array
    known: dict[tuple[int, bytes], "_OfRun"] = field(default_factory=dict)
    """Stats by run and instances, measured once: a run is in many pairs."""

    def among(self, chosen: NDArray[np.bool_]) -> "RunStat":
        """See Measured."""
        return replace(
            self,
            rows=self.rows[:, chosen],
            clusters=None if self.clusters is None else self.clusters[chosen],
            units=self.units.filter(pa.array(chosen)),
            instances=self.instances.filter(pa.array(chosen)),
            known={},
        )

    def difference(self, first: int, second: int) -> PairedDifference:
        """First minus second; without a test where leaving out an instance leaves no value.

        A share of the same instances in both runs is compared on these instances: right or wrong.
        """
        first_whole, second_whole = (self.has_value(run) for run in (first, second))
        both = first_whole & second_whole
        n, dropped = int(both.sum()), int((first_whole ^ second_whole).sum())
        if n == 0:
            return PairedDifference(n=0, num_dropped=dropped)
        labels = None if self.clusters is None else self.clusters[both]
        ours, theirs = (self._measured(run, both) for run in (first, second))
        if (
            ours.hits is not None
            and theirs.hits is not None
            and np.array_equal(np.isnan(ours.hits), np.isnan(theirs.hits))
        ):
            paired = paired_difference(ours.hits, theirs.hits, self.scale, labels)
            return replace(paired, num_dropped=dropped)
        if ours.value is None or theirs.value is None:
            return PairedDifference(n=n, num_dropped=dropped)
        if np.isnan(ours.pseudo).any() or np.isnan(theirs.pseudo).any():
            mean = ours.value - theirs.value
            return PairedDifference(n=n, num_dropped=dropped, mean_difference=mean)
        paired = paired_difference(ours.pseudo, theirs.pseudo, self.scale, labels, is_of_runs=True)
        return replace(paired, num_dropped=dropped)

    def on_common(self, first: int, second: int) -> OnCommon:
        both = self.has_value(first) & self.has_value(second)
        if not both.any():
            return OnCommon.nothing(len(both))
        ours, theirs = (self._measured(run, both) for run in (first, second))
        if ours.value is None or theirs.value is None:
            return OnCommon.nothing(len(both))
        return OnCommon(
            both=both,
            values=np.array([ours.value, theirs.value]),
            parts=np.stack([ours.pseudo, theirs.pseudo]),
        )

    def has_value(self, run: int) -> NDArray[np.bool_]:
        """See Measured."""
        whole: NDArray[np.bool_] = ~np.isnan(self.rows[run]).any(axis=1)
        return whole

    def denominators(self, run: int) -> Mapping[str, NDArray[np.bool_]]:
        """See Measured."""
        is_whole = self.has_value(run)
        distinct, inverse = np.unique(self.rows[run][is_whole], axis=0, return_inverse=True)
        parts: dict[str, NDArray[np.bool_]] = {}
        stats = self.metric.emitted(self.params)
        for stat, shares in zip(stats, self._shares(distinct), strict=False):
            if len(shares) == 1:
                parts[stat.name] = np.zeros(len(is_whole), bool)
                parts[stat.name][is_whole] = (shares[0].counts > 0)[inverse.reshape(-1)]
        return parts

    def _measured(self, run: int, both: NDArray[np.bool_]) -> "_OfRun":
        """The stat of one run on the instances that it shares with another."""
        key = run, both.tobytes()
        if key not in self.known:
            self.known[key] = self._of_run(self.rows[run][both])
        return self.known[key]

    def _of_run(self, rows: NDArray[np.float64]) -> "_OfRun":
        distinct, inverse, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        inverse = inverse.reshape(-1)

        def measure(weights: NDArray[np.int64]) -> Sequence[float | None]:
            return [self.metric.fn(distinct, weights, self.params)[self.stat_index]]

        return _OfRun(
            value=measure(counts)[0],
            pseudo=pseudo_values(measure, counts)[0][inverse],
            hits=self._hits(distinct, inverse),
        )

    def _hits(self, distinct: NDArray[np.float64], inverse: NDArray[np.int64]) -> Values | None:
        """1 and 0 on the instances that count in a share, NaN on others; None of other stats.

        An average of several shares is not a share.
        """
        shares = self._shares(distinct)
        if not shares or len(shares[self.stat_index]) != 1:
            return None
        (share,) = shares[self.stat_index]
        hits: Values = np.where(share.counts > 0, share.hits, math.nan)[inverse]
        return hits

    def _shares(self, distinct: NDArray[np.float64]) -> Sequence[Sequence[Share]]:
        """By stat, the shares that it is the mean of; empty without distinct rows or shares."""
        fn = self.metric.shares
        if fn is None or not len(distinct):
            return []
        return shares_by_row(lambda rows, weights: fn(rows, weights, self.params), distinct)


@dataclass(frozen=True, slots=True)
class _OfRun:
    """A stat of one run: its value, its pseudo-value by instance, and its hits where it is a share.

    The arrays have the shape (instances,).
    """

    value: float | None
    pseudo: Values
    hits: Values | None
