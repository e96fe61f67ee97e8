"""Run-level metrics over Spark: columns of per-instance stats in, stats of whole runs out.

Beside the answers as they are, each is computed on perturbed copies (PERTURBED), on the originals
that have one (ORIGINAL), and on the worst answer to each instance among original and copies
(WORST): a wrong one where any is, by metrics that say which answers are right. INVARIANCE is the
share of instances for which all values that the metric reads are the same on original and copies:
of a classification, that the same class was given. Of prompts and repeats MEAN, WORST and SPREAD
are of the stat's value for each of them.

Equal rows are counted in SQL; what is left of a RunSpec goes to one partition and streams into
numpy columns there (8 bytes a value), so that neither the driver nor one Spark row holds a run.
"""

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.run import REPEATS, MetricSpec, RunSpec
from medhelm_spark.domain.stats import ComputedOn, Interval, MetricInfo, Stat, Summary, values_of
from medhelm_spark.lake.rows import Frame, in_one_partition, map_rows, sorted_rows, united
from medhelm_spark.metrics import Params, RunMetric, run_metrics_for
from medhelm_spark.metrics.metric import Columns, SharesFn, Weights
from medhelm_spark.stages.comparability import StatKeys, keyed
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.summarize.robustness import Member, members_of
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
"""Distinct rows beyond which a stat that is no share has neither interval nor draws: it is measured
once without each of them."""

GROUP = ("run_spec_id", "place", "split", "perturbation", "computed_on")

MARK = chr(31)
"""In the name of a split that is a part of something: between the whole's name and the part's.

ASCII's unit separator. Before such a name it means all other parts of that whole."""

# Names and values apart: their positions are found without a function call per stat.
READ = """
SELECT s.run_spec_id, w.place, w.is_main, w.is_repeated, s.split, s.perturbation,
       s.cluster_id, s.instance_id, s.train_trial_index, s.trial_index,
       transform(w.reads, name ->
         get(s.numbers, CAST(array_position(s.names, name) AS INT) - 1)) AS `values`
FROM (SELECT *, transform(stats, s -> s.name) AS names, transform(stats, s -> s.value) AS numbers
      FROM {scored}) s
JOIN {wanted} w ON w.run_spec_id = s.run_spec_id
"""
OBSERVED = f"""
SELECT run_spec_id, place, split, perturbation,
       CASE WHEN perturbation <> '' THEN '{ComputedOn.PERTURBED}' END AS computed_on, '' AS whole,
       `values`, count(*) AS rows, max(cluster_id) IS NOT NULL AS is_clustered,
       collect_list(CASE WHEN cluster_id IS NOT NULL OR is_repeated
                           OR is_main AND perturbation = ''
                         THEN xxhash64(coalesce(cluster_id, instance_id)) END) AS units
FROM {{read}} GROUP BY run_spec_id, place, split, perturbation, `values`
"""

# Of original and copies the distinct answers, one after the other in ascending order: which of them
# is the worst the metric says.
COMPARED = f"""
SELECT run_spec_id, place, split, collection AS perturbation, made.computed_on, '' AS whole,
       made.of AS `values`, count(*) AS rows, max(cluster_id) IS NOT NULL AS is_clustered,
       collect_list(CASE WHEN cluster_id IS NOT NULL OR is_repeated
                         THEN xxhash64(coalesce(cluster_id, instance_id)) END) AS units
FROM (SELECT r.run_spec_id, r.place, r.split, r.instance_id, r.is_repeated,
             m.collection, m.single, m.as_wholes,
             max(r.cluster_id) AS cluster_id,
             max(CASE WHEN r.perturbation = '' THEN r.values END) AS original,
             flatten(sort_array(collect_set(r.values))) AS answers,
             flatten(sort_array(collect_set(CASE WHEN m.keeps_meaning THEN r.values END))) AS kept,
             count_if(r.perturbation <> '') AS copies,
             count_if(r.perturbation <> '' AND m.keeps_meaning) > 0 AS asked
      FROM {{read}} r JOIN {{members}} m
        ON m.run_spec_id = r.run_spec_id AND m.perturbation = r.perturbation
      GROUP BY r.run_spec_id, r.place, r.split, r.instance_id, r.is_repeated, r.train_trial_index,
               r.trial_index, m.collection, m.single, m.as_wholes)
LATERAL VIEW explode(array(
  named_struct('computed_on', '{ComputedOn.ORIGINAL}',
               'of', coalesce(original, array(CAST(NULL AS DOUBLE))), 'wanted', single),
  named_struct('computed_on', '{ComputedOn.WORST}', 'of', answers, 'wanted', NOT as_wholes),
  named_struct('computed_on', '{ComputedOn.INVARIANCE}', 'of', kept, 'wanted', asked)
)) made AS made
WHERE made.wanted AND (copies > 0 OR NOT single)
GROUP BY run_spec_id, place, split, collection, made.computed_on, made.of
"""
WHOLES = f"""
SELECT run_spec_id, place, split, collection AS perturbation, '{ComputedOn.MEAN}' AS computed_on,
       whole, `values`, count(*) AS rows, false AS is_clustered,
       CAST(array() AS ARRAY<BIGINT>) AS units
FROM (SELECT r.run_spec_id, r.place, r.split, m.collection, r.values,
             concat_ws('/', r.perturbation,
                       CASE WHEN m.collection = '{REPEATS}' THEN r.trial_index END) AS whole
      FROM {{read}} r JOIN {{members}} m
        ON m.run_spec_id = r.run_spec_id AND m.perturbation = r.perturbation
      WHERE m.as_wholes)
GROUP BY run_spec_id, place, split, collection, whole, `values`
"""


COMPARISONS = (ComputedOn.ORIGINAL, ComputedOn.WORST)
"""What is computed beside the answers of a perturbation."""

Numbers = dict[str, Any]
"""Fields of a Stat."""
Pick = Callable[[Sequence[float]], Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The per-instance stats that a RunSpec's run-level metric reads, by the metric's place.

    `is_main`: it gives the RunSpec's main metric. `is_repeated`: each instance is asked several
    times.
    """

    run_spec_id: str
    place: int
    reads: tuple[str, ...]
    is_main: bool
    is_repeated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """How many instances of a group have these values of what a run-level metric reads.

    `perturbation` and `computed_on` are as in `domain.stats.Stat`, before MEAN became WORST and
    SPREAD too. Of WORST and INVARIANCE the values are those of several answers to an instance, one
    after the other; of MEAN they are of the prompt or repeat that `whole` names. `units` are the
    hashes of the rows' clusters, or instances, where they matter: of clustered and repeated
    answers, and where the metric is resampled.
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


def versions(specs: Sequence[MetricSpec]) -> list[str]:
    """Part of the summarize stage's fingerprint."""
    return [metric.version for metric, _ in run_metrics_for(specs)]


def run_stats(
    ctx: Context,
    scored: Frame,
    specs: Iterable[RunSpec],
    keys: Mapping[str, StatKeys],
    *,
    are_parts: bool = False,
) -> Frame | None:
    """The stats of the run-level metrics of these RunSpecs; None where there is no such metric.

    Args:
        ctx: the lake.
        scored: their current rows of `per_instance_stats`.
        specs: whose metrics count.
        keys: what their stats rest on, by run_spec_id.
        are_parts: whether the splits are parts, as MARK says, so that each stat is also computed
            over all other parts of the same whole.
    """
    specs = list(specs)
    metrics = {spec.run_spec_id: spec.metrics for spec in specs}
    mains = {spec.run_spec_id: (spec.main_metric, spec.main_split) for spec in specs}
    trials = {spec.run_spec_id: spec.adapter_spec.requests_per_instance for spec in specs}
    wanted = [
        Wanted(
            run_spec_id=key,
            place=place,
            reads=metric.reads(params),
            is_main=mains[key][0] in {stat.name for stat in metric.emitted(params)},
            is_repeated=trials[key] > 1,
        )
        for key, named in metrics.items()
        for place, (metric, params) in enumerate(run_metrics_for(named))
    ]
    if not wanted:
        return None
    rows = ctx.lake.frame(wanted, Wanted)
    read = ctx.lake.query(READ, scored=scored, wanted=rows)
    observed = [ctx.lake.query(OBSERVED, read=read)]
    if members := members_of(specs):
        frame = ctx.lake.frame(members, Member)
        observed += [ctx.lake.query(sql, read=read, members=frame) for sql in (COMPARED, WHOLES)]
    together = GROUP[:2] if are_parts else GROUP
    partitioned = sorted_rows(united(observed), *GROUP, "whole", partitions=ctx.cores, by=together)
    # Exchanged once more, so that the writer's single task does not compute all of it.
    kind = PartSummarizer if are_parts else RunSummarizer
    summarizer = kind(metrics, keys, trials, mains)
    return in_one_partition(map_rows(partitioned, summarizer, Observed, Stat), is_exchanged=True)


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

    def counts(self, part: NDArray[np.float64] | None = None) -> Numbers:
        """How many answers there are, by the names of Stat, and how many clusters of them.

        Args:
            part: above 0 for the distinct rows that a share of a part of the answers rests on; the
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

    `trials` is how often a RunSpec asks each instance, where that is more than once; `mains` are
    main metric and main split.
    """

    metrics: Mapping[str, tuple[MetricSpec, ...]]
    keys: Mapping[str, StatKeys] = field(default_factory=dict)
    trials: Mapping[str, int] = field(default_factory=dict)
    mains: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def __call__(self, rows: Iterable[Observed]) -> Iterator[Stat]:
        for key, held in groupby(rows, attrgetter(*GROUP)):
            (metric, params), of = self._metric(key), _named(key)
            if of["computed_on"] is ComputedOn.MEAN:
                made = _of_wholes(metric, params, held)
            elif of["computed_on"] is ComputedOn.INVARIANCE:
                made = self._invariance(metric, params, held, of["run_spec_id"])
            elif of["computed_on"] is ComputedOn.WORST and metric.is_right is None:
                made = iter(())
            else:
                made = self._whole(metric, params, held, of)
            for numbers in made:
                yield keyed(Stat(**{**values_of(NOTHING, Summary), **of, **numbers}), self.keys)

    def _metric(self, key: Sequence[Any]) -> tuple[RunMetric, Params]:
        run_spec_id, place, *_ = key
        metric, params = run_metrics_for(self.metrics[run_spec_id])[place]
        return metric, params

    def _clustering(self, group: _Group, run_spec_id: str) -> Clustering | None:
        """What the intervals of a group count where its answers are no independent tries."""
        is_joint = group.is_clustered or self.trials.get(run_spec_id, 1) > 1
        return Clustering(group.rows, group.units) if is_joint else None

    def _whole(
        self, metric: RunMetric, params: Params, held: Iterable[Observed], of: Mapping[str, Any]
    ) -> Iterator[Numbers]:
        """The metric's stats over a group; of a comparison those that have a direction."""
        width = len(metric.reads(params))
        pick = _worst_of(metric, width) if of["computed_on"] is ComputedOn.WORST else None
        return self._of_group(metric, params, _group(held, width, pick), of)

    def _of_group(
        self, metric: RunMetric, params: Params, group: _Group, of: Mapping[str, Any]
    ) -> Iterator[Numbers]:
        """The same of the rows that were read."""
        computed_on, stats = of["computed_on"], metric.emitted(params)
        clustering = self._clustering(group, of["run_spec_id"])
        main = self.mains.get(of["run_spec_id"])
        drawn: Sequence[tuple[float, ...] | None] = [None] * len(stats)
        if not of["perturbation"] and main in {(stat.name, of["split"]) for stat in stats}:
            drawn = _drawn(metric, params, group)
        values, intervals, counted = _measured(metric, params, group, clustering)
        columns = zip(stats, values, intervals, counted, drawn, strict=True)
        for stat, value, interval, part, draws in columns:
            if computed_on in COMPARISONS and stat.lower_is_better is None:
                continue
            is_main = main == (stat.name, of["split"]) and not of["perturbation"]
            yield {
                "name": stat.name,
                **group.counts(part),
                "mean": value,
                **_ends(interval),
                "draws": draws if is_main else None,
            }

    def _invariance(
        self, metric: RunMetric, params: Params, held: Iterable[Observed], run_spec_id: str
    ) -> Iterator[Numbers]:
        """The share of instances whose original and copies have the same values, by stat."""
        width = len(metric.reads(params))
        group = _group(held, 1, lambda values: (float(len(values) == width),))
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


class PartSummarizer(RunSummarizer):
    """The same of splits that are parts of something, and of all other parts of the same whole."""

    __slots__ = ()

    def __call__(self, rows: Iterable[Observed]) -> Iterator[Stat]:
        for (*key, _), held in groupby(rows, _whole_of):
            metric, params = self._metric(key)
            width = len(metric.reads(params))
            parts = {part: _group(of, width) for part, of in groupby(held, attrgetter(*GROUP))}
            for part, group in parts.items():
                others = [other for name, other in parts.items() if name != part]
                for mark, over in (("", [group]), (MARK, others)):
                    of = {**_named(part), "split": mark + _named(part)["split"]}
                    made = self._of_group(metric, params, _joined(over), of) if over else ()
                    for numbers in made:
                        yield keyed(
                            Stat(**{**values_of(NOTHING, Summary), **of, **numbers}), self.keys
                        )


def _whole_of(row: Observed) -> tuple[str, int, str]:
    """The whole of which a row's split is a part, in its run and metric."""
    return row.run_spec_id, row.place, row.split.partition(MARK)[0]


def _joined(groups: Sequence[_Group]) -> _Group:
    """The rows of several groups as one, each distinct row once."""
    if len(groups) == 1:
        return groups[0]
    columns, place = np.unique(
        np.concatenate([group.columns for group in groups]), axis=0, return_inverse=True
    )
    weights = np.zeros(len(columns), np.int64)
    np.add.at(weights, place.reshape(-1), np.concatenate([group.weights for group in groups]))
    starts = np.cumsum([0, *(len(group.weights) for group in groups)])
    rows = [group.rows + start for group, start in zip(groups, starts, strict=False)]
    row_of = place.reshape(-1)[np.concatenate(rows)]
    by_row = np.argsort(row_of, kind="stable")
    return _Group(
        columns=columns,
        weights=weights,
        units=np.concatenate([group.units for group in groups])[by_row],
        rows=row_of[by_row],
        is_clustered=any(group.is_clustered for group in groups),
        unscored=sum(group.unscored for group in groups),
    )


def _named(key: Sequence[Any]) -> dict[str, Any]:
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


def _of_wholes(metric: RunMetric, params: Params, held: Iterable[Observed]) -> Iterator[Numbers]:
    """Mean, worst and spread of a stat's values for each prompt, or each repeat."""
    width = len(metric.reads(params))
    by_whole = []
    for _, rows in groupby(held, attrgetter("whole")):
        group = _group(rows, width)
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

    Of several wrong ones it is the last in ascending order of their values, which names a class
    before it abstains.
    """

    def pick(values: Sequence[float]) -> Sequence[float]:
        answers = np.array(values, np.float64).reshape(-1, width)
        if metric.is_right is None:
            return tuple(answers[-1])
        wrong = answers[~metric.is_right(answers)]
        return tuple(wrong[-1] if len(wrong) else answers[-1])

    return pick


def _group(observed: Iterable[Observed], width: int, pick: Pick | None = None) -> _Group:
    """The complete rows as columns with their counts; `pick` makes a row of all their values.

    They are put in order, because sums and resamples depend on it and Spark keeps none.
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
    # The weight comes last: rows of different answers may be alike once one answer is picked.
    order = np.lexsort((weights, *columns.T))
    row_of = np.repeat(np.argsort(order), np.frombuffer(sizes, np.int64))
    by_row = np.argsort(row_of, kind="stable")
    return _Group(
        columns=columns[order],
        weights=weights[order],
        units=np.frombuffer(units, np.uint64)[by_row],
        rows=row_of[by_row],
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
    metric: RunMetric, params: Params, group: _Group, clustering: Clustering | None
) -> tuple[Sequence[float | None], Sequence[Interval | None], Sequence[NDArray[np.float64] | None]]:
    """The values of a metric's stats and their intervals; of a share which rows it rests on."""
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
    for place, (stat, value) in enumerate(zip(stats, values, strict=True)):
        interval = None
        if value is not None and stat.name not in metric.biased:
            if shares[place]:
                interval = mean_interval_of(shares[place], group.weights, clustering)
            elif classes := [share for share in overlaps[place] if group.weights @ share.counts]:
                interval = mean_interval_of(classes, group.weights, clustering, are_f1=True)
                if len(classes) > 1:  # an error concerns two classes: they are not independent
                    interval = wider(interval, pseudo.interval(place, stat))
            else:
                interval = pseudo.interval(place, stat)
        intervals.append(interval)
    counted = [parts[0].counts if len(parts) == 1 else None for parts in shares]
    return values, intervals, counted


def _shares(
    fn: SharesFn | None, metric: RunMetric, group: _Group, params: Params
) -> list[list[Share]]:
    """Of each stat the shares by distinct row; none of a stat that is no mean of shares."""
    if fn is None:
        return [[] for _ in metric.emitted(params)]
    return shares_by_row(lambda rows, weights: fn(rows, weights, params), group.columns)


class _Pseudo:
    """Intervals of a metric's stats from their pseudo-values, which are computed once if at all."""

    def __init__(
        self, metric: RunMetric, params: Params, group: _Group, clustering: Clustering | None
    ) -> None:
        self._metric, self._params = metric, params
        self._group, self._clustering = group, clustering

    @cached_property
    def _values(self) -> NDArray[np.float64]:
        group = self._group
        return pseudo_values(
            lambda weights: self._metric.fn(group.columns, weights, self._params), group.weights
        )

    def interval(self, place: int, stat: MetricInfo) -> Interval | None:
        """The interval of one stat; None of too many rows, or without a value less an instance."""
        weights = self._group.weights
        if len(weights) > MAX_ROWS or np.isnan(values := self._values[place]).any():
            return None
        n = float(weights.sum())
        mean = float(weights @ values / n)
        # On the scale a rounding error may lie beyond its end.
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
