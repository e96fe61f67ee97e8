"""summarize: per_instance_stats -> stats, every mean with its counts and its interval."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from medhelm_spark.domain.helm_results import SUFFIX, is_stored, stored_stats
from medhelm_spark.domain.run import PROMPT_VARIANTS, REPEATS, MetricSpec, RunRecord, RunSpec
from medhelm_spark.domain.stages import ANNOTATE, IMPORT_HELM, SCORE, SUMMARIZE
from medhelm_spark.domain.stats import (
    SHARE,
    ComputedOn,
    IntervalMethod,
    MetricInfo,
    Stat,
    Summary,
    values_of,
)
from medhelm_spark.lake.rows import Frame, in_one_partition, map_rows, united
from medhelm_spark.metrics import info
from medhelm_spark.metrics.metric import MEDHELM
from medhelm_spark.stages.comparability import StatKeys, is_outdated, keyed, stat_keys
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.plan.run_specs import current_runs
from medhelm_spark.stages.run_stage import run_stage
from medhelm_spark.stages.summarize.robustness import (
    HIGHEST,
    LOWEST,
    LOWEST_SCORED,
    compared,
    members_of,
)
from medhelm_spark.stages.summarize.run_level import run_stats, versions
from medhelm_spark.stages.summarize.worst_at_k import VERSION as WORST_VERSION
from medhelm_spark.statistics.bootstrap import Units, mean_draws
from medhelm_spark.statistics.clusters import ClusterTotals, cluster_totals
from medhelm_spark.statistics.summary import summarize as summary_of

WITHOUT_INTERVAL = (PROMPT_VARIANTS, REPEATS)

# Equal values are counted, so Python gets one row per distinct value of a stat.
HISTOGRAMS = """
SELECT run_spec_id, name, split, perturbation, computed_on,
       sum(CASE WHEN value IS NULL THEN rows ELSE 0 END) AS num_unscored,
       sum(model_failures) AS num_model_failures, sum(unscorable) AS num_unscorable,
       bool_or(is_clustered) AS is_clustered,
       sort_array(collect_list(CASE WHEN value IS NOT NULL THEN
         named_struct('value', value, 'rows', rows, 'units', units) END)) AS histogram
FROM {compared} GROUP BY run_spec_id, name, split, perturbation, computed_on
"""

OF_WHOLE_RUNS = f"""
SELECT {", ".join(f"s.{field.name}" for field in fields(Stat))} FROM {{imported}} s
LEFT ANTI JOIN {{known}} k ON k.run_spec_id = s.run_spec_id AND k.name = s.name
WHERE s.count > 0 AND s.perturbation = ''
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _KnownStat:
    """A stat that summarize computes from stored values."""

    run_spec_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRows:
    """How many rows have a value, and the hash of each row's unit if the stat is resampled.

    A unit is a cluster of instances, or an instance without a cluster.
    """

    value: float
    rows: int
    units: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """All values of one stat of one RunSpec on one split, in order, each with its rows."""

    run_spec_id: str
    name: str
    split: str
    perturbation: str
    computed_on: str | None
    num_unscored: int
    histogram: tuple[ValueRows, ...]
    num_model_failures: int | None = None
    num_unscorable: int | None = None
    is_clustered: bool | None = None


@dataclass(frozen=True, slots=True)
class Summarizer:
    """The function of this stage; each RunSpec's metrics say how its stats are read.

    `trials` is how often a RunSpec asks each instance; `keys` are the comparability keys of its
    stats. `mains` are main metric and main split, whose means are resampled.
    """

    metrics: Mapping[str, tuple[MetricSpec, ...]]
    trials: Mapping[str, int] = field(default_factory=dict)
    keys: Mapping[str, StatKeys] = field(default_factory=dict)
    mains: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def __call__(self, histograms: Iterable[Histogram]) -> Iterator[Stat]:
        for row in histograms:
            scale = info(row.name, self.metrics[row.run_spec_id])
            read = _read_as(row, scale.lower_is_better) if scale.has_mean else None
            if read:
                stat = _stat(row, *read, scale, self.trials.get(row.run_spec_id, 1))
                is_main = self.mains.get(row.run_spec_id) == (stat.name, stat.split)
                if is_main and not stat.perturbation:
                    stat = replace(stat, draws=_draws(row, scale))
                yield keyed(stat, self.keys)


def _read_as(row: Histogram, lower_is_better: bool | None) -> tuple[str, ComputedOn | None] | None:
    """Name and meaning of the values of a row; None for a row that is not used for this stat.

    The worst is the lowest value, or the highest if lower is better; a stat without a direction has
    none. MedHELM takes the lowest scored value, whatever the stat: if that is another rule, it is a
    stat of its own, `NAME@medhelm-0.8`.
    """
    medhelm = row.name.endswith(MEDHELM)
    if row.computed_on == LOWEST_SCORED:
        name = row.name if medhelm else row.name + MEDHELM
        return None if lower_is_better is False and not medhelm else (name, ComputedOn.WORST)
    if row.computed_on in (LOWEST, HIGHEST):
        worst = None if lower_is_better is None else HIGHEST if lower_is_better else LOWEST
        return (row.name, ComputedOn.WORST) if row.computed_on == worst and not medhelm else None
    return row.name, ComputedOn(row.computed_on) if row.computed_on else None


def _stat(
    row: Histogram, name: str, computed_on: ComputedOn | None, scale: MetricInfo, trials: int
) -> Stat:
    pairs = [(entry.value, entry.rows) for entry in row.histogram]
    own = SHARE if computed_on is ComputedOn.INVARIANCE else scale
    is_joint = row.is_clustered or trials > 1
    summary = summary_of(pairs, row.num_unscored, own, _clusters(row) if is_joint else None)
    if not row.is_clustered:  # instances with repeats are not clusters of a card
        summary = replace(summary, num_clusters=None, num_effective_clusters=None)
    if row.perturbation in WITHOUT_INTERVAL and computed_on is not ComputedOn.INVARIANCE:
        summary = replace(summary, ci_low=None, ci_high=None, ci_method=IntervalMethod.NONE)
    return Stat(
        run_spec_id=row.run_spec_id,
        name=name,
        split=row.split,
        perturbation=row.perturbation,
        computed_on=computed_on,
        num_model_failures=row.num_model_failures,
        num_unscorable=row.num_unscorable,
        **values_of(summary, Summary),
    )


def _units(row: Histogram) -> tuple[Units, NDArray[np.float64]]:
    """The hash of each row's unit, and its value."""
    hashes = [np.array(entry.units, np.int64).view(np.uint64) for entry in row.histogram]
    values = [np.full(len(entry.units), entry.value) for entry in row.histogram]
    return np.concatenate(hashes), np.concatenate(values)


def _clusters(row: Histogram) -> ClusterTotals | None:
    """The totals by cluster, or by instance; None without clusters and repeats."""
    if not any(entry.units for entry in row.histogram):
        return None
    return cluster_totals(*_units(row))


def _draws(row: Histogram, scale: MetricInfo) -> tuple[float, ...] | None:
    """Resampled means, clipped to the scale if the stat's mean is."""
    if not row.histogram:
        return None
    units, values = _units(row)
    hashes, inverse = np.unique(units, return_inverse=True)
    totals = np.bincount(inverse, weights=values).astype(np.float64)
    draws = mean_draws(hashes, np.bincount(inverse), totals)
    if draws is None:
        return None
    if scale.clips_mean:
        draws = np.clip(draws, scale.minimum, scale.maximum)
    return tuple(draws.tolist())


STATS_OF_A_RUN, OF_A_COMPARED_RUN = 200, 1000
"""Upper limits: of a run, and of one with perturbed copies, prompt variants or repeats."""

CELLS_WORTH_TASKS = 16
"""From so many RunSpecs on, all tasks compute intervals, which costs an exchange."""


def summarize(ctx: Context, specs: Sequence[RunSpec]) -> list[str]:
    """Summarise the RunSpecs with new scores or a changed metric; returns their ids.

    A RunSpec whose scores are not of the current definition is left until it is scored again.
    """
    unique = {spec.run_spec_id: spec for spec in specs}
    fingerprints = {
        unit: SUMMARIZE.fingerprint(scored.write_id, _versions(unique[unit]))
        for unit, scored in ctx.finished(SCORE, unique).items()
        if not is_outdated(ctx, unique[unit], scored)
    }

    def write(ctx: Context, units: Sequence[str], write_id: str) -> None:
        _write(ctx, [unique[unit] for unit in units], write_id)

    return run_stage(ctx, SUMMARIZE, fingerprints, write)


def _versions(spec: RunSpec) -> list[str]:
    """The versions of the stats that are computed from scores."""
    repeated = spec.adapter_spec.num_trials > 1
    return [*versions(spec.metrics), *([f"worst {WORST_VERSION}"] if repeated else [])]


def _write(ctx: Context, specs: Sequence[RunSpec], write_id: str) -> None:
    is_spread = len(specs) >= CELLS_WORTH_TASKS
    stats = in_one_partition(stats_of(ctx, specs), is_exchanged=is_spread)
    sizes = (OF_A_COMPARED_RUN if members_of([spec]) else STATS_OF_A_RUN for spec in specs)
    ctx.lake.append("stats", stats, write_id, at_most=sum(sizes))


def stats_of(ctx: Context, specs: Sequence[RunSpec]) -> Frame:
    """The stats of these RunSpecs' current scores, as rows of `Stat`."""
    scores = ctx.current("per_instance_stats", SCORE, [spec.run_spec_id for spec in specs])
    histograms = ctx.lake.query(HISTOGRAMS, compared=compared(ctx, scores, specs))
    keys = stat_keys(ctx, specs)
    summarizer = Summarizer(
        {spec.run_spec_id: spec.metrics for spec in specs},
        {spec.run_spec_id: spec.adapter_spec.requests_per_instance for spec in specs},
        keys,
        {spec.run_spec_id: (spec.main_metric, spec.main_split) for spec in specs},
    )
    stats = map_rows(histograms, summarizer, Histogram, Stat)
    more = (run_stats(ctx, scores, specs, keys), of_whole_runs(ctx, specs))
    return united([stats, *(frame for frame in more if frame is not None)])


def completed(ctx: Context) -> set[str]:
    """The names of the suite's current runs that were summarised with all answers."""
    current = current_runs(ctx)
    units = [row.run_spec_id for row in current]
    done = ctx.finished(SUMMARIZE, units)
    records_of = (ctx.finished(SCORE, units), ctx.finished(ANNOTATE, units))
    short = {unit for records in records_of for unit, record in records.items() if _lacks(record)}
    return {row.name for row in current if row.run_spec_id in done.keys() - short}


def _lacks(record: RunRecord) -> bool:
    """Whether a stage read fewer answers than there were requests."""
    return record.counts.get("answered", 0) < record.counts.get("requests", 0)


def of_whole_runs(ctx: Context, specs: Sequence[RunSpec]) -> Frame | None:
    """The imported rows of `stats` that summarize copies; None if no run was imported."""
    imported = [spec for spec in specs if is_stored(spec)]
    if not imported:
        return None
    units = [spec.run_spec_id for spec in imported]
    known = [
        _KnownStat(run_spec_id=spec.run_spec_id, name=name + SUFFIX)
        for spec in imported
        for name in stored_stats(spec)
    ]
    return ctx.lake.query(
        OF_WHOLE_RUNS,
        imported=ctx.current("stats", IMPORT_HELM, units),
        known=ctx.lake.frame(known, _KnownStat),
    )
