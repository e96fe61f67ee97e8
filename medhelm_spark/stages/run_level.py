"""Run-level metrics over Spark: columns of per-instance stats in, stats of whole runs out.

Equal rows are counted in SQL; what is left of a RunSpec goes to one partition and streams into
numpy columns there (8 bytes a value), so that neither the driver nor one Spark row holds a run.
"""

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.domain.run import MetricSpec, RunSpec
from medhelm_spark.domain.stats import ComputedOn, Interval, IntervalMethod, Stat
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.metrics import Params, RunMetric, run_metrics_for
from medhelm_spark.metrics.metric import Columns, Shares, Weights
from medhelm_spark.stages.comparability import StatKeys, keyed
from medhelm_spark.stages.context import Context
from medhelm_spark.statistics.bootstrap import DRAWS, Units, measure_draws
from medhelm_spark.statistics.intervals import (
    MAX_ROWS,
    bootstrap_rows,
    mean_of_shares,
    resampled_interval,
)

GROUP = ("run_spec_id", "place", "split", "perturbation")

# Names and values apart: their positions are found without a function call per stat.
OBSERVED = """
SELECT run_spec_id, place, split, perturbation, values, count(*) AS rows,
       max(cluster_id) IS NOT NULL AS is_clustered,
       collect_list(CASE WHEN cluster_id IS NOT NULL OR is_main AND perturbation = ''
                         THEN xxhash64(coalesce(cluster_id, instance_id)) END) AS units
FROM (SELECT s.run_spec_id, w.place, w.is_main, s.split, s.perturbation,
             s.cluster_id, s.instance_id,
             transform(w.reads, name ->
               get(s.numbers, CAST(array_position(s.names, name) AS INT) - 1)) AS values
      FROM (SELECT run_spec_id, split, perturbation, cluster_id, instance_id,
                   stats.name AS names, stats.value AS numbers
            FROM {scored}) s
      JOIN {wanted} w ON w.run_spec_id = s.run_spec_id)
GROUP BY run_spec_id, place, split, perturbation, values
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The per-instance stats that a RunSpec's run-level metric reads, by the metric's place.

    `is_main`: it gives the RunSpec's main metric.
    """

    run_spec_id: str
    place: int
    reads: tuple[str, ...]
    is_main: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """How many instances of a group have these values of what a run-level metric reads.

    `units` are the hashes of the rows' clusters, or instances, where the metric is resampled.
    """

    run_spec_id: str
    place: int
    split: str
    perturbation: str
    values: tuple[float | None, ...]
    rows: int
    is_clustered: bool = False
    units: tuple[int, ...] = ()


def versions(specs: Sequence[MetricSpec]) -> list[str]:
    """Part of the summarize stage's fingerprint."""
    return [metric.version for metric, _ in run_metrics_for(specs)]


def run_stats(
    ctx: Context,
    scored: DataFrame,
    specs: Iterable[RunSpec],
    seed: int,
    keys: Mapping[str, StatKeys],
) -> DataFrame | None:
    """The stats of the run-level metrics of these RunSpecs; None where there is no such metric.

    Args:
        ctx: the lake.
        scored: their current rows of `per_instance_stats`.
        specs: whose metrics count.
        seed: of the intervals.
        keys: what their stats rest on, by run_spec_id.
    """
    specs = list(specs)
    metrics = {spec.run_spec_id: spec.metrics for spec in specs}
    mains = {spec.run_spec_id: (spec.main_metric, spec.main_split) for spec in specs}
    trials = {spec.run_spec_id: spec.adapter_spec.times_asked for spec in specs}
    wanted = [
        Wanted(
            run_spec_id=key,
            place=place,
            reads=metric.reads(params),
            is_main=mains[key][0] in {stat.name for stat in metric.emitted(params)},
        )
        for key, named in metrics.items()
        for place, (metric, params) in enumerate(run_metrics_for(named))
    ]
    if not wanted:
        return None
    rows = F.broadcast(ctx.lake.frame(wanted, Wanted))
    observed = ctx.lake.query(OBSERVED, scored=scored, wanted=rows)
    partitioned = observed.repartition(ctx.cores, *GROUP).sortWithinPartitions(*GROUP)
    # Exchanged once more, so that the writer's single task does not compute all of it.
    summarizer = RunSummarizer(metrics, seed, keys, trials, mains)
    return map_rows(partitioned, summarizer, Observed, Stat).repartition(1)


@dataclass(frozen=True, slots=True)
class _Group:
    """The complete rows of one metric on one split, each distinct one once.

    `columns` of shape (rows, stats) and `weights`, how many instances have each, of shape (rows,);
    `units` and `rows` are the unit and the distinct row of every instance, empty where nothing is
    resampled by unit; `unscored` instances lack a value.
    """

    columns: Columns
    weights: Weights
    units: Units
    rows: NDArray[np.int64]
    is_clustered: bool
    unscored: int

    @property
    def num_clusters(self) -> int | None:
        return len(np.unique(self.units)) if self.is_clustered else None


@dataclass(frozen=True, slots=True)
class RunSummarizer:
    """The function of this step: counted rows in, sorted by group; stats of whole runs out.

    `trials` is how often a RunSpec asks each instance, where that is more than once; `mains` are
    main metric and main split.
    """

    metrics: Mapping[str, tuple[MetricSpec, ...]]
    seed: int
    keys: Mapping[str, StatKeys] = field(default_factory=dict)
    trials: Mapping[str, int] = field(default_factory=dict)
    mains: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def __call__(self, rows: Iterable[Observed]) -> Iterator[Stat]:
        for (run_spec_id, place, split, perturbation), held in groupby(rows, attrgetter(*GROUP)):
            metric, params = run_metrics_for(self.metrics[run_spec_id])[place]
            group = _group(held, len(metric.reads(params)))
            trials = self.trials.get(run_spec_id, 1)
            drawn = _drawn(metric, params, group)
            values, intervals = _measured(metric, params, group, drawn, self.seed, trials)
            stats = metric.emitted(params)
            main = self.mains.get(run_spec_id)
            for stat, value, interval, draws in zip(stats, values, intervals, drawn, strict=True):
                is_main = main == (stat.name, split) and not perturbation
                stat = Stat(
                    run_spec_id=run_spec_id,
                    name=stat.name,
                    split=split,
                    perturbation=perturbation,
                    computed_on=ComputedOn.PERTURBED if perturbation else None,
                    count=int(group.weights.sum()),
                    num_unscored=group.unscored,
                    mean=value,
                    stddev=None,
                    minimum=None,
                    maximum=None,
                    ci_low=interval.low if interval else None,
                    ci_high=interval.high if interval else None,
                    ci_method=interval.method if interval else IntervalMethod.NONE,
                    num_clusters=group.num_clusters,
                    draws=draws if is_main else None,
                )
                yield keyed(stat, self.keys)


def _group(observed: Iterable[Observed], width: int) -> _Group:
    """The complete rows as columns with their counts.

    They are put in order, because sums and resamples depend on it and Spark keeps none.
    """
    values, counts, units, unscored, is_clustered = array("d"), array("q"), array("q"), 0, False
    sizes = array("q")
    for row in observed:
        known = [value for value in row.values if value is not None and math.isfinite(value)]
        if len(known) < width:
            unscored += row.rows
        else:
            values.extend(known)
            counts.append(row.rows)
            units.extend(row.units)
            sizes.append(len(row.units))
            is_clustered = is_clustered or row.is_clustered
    columns = np.frombuffer(values, np.float64).reshape(-1, width)
    order = np.lexsort(columns.T)
    return _Group(
        columns=columns[order],
        weights=np.frombuffer(counts, np.int64)[order],
        units=np.frombuffer(units, np.uint64),
        rows=np.repeat(np.argsort(order), np.frombuffer(sizes, np.int64)),
        is_clustered=is_clustered,
        unscored=unscored,
    )


def _drawn(metric: RunMetric, params: Params, group: _Group) -> Sequence[tuple[float, ...] | None]:
    """The resampled values of each of a metric's stats; None where a resample has none."""
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
    metric: RunMetric,
    params: Params,
    group: _Group,
    drawn: Sequence[tuple[float, ...] | None],
    seed: int,
    trials: int,
) -> tuple[Sequence[float | None], Sequence[Interval | None]]:
    """The values of a metric's stats, and their intervals where there are any."""
    stats = metric.emitted(params)
    if not len(group.weights):
        nothing = [None] * len(stats)
        return nothing, nothing
    measured = metric.fn(group.columns, group.weights, params)
    values = [
        None if value is None else stat.accepted(value)
        for stat, value in zip(stats, measured, strict=True)
    ]
    scales = [(stat.minimum, stat.maximum) for stat in stats]
    if clusters := group.num_clusters:
        resampled = [
            resampled_interval(value, draws, clusters, *scale) if draws else None
            for value, draws, scale in zip(values, drawn, scales, strict=True)
        ]
    else:
        resampled = bootstrap_rows(
            lambda drawn: metric.fn(group.columns, drawn, params),
            group.weights,
            seed=seed,
            scales=scales,
            trials=trials,
        )
    all_shares = (
        metric.shares(group.columns, group.weights, params)
        if metric.shares and not group.is_clustered
        else [()] * len(stats)
    )
    intervals = [
        None
        if value is None or stat.name in metric.biased
        else _interval_of(shares, trials)
        if shares
        else interval
        for stat, value, shares, interval in zip(stats, values, all_shares, resampled, strict=True)
    ]
    return values, intervals


def _interval_of(shares: Shares, trials: int) -> Interval:
    """Of shares of instances; with `trials` each, all answers to an instance count as one."""
    return mean_of_shares([(hits / trials, of / trials) for hits, of in shares])
