"""The twins of RunSpecs in SQL: an answer to an original beside the one to its copy, counted."""

from collections.abc import Iterable
from dataclasses import dataclass

from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stats import ScoreStatus
from medhelm_spark.lake.rows import Frame
from medhelm_spark.stages.context import Context
from medhelm_spark.subgroups.twins import TwinValue, twins_of

# Originals without a copy are counted too.
PAIRED = f"""
SELECT run_spec_id, name, twin, has_copy, original, perturbed, unit, count(*) AS rows,
       sum(original_failures) AS original_failures,
       sum(perturbed_failures) AS perturbed_failures,
       sum(original_unread) AS original_unread, sum(perturbed_unread) AS perturbed_unread,
       max(in_cluster) AS in_cluster
FROM (SELECT s.run_spec_id, w.name, t.twin,
             max(CASE WHEN s.perturbation <> '' THEN 1 ELSE 0 END) AS has_copy,
             max(CASE WHEN s.perturbation = '' THEN s.stat.value END) AS original,
             max(CASE WHEN s.perturbation <> '' THEN s.stat.value END) AS perturbed,
             count_if(s.perturbation = '' AND s.stat.status IN
               ('{ScoreStatus.NO_ANSWER}', '{ScoreStatus.TOO_LONG}')) AS original_failures,
             count_if(s.perturbation <> '' AND s.stat.status IN
               ('{ScoreStatus.NO_ANSWER}', '{ScoreStatus.TOO_LONG}')) AS perturbed_failures,
             count_if(s.perturbation = '' AND s.stat.status = '{ScoreStatus.UNREADABLE}')
               AS original_unread,
             count_if(s.perturbation <> '' AND s.stat.status = '{ScoreStatus.UNREADABLE}')
               AS perturbed_unread,
             max(CASE WHEN s.cluster_id IS NOT NULL THEN 1 ELSE 0 END) AS in_cluster,
             max(CASE WHEN s.cluster_id IS NOT NULL OR w.is_repeated
                      THEN xxhash64(coalesce(s.cluster_id, s.instance_id)) END) AS unit
      FROM (SELECT run_spec_id, split, cluster_id, instance_id, train_trial_index, trial_index,
                   perturbation, explode(stats) AS stat FROM {{scored}}) s
      JOIN {{wanted}} w
        ON w.run_spec_id = s.run_spec_id AND w.split = s.split AND w.name = s.stat.name
      JOIN {{twins}} t ON t.run_spec_id = s.run_spec_id AND t.perturbation = s.perturbation
      GROUP BY s.run_spec_id, w.name, t.twin, s.instance_id, s.train_trial_index, s.trial_index)
GROUP BY run_spec_id, name, twin, has_copy, original, perturbed, unit
"""

TWIN_ROWS = """
SELECT run_spec_id, max(in_cluster) > 0 AS is_clustered, name, twin, has_copy > 0 AS has_copy,
       original, perturbed, sum(rows) AS rows, sum(original_failures) AS original_failures,
       sum(perturbed_failures) AS perturbed_failures, sum(original_unread) AS original_unread,
       sum(perturbed_unread) AS perturbed_unread,
       flatten(collect_list(CASE WHEN unit IS NOT NULL
                            THEN transform(sequence(1, rows), answer -> unit) END)) AS units
FROM {paired} GROUP BY run_spec_id, name, twin, has_copy, original, perturbed
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinRow(TwinValue):
    """A TwinValue with its RunSpec."""

    run_spec_id: str
    is_clustered: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinMember:
    """The originals, or the copies, of one perturbation of a RunSpec."""

    run_spec_id: str
    twin: str
    perturbation: str


def twin_rows(ctx: Context, scored: Frame, stats: Frame, specs: Iterable[RunSpec]) -> Frame:
    """The twins of these RunSpecs; no rows where there are none.

    Args:
        ctx: the lake.
        scored: the RunSpecs' current rows of `per_instance_stats`.
        stats: the stats that are summarised by group.
        specs: the RunSpecs.
    """
    members = [
        TwinMember(run_spec_id=spec.run_spec_id, twin=name, perturbation=part)
        for spec in specs
        for name in twins_of(spec)
        for part in ("", name)
    ]
    if not members:
        return ctx.lake.frame([], TwinRow)
    twins = ctx.lake.frame(members, TwinMember)
    paired = ctx.lake.query(PAIRED, scored=scored, wanted=stats, twins=twins)
    return ctx.lake.query(TWIN_ROWS, paired=paired)
