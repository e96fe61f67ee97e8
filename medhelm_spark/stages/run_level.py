"""Run-level metrics over Spark: columns of per-instance stats in, stats of whole runs out.

Equal rows are counted in SQL; what is left of a RunSpec goes to one partition and streams into
numpy columns there (8 bytes a value), so that neither the driver nor one Spark row holds a run.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.domain.run import MetricSpec, RunSpec
from medhelm_spark.domain.stats import ComputedOn, Interval, IntervalMethod, Stat
from medhelm_spark.lake.rows import map_rows
from medhelm_spark.metrics import Params, RunMetric, run_metrics_for
from medhelm_spark.metrics.metric import Columns, Shares, Weights
from medhelm_spark.stages.comparability import StatKeys, keyed
from medhelm_spark.stages.context import Context
from medhelm_spark.statistics.intervals import bootstrap_rows, mean_of_shares

GROUP = ("run_spec_id", "place", "split", "perturbation")

# Names and values apart: their positions are found without a function call per stat.
OBSERVED = """
SELECT run_spec_id, place, split, perturbation, values, count(*) AS rows
FROM (SELECT s.run_spec_id, w.place, s.split, s.perturbation,
             transform(w.reads, name ->
               get(s.numbers, CAST(array_position(s.names, name) AS INT) - 1)) AS values
      FROM (SELECT run_spec_id, split, perturbation,
                   stats.name AS names, stats.value AS numbers
            FROM {scored}) s
      JOIN {wanted} w ON w.run_spec_id = s.run_spec_id)
GROUP BY run_spec_id, place, split, perturbation, values
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The per-instance stats that a RunSpec's run-level metric reads, by the metric's place."""

    run_spec_id: str
    place: int
    reads: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """How many instances of a group have these values of what a run-level metric reads."""

    run_spec_id: str
    place: int
    split: str
    perturbation: str
    values: tuple[float | None, ...]
    rows: int


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
    trials = {spec.run_spec_id: spec.adapter_spec.times_asked for spec in specs}
    wanted = [
        Wanted(run_spec_id=key, place=place, reads=metric.reads(params))
        for key, named in metrics.items()
        for place, (metric, params) in enumerate(run_metrics_for(named))
    ]
    if not wanted:
        return None
    rows = F.broadcast(ctx.lake.frame(wanted, Wanted))
    observed = ctx.lake.query(OBSERVED, scored=scored, wanted=rows)
    partitioned = observed.repartition(ctx.cores, *GROUP).sortWithinPartitions(*GROUP)
    # Exchanged once more, so that the writer's single task does not compute all of it.
    summarizer = RunSummarizer(metrics, seed, keys, trials)
    return map_rows(partitioned, summarizer, Observed, Stat).repartition(1)


@dataclass(frozen=True, slots=True)
class RunSummarizer:
    """The function of this step: counted rows in, sorted by group; stats of whole runs out.

    `trials` is how often a RunSpec asks each instance, where that is more than once.
    """

    metrics: Mapping[str, tuple[MetricSpec, ...]]
    seed: int
    keys: Mapping[str, StatKeys] = field(default_factory=dict)
    trials: Mapping[str, int] = field(default_factory=dict)

    def __call__(self, rows: Iterable[Observed]) -> Iterator[Stat]:
        for (run_spec_id, place, split, perturbation), group in groupby(rows, attrgetter(*GROUP)):
            metric, params = run_metrics_for(self.metrics[run_spec_id])[place]
            columns, weights, unscored = _columns(group, len(metric.reads(params)))
            trials = self.trials.get(run_spec_id, 1)
            values, intervals = _measured(metric, params, columns, weights, self.seed, trials)
            stats = metric.emitted(params)
            for stat, value, interval in zip(stats, values, intervals, strict=True):
                stat = Stat(
                    run_spec_id=run_spec_id,
                    name=stat.name,
                    split=split,
                    perturbation=perturbation,
                    computed_on=ComputedOn.PERTURBED if perturbation else None,
                    count=int(weights.sum()),
                    num_unscored=unscored,
                    mean=value,
                    stddev=None,
                    minimum=None,
                    maximum=None,
                    ci_low=interval.low if interval else None,
                    ci_high=interval.high if interval else None,
                    ci_method=interval.method if interval else IntervalMethod.NONE,
                )
                yield keyed(stat, self.keys)


def _columns(group: Iterable[Observed], width: int) -> tuple[Columns, Weights, int]:
    """The complete rows as columns with their counts, and the number of incomplete rows.

    The rows are put in order, because sums and resamples depend on it and Spark keeps none.
    """
    values, counts, incomplete = array("d"), array("q"), 0
    for row in group:
        if None in row.values:
            incomplete += row.rows
        else:
            values.extend(row.values)  # type: ignore[arg-type]
            counts.append(row.rows)
    columns = np.frombuffer(values, np.float64).reshape(-1, width)
    order = np.lexsort(columns.T)
    return columns[order], np.frombuffer(counts, np.int64)[order], incomplete


def _measured(
    metric: RunMetric, params: Params, columns: Columns, weights: Weights, seed: int, trials: int
) -> tuple[Sequence[float | None], Sequence[Interval | None]]:
    """The values of a metric's stats, and their intervals where there are any."""
    stats = metric.emitted(params)
    if not len(weights):
        nothing = [None] * len(stats)
        return nothing, nothing
    values = metric.fn(columns, weights, params)
    bootstrapped = bootstrap_rows(
        lambda drawn: metric.fn(columns, drawn, params),
        weights,
        seed=seed,
        scales=[(stat.minimum, stat.maximum) for stat in stats],
        trials=trials,
    )
    all_shares = metric.shares(columns, weights, params) if metric.shares else [()] * len(stats)
    intervals = [
        None
        if value is None or stat.name in metric.biased
        else _interval_of(shares, trials)
        if shares
        else interval
        for stat, value, shares, interval in zip(
            stats, values, all_shares, bootstrapped, strict=True
        )
    ]
    return values, intervals


def _interval_of(shares: Shares, trials: int) -> Interval:
    """Of shares of instances; with `trials` each, all answers to an instance count as one."""
    return mean_of_shares([(hits / trials, of / trials) for hits, of in shares])
