"""Run-level metrics over Spark: columns of per-instance stats in, stats of whole runs out.

Beside the answers as they are, each is computed on perturbed copies (PERTURBED), on the originals
that have one (ORIGINAL), and on the worst answer to each instance among original and copies
(WORST): a wrong one if there is any, for metrics that define which answers are right. INVARIANCE
is the share of instances for which all values that the metric reads are the same on original and
copies: in a classification, the share with the same class. For prompts and repeats, MEAN, WORST and
SPREAD summarise the stat's values of each prompt or repeat.

Equal rows are counted in SQL; the distinct rows of a RunSpec go to one partition and stream into
numpy columns there (8 bytes a value), so that neither the driver nor one Spark row contains a run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from medhelm_spark.domain.run import REPEATS, MetricSpec, RunSpec
from medhelm_spark.domain.stats import ComputedOn, Stat
from medhelm_spark.lake.rows import Frame, in_one_partition, map_rows, sorted_rows, united
from medhelm_spark.metrics import run_metrics_for
from medhelm_spark.stages.comparability import StatKeys
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.summarize.robustness import Member, members_of
from medhelm_spark.stages.summarize.run_summarizer import GROUP, Observed, RunSummarizer

# Names and values are separate arrays: positions are found without a function call per stat.
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

# The distinct answers to original and copies, one after the other in ascending order: the metric
# decides which of them is the worst.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInputs:
    """The per-instance stats that a RunSpec's run-level metric reads.

    `place` is the metric's index. `is_main`: it computes the RunSpec's main metric. `is_repeated`:
    each instance is asked several times.
    """

    run_spec_id: str
    place: int
    reads: tuple[str, ...]
    is_main: bool
    is_repeated: bool


def versions(specs: Sequence[MetricSpec]) -> list[str]:
    """Part of the summarize stage's fingerprint."""
    return [metric.version for metric, _ in run_metrics_for(specs)]


def run_stats(
    ctx: Context,
    scored: Frame,
    specs: Iterable[RunSpec],
    keys: Mapping[str, StatKeys],
    *,
    summarizer: type[RunSummarizer] = RunSummarizer,
    has_changes: bool = True,
) -> Frame | None:
    """The stats of the run-level metrics of these RunSpecs; None if there is no such metric.

    Args:
        ctx: the lake.
        scored: their current rows of `per_instance_stats`.
        specs: the RunSpecs.
        keys: the comparability keys of their stats, by run_spec_id.
        summarizer: computes the stats.
        has_changes: whether of copies, prompts and repeats too.
    """
    specs = list(specs)
    metrics = {spec.run_spec_id: spec.metrics for spec in specs}
    mains = {spec.run_spec_id: (spec.main_metric, spec.main_split) for spec in specs}
    trials = {spec.run_spec_id: spec.adapter_spec.requests_per_instance for spec in specs}
    inputs = [
        MetricInputs(
            run_spec_id=key,
            place=index,
            reads=metric.reads(params),
            is_main=mains[key][0] in {stat.name for stat in metric.emitted(params)},
            is_repeated=trials[key] > 1,
        )
        for key, named in metrics.items()
        for index, (metric, params) in enumerate(run_metrics_for(named))
    ]
    if not inputs:
        return None
    rows = ctx.lake.frame(inputs, MetricInputs)
    read = ctx.lake.query(READ, scored=scored, wanted=rows)
    observed = [ctx.lake.query(OBSERVED, read=read)]
    if has_changes and (members := members_of(specs)):
        frame = ctx.lake.frame(members, Member)
        observed += [ctx.lake.query(sql, read=read, members=frame) for sql in (COMPARED, WHOLES)]
    partitioned = sorted_rows(
        united(observed), *GROUP, "whole", partitions=ctx.cores, by=summarizer.together
    )
    # Exchanged once more, so that the writer's single task does not compute all stats.
    made = map_rows(partitioned, summarizer(metrics, keys, trials, mains), Observed, Stat)
    return in_one_partition(made, is_exchanged=True)
