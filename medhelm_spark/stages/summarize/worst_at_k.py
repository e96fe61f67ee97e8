"""Worst at k of a run's main metric: per instance, from all its repeats, as values for SQL."""

from collections.abc import Sequence
from dataclasses import dataclass

from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.worst import worst_name
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.rows import Frame
from medhelm_spark.metrics import info
from medhelm_spark.stages.context import Context
from medhelm_spark.statistics.worst import sizes_of, worst_weights

VERSION = "1"
"""Part of the fingerprint of runs with repeats."""

# An instance with fewer than k values has no worst at k. Sums of floats depend on their order.
WORST = """
SELECT run_spec_id, name, split, '' AS perturbation, value, count(*) AS rows,
       max(cluster_id) IS NOT NULL AS is_clustered,
       collect_list(CASE WHEN value IS NOT NULL
                         THEN xxhash64(coalesce(cluster_id, instance_id)) END) AS units
FROM (SELECT p.run_spec_id, w.name, p.split, p.instance_id, p.train_trial_index,
             max(p.cluster_id) AS cluster_id, round(sum(w.weight * p.value), 12) AS value
      FROM (SELECT v.run_spec_id, v.name, v.split, v.instance_id, v.train_trial_index,
                   v.cluster_id, v.value,
                   row_number() OVER (
                     PARTITION BY v.run_spec_id, v.name, v.split, v.instance_id,
                                  v.train_trial_index
                     ORDER BY CASE WHEN v.value IS NULL THEN 1 ELSE 0 END, v.value * m.sign)
                     AS place,
                   count(v.value) OVER (
                     PARTITION BY v.run_spec_id, v.name, v.split, v.instance_id,
                                  v.train_trial_index) AS held
            FROM {scores} v JOIN {mains} m ON m.run_spec_id = v.run_spec_id AND m.metric = v.name
            WHERE v.perturbation = '') p
      JOIN {weights} w
        ON w.run_spec_id = p.run_spec_id AND w.place = p.place AND w.held = p.held
      GROUP BY p.run_spec_id, w.name, p.split, p.instance_id, p.train_trial_index)
GROUP BY run_spec_id, name, split, value
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedMain:
    """The main metric of a run with repeats; `sign` orders its values from the worst on."""

    run_spec_id: str
    metric: str
    sign: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceWeight:
    """The weight of the value at a position for an instance of `held` values; null for too few."""

    run_spec_id: str
    name: str
    held: int
    place: int
    weight: float | None


def worst_values(ctx: Context, scores: Frame, specs: Sequence[RunSpec]) -> Frame | None:
    """The values to summarise, each with how often it occurs; None where nothing is repeated."""
    mains = [main for spec in specs for main in _mains(spec)]
    if not mains:
        return None
    trials = {spec.run_spec_id: spec.adapter_spec.num_trials for spec in specs}
    weights = [row for main in mains for row in _weights(main, trials[main.run_spec_id])]
    return ctx.lake.query(
        WORST,
        scores=scores,
        mains=ctx.lake.frame(mains, RepeatedMain),
        weights=ctx.lake.frame(weights, PlaceWeight),
    )


def _mains(spec: RunSpec) -> list[RepeatedMain]:
    """The run's main metric, if it scores single answers and has a direction."""
    if spec.adapter_spec.num_trials < 2:
        return []
    try:
        lower = info(spec.main_metric, spec.metrics).lower_is_better
    except ConfigError:
        return []
    if lower is None:
        return []
    sign = -1.0 if lower else 1.0
    return [RepeatedMain(run_spec_id=spec.run_spec_id, metric=spec.main_metric, sign=sign)]


def _weights(main: RepeatedMain, trials: int) -> list[PlaceWeight]:
    return [
        PlaceWeight(
            run_spec_id=main.run_spec_id,
            name=worst_name(main.metric, k),
            held=num_values,
            place=position,
            weight=weight,
        )
        for k in sizes_of(trials)
        for num_values in range(trials + 1)
        for position, weight in enumerate(
            worst_weights(num_values, k) if num_values >= k else [None], start=1
        )
    ]
