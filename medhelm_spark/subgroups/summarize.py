"""summarize-groups: per_instance_stats, instance_groups -> stats_by_group.

Counts of equal values reach Python once per group, as in summarize. A stat of whole runs is
computed by `stages.summarize.run_level` itself, to which each group is a split of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.policy import SmallCells
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import ASSIGN_GROUPS, SCORE, SUMMARIZE_GROUPS
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.lake.rows import Frame, in_one_partition, map_rows, sorted_rows, united
from medhelm_spark.metrics import metrics_for, run_metrics_for
from medhelm_spark.stages.comparability import is_outdated
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.run_stage import run_stage
from medhelm_spark.stages.summarize.run_level import run_stats, versions
from medhelm_spark.subgroups.assign import assigned_columns
from medhelm_spark.subgroups.group_answers import COUNTED
from medhelm_spark.subgroups.group_stats import GroupedScores, GroupSummarizer, RunGroups
from medhelm_spark.subgroups.of_whole_runs import CountedStat, RunLevelGroups
from medhelm_spark.subgroups.part_summarizer import MARK, PartSummarizer
from medhelm_spark.subgroups.tables import AssignedColumn, GroupStat
from medhelm_spark.subgroups.twin_rows import twin_rows
from medhelm_spark.subgroups.twins import twins_of

FAILED = (ScoreStatus.NO_ANSWER, ScoreStatus.TOO_LONG)

WANTED = """
SELECT w.place, w.data_version, w.is_repeated, s.cluster_id, s.instance_id,
       s.stat.status AS status, s.stat.value AS value
FROM (SELECT run_spec_id, split, cluster_id, instance_id, explode(stats) AS stat
      FROM {scored} WHERE perturbation = '') s
JOIN {wanted} w
  ON w.run_spec_id = s.run_spec_id AND w.split = s.split AND w.name = s.stat.name
"""

# Hash aggregation, which counts alone allow, by a number in place of ids: there are as many rows as
# answers and groups. A unit is what is no independent try, and null where each answer is one.
COUNTED_BY_UNIT = f"""
SELECT place, group_column, group_value, value, unit, count(*) AS rows,
       count_if(status IN ('{FAILED[0]}', '{FAILED[1]}')) AS failures,
       count_if(status = '{ScoreStatus.UNREADABLE}') AS unread,
       max(in_cluster) AS in_cluster
FROM (SELECT v.place, g.group_column, g.group_value, v.value, v.status,
             CASE WHEN v.cluster_id IS NOT NULL THEN 1 ELSE 0 END AS in_cluster,
             CASE WHEN v.cluster_id IS NOT NULL OR v.is_repeated
                  THEN xxhash64(coalesce(v.cluster_id, v.instance_id)) END AS unit
      FROM {{scores}} v
      JOIN {{groups}} g ON g.data_version = v.data_version AND g.instance_id = v.instance_id)
GROUP BY place, group_column, group_value, value, unit
"""

GROUPED = """
SELECT w.run_spec_id, w.name, group_column, group_value, value, sum(rows) AS rows,
       sum(failures) AS failures, sum(unread) AS unread, max(in_cluster) > 0 AS is_clustered,
       flatten(collect_list(CASE WHEN unit IS NOT NULL
                            THEN transform(sequence(1, rows), answer -> unit) END)) AS units
FROM {counted} c JOIN {wanted} w ON w.place = c.place
GROUP BY w.run_spec_id, w.name, group_column, group_value, value
"""

COLLECTED = """
SELECT run_spec_id, bool_or(is_clustered) AS is_clustered, collect_list(held) AS `values`,
       collect_list(pair) AS twins
FROM (SELECT run_spec_id, is_clustered,
             named_struct(
               'name', name, 'group_column', group_column, 'group_value', group_value,
               'value', value, 'rows', rows, 'failures', failures, 'unread', unread,
               'units', units) AS held,
             NULL AS pair
      FROM {grouped}
      UNION ALL
      SELECT run_spec_id, is_clustered, NULL AS held,
             named_struct(
               'name', name, 'twin', twin, 'has_copy', has_copy, 'original', original,
               'perturbed', perturbed, 'rows', rows, 'original_failures', original_failures,
               'perturbed_failures', perturbed_failures, 'original_unread', original_unread,
               'perturbed_unread', perturbed_unread, 'units', units) AS pair
      FROM {twins})
GROUP BY run_spec_id
"""

AS_SPLITS = f"""
SELECT s.run_spec_id, s.instance_id, s.train_trial_index, s.trial_index, s.perturbation,
       concat(g.group_column, '{MARK}', g.group_value) AS split, s.stats, s.cluster_id
FROM {{scored}} s
JOIN {{runs}} w ON w.run_spec_id = s.run_spec_id AND w.split = s.split
JOIN {{groups}} g ON g.data_version = w.data_version AND g.instance_id = s.instance_id
WHERE s.perturbation = ''
"""

PATIENTS = f"""
SELECT s.run_spec_id, concat(g.group_column, '{MARK}', g.group_value) AS split,
       count(DISTINCT coalesce(s.cluster_id, s.instance_id)) AS patients
FROM {{scored}} s
JOIN {{runs}} w ON w.run_spec_id = s.run_spec_id AND w.split = s.split
JOIN {{groups}} g ON g.data_version = w.data_version AND g.instance_id = s.instance_id
WHERE s.perturbation = ''
GROUP BY s.run_spec_id, g.group_column, g.group_value
"""

# Each stat with the patients of its group; the patients of a group's rest are not counted.
WITH_PATIENTS = """
SELECT t.*, p.patients FROM {stats} t
LEFT JOIN {patients} p ON p.run_spec_id = t.run_spec_id AND p.split = t.split
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedStat:
    """A stat of the instances of a RunSpec's main split that is summarised by group.

    `place` is its number among them.
    """

    place: int
    run_spec_id: str
    data_version: str
    split: str
    name: str
    is_repeated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedRun:
    """A RunSpec whose stats of whole runs are computed by group."""

    run_spec_id: str
    data_version: str
    split: str


def summarize_groups(ctx: Context, specs: Iterable[RunSpec], rules: SmallCells) -> list[str]:
    """Summarise RunSpecs by the groups of their data where scores or groups changed; returns ids.

    Twins are groups too. RunSpecs with neither are skipped; a RunSpec whose scores have an outdated
    definition is skipped until it is scored again.

    Args:
        ctx: the lake.
        specs: the RunSpecs.
        rules: how many patients a group of gated and private rows needs to be shown.
    """
    ctx, unique = ctx.within(SUMMARIZE_GROUPS), {spec.run_spec_id: spec for spec in specs}
    columns = assigned_columns(ctx, {spec.data_version for spec in unique.values()})
    grouped = {
        unit: spec
        for unit, spec in unique.items()
        if spec.data_version in columns or twins_of(spec)
    }
    assigned = ctx.finished(ASSIGN_GROUPS, columns)
    writes = {version: record.write_id for version, record in assigned.items()}
    fingerprints = {
        unit: SUMMARIZE_GROUPS.fingerprint(
            scored.write_id,
            writes.get(grouped[unit].data_version),
            [metric.version for metric, _ in metrics_for(grouped[unit].metrics)],
            versions(grouped[unit].metrics),
            _minimum(grouped[unit], rules),
            *([twins_of(grouped[unit])] if twins_of(grouped[unit]) else []),
        )
        for unit, scored in ctx.finished(SCORE, grouped).items()
        if not is_outdated(ctx, grouped[unit], scored)
    }
    if not fingerprints:
        return []

    def write(ctx: Context, units: Sequence[str], write_id: str) -> None:
        stats = stats_by_group(ctx, [unique[unit] for unit in units], columns, rules)
        sizes = (_size(unique[unit], columns) for unit in units)
        ctx.lake.append("stats_by_group", in_one_partition(stats), write_id, at_most=sum(sizes))

    return run_stage(ctx, SUMMARIZE_GROUPS, fingerprints, write)


def _minimum(spec: RunSpec, rules: SmallCells) -> int:
    return 1 if spec.access_level is AccessLevel.PUBLIC else rules.minimum


def _size(spec: RunSpec, columns: Mapping[str, Sequence[AssignedColumn]]) -> int:
    """The most rows that a RunSpec has."""
    groups = sum(column.num_groups for column in columns.get(spec.data_version, ()))
    groups += 2 * len(twins_of(spec))
    emitted = [metric.emitted(params) for metric, params in run_metrics_for(spec.metrics)]
    return groups * (len(_names(spec)) + sum(map(len, emitted)))


def _names(spec: RunSpec) -> list[str]:
    """The requested stats of instances by which a model is better or worse, and those of COUNTED.

    A metric gives others beside the one of its name, as `exact_match` does; they are left out.
    """
    requested = {spec.main_metric, *(metric.name for metric in spec.metrics)}
    return [
        stat.name
        for metric, params in metrics_for(spec.metrics)
        for stat in metric.emitted(params)
        if stat.name in COUNTED
        or (stat.name in requested and stat.has_mean and stat.lower_is_better is not None)
    ]


def stats_by_group(
    ctx: Context,
    specs: Sequence[RunSpec],
    columns: Mapping[str, Sequence[AssignedColumn]],
    rules: SmallCells,
) -> Frame:
    """The rows computed from these RunSpecs' current scores."""
    scored = ctx.current("per_instance_stats", SCORE, [spec.run_spec_id for spec in specs])
    groups = ctx.current("instance_groups", ASSIGN_GROUPS, columns, "data_version")
    runs = {
        spec.run_spec_id: RunGroups(
            metrics=spec.metrics,
            split=spec.main_split,
            access_level=spec.access_level,
            minimum=_minimum(spec, rules),
            requests_per_instance=spec.adapter_spec.requests_per_instance,
        )
        for spec in specs
    }
    with_columns = [spec for spec in specs if spec.data_version in columns]
    of_runs = _of_runs(ctx, with_columns, scored, groups, runs)
    frames = [_of_instances(ctx, specs, scored, groups, runs), *([of_runs] if of_runs else [])]
    return united(frames)


def _of_instances(
    ctx: Context,
    specs: Sequence[RunSpec],
    scored: Frame,
    groups: Frame,
    runs: Mapping[str, RunGroups],
) -> Frame:
    named = ((spec, name) for spec in specs for name in _names(spec))
    requested = [
        RequestedStat(
            place=index,
            run_spec_id=spec.run_spec_id,
            data_version=spec.data_version,
            split=spec.main_split,
            name=name,
            is_repeated=spec.adapter_spec.requests_per_instance > 1,
        )
        for index, (spec, name) in enumerate(named)
    ]
    frame = ctx.lake.frame(requested, RequestedStat)
    values = ctx.lake.query(WANTED, scored=scored, wanted=frame)
    counted = ctx.lake.query(COUNTED_BY_UNIT, scores=values, groups=groups)
    grouped = ctx.lake.query(GROUPED, counted=counted, wanted=frame)
    twins = twin_rows(ctx, scored, frame, specs)
    rows = ctx.lake.query(COLLECTED, grouped=grouped, twins=twins)
    # Exchanged once more, so that the writer's single task does not compute all of it.
    stats = map_rows(rows, GroupSummarizer(runs), GroupedScores, GroupStat)
    return in_one_partition(stats, is_exchanged=True)


def _of_runs(
    ctx: Context,
    specs: Sequence[RunSpec],
    scored: Frame,
    groups: Frame,
    runs: Mapping[str, RunGroups],
) -> Frame | None:
    """The stats of whole runs, of each group and of its rest; None where no RunSpec has one."""
    frame = ctx.lake.frame(
        [
            GroupedRun(
                run_spec_id=spec.run_spec_id,
                data_version=spec.data_version,
                split=spec.main_split,
            )
            for spec in specs
            if run_metrics_for(spec.metrics)
        ],
        GroupedRun,
    )
    as_splits = ctx.lake.query(AS_SPLITS, scored=scored, runs=frame, groups=groups)
    stats = run_stats(ctx, as_splits, specs, {}, summarizer=PartSummarizer, has_changes=False)
    if stats is None:
        return None
    patients = ctx.lake.query(PATIENTS, scored=scored, runs=frame, groups=groups)
    rows = ctx.lake.query(WITH_PATIENTS, stats=stats, patients=patients)
    ordered = sorted_rows(rows, "run_spec_id", "name", "split", partitions=1, by=("run_spec_id",))
    return map_rows(ordered, RunLevelGroups(runs), CountedStat, GroupStat)
