"""The values of originals, perturbed copies and repeats for the stats of robustness, in SQL.

Per instance (and trial): the original's value, the lowest and highest of original and copies, and
whether all are equal. The summary decides by each stat's direction whether the lowest or the
highest is the worst. HELM's rule (facts section 11) is the lowest, whatever the stat.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from medhelm_spark.adaptation.perturbations import perturbation
from medhelm_spark.domain.run import PROMPT_VARIANTS, REPEATS, RunSpec
from medhelm_spark.domain.stats import ComputedOn, ScoreStatus
from medhelm_spark.lake.literals import among
from medhelm_spark.lake.rows import Frame, united
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.summarize.worst_at_k import worst_values

LOWEST, HIGHEST, LOWEST_SCORED = "lowest", "highest", "lowest_scored"


def _made(computed_on: str, value: str, condition: str = "true") -> str:
    """A value of a group in SQL, and the condition on which it is used."""
    return f"named_struct('computed_on', '{computed_on}', 'value', {value}, 'wanted', {condition})"


# Older lakes have values that are not finite: they count as absent.
VALUES = """
SELECT run_spec_id, instance_id, cluster_id, train_trial_index, trial_index, split, perturbation,
       stat.name, CASE WHEN abs(stat.value) < double('infinity') THEN stat.value END AS value,
       stat.status
FROM (SELECT *, explode(stats) AS stat FROM {scored})
"""

# A unit has dependent answers: a cluster, or all answers to an instance without a cluster. Without
# clusters and repeats, units are collected only for the stats that are resampled.
AS_SCORED = f"""
SELECT run_spec_id, name, split, perturbation,
       CASE WHEN perturbation <> '' THEN '{ComputedOn.PERTURBED}' END AS computed_on,
       value, count(*) AS rows,
       count_if(status = '{ScoreStatus.TOO_LONG}') AS model_failures,
       count_if(status IN ('{ScoreStatus.NO_REFERENCE}', '{ScoreStatus.NOT_APPLICABLE}'))
         AS unscorable,
       max(cluster_id) IS NOT NULL AS is_clustered,
       collect_list(CASE WHEN value IS NOT NULL
                          AND (cluster_id IS NOT NULL OR @repeated
                               OR perturbation = '' AND @resampled)
                         THEN xxhash64(coalesce(cluster_id, instance_id)) END) AS units
FROM {{scores}} GROUP BY run_spec_id, name, split, perturbation, value
"""

# If a value is absent, the worst value and whether all are equal are unknown.
COMPARED = f"""
SELECT run_spec_id, name, split, collection AS perturbation, made.computed_on, made.value,
       count(*) AS rows, max(cluster_id) IS NOT NULL AS is_clustered,
       collect_list(CASE WHEN made.value IS NOT NULL AND (cluster_id IS NOT NULL OR @repeated)
                         THEN xxhash64(coalesce(cluster_id, instance_id)) END) AS units
FROM (SELECT v.run_spec_id, v.name, v.split, v.instance_id, m.collection, m.single, m.as_wholes,
             max(v.cluster_id) AS cluster_id,
             min(v.value) AS lowest, max(v.value) AS highest,
             count(v.value) = count(*) AS complete,
             max(CASE WHEN v.perturbation = '' THEN v.value END) AS original,
             count_if(v.perturbation <> '') AS copies,
             count_if(v.perturbation <> '' AND m.keeps_meaning) > 0 AS asked,
             count_if(m.keeps_meaning AND v.value IS NULL) = 0 AS known,
             min(CASE WHEN m.keeps_meaning THEN v.value END)
               = max(CASE WHEN m.keeps_meaning THEN v.value END) AS equal
      FROM {{scores}} v JOIN {{members}} m
        ON m.run_spec_id = v.run_spec_id AND m.perturbation = v.perturbation
      GROUP BY v.run_spec_id, v.name, v.split, v.instance_id, v.train_trial_index, v.trial_index,
               m.collection, m.single, m.as_wholes)
LATERAL VIEW explode(array(
  {_made(ComputedOn.ORIGINAL, "original", "single")},
  {_made(LOWEST, "CASE WHEN complete THEN lowest END", "NOT as_wholes")},
  {_made(HIGHEST, "CASE WHEN complete THEN highest END", "NOT as_wholes")},
  {_made(LOWEST_SCORED, "lowest", "NOT as_wholes")},
  {_made(ComputedOn.INVARIANCE, "CASE WHEN known THEN CAST(equal AS DOUBLE) END", "asked")}
)) made AS made
WHERE made.wanted AND (copies > 0 OR NOT single)
GROUP BY run_spec_id, name, split, collection, made.computed_on, made.value
"""

# Sums of floats depend on their order, which Spark does not keep: hence the rounding.
WHOLES = f"""
SELECT run_spec_id, name, split, collection AS perturbation, made.computed_on, made.value, rows
FROM (SELECT run_spec_id, name, split, collection, count(mean) AS rows,
             round(avg(mean), 12) AS mean, min(mean) AS lowest, max(mean) AS highest
      FROM (SELECT v.run_spec_id, v.name, v.split, m.collection, round(avg(v.value), 12) AS mean
            FROM {{scores}} v JOIN {{members}} m
              ON m.run_spec_id = v.run_spec_id AND m.perturbation = v.perturbation
            WHERE m.as_wholes
            GROUP BY v.run_spec_id, v.name, v.split, m.collection, v.perturbation,
                     CASE WHEN m.collection = '{REPEATS}' THEN v.trial_index END)
      GROUP BY run_spec_id, name, split, collection HAVING count(mean) > 0)
LATERAL VIEW explode(array(
  {_made(ComputedOn.MEAN, "mean")},
  {_made(LOWEST, "lowest")},
  {_made(HIGHEST, "highest")},
  {_made(LOWEST_SCORED, "lowest")},
  {_made(ComputedOn.SPREAD, "highest - lowest")}
)) made AS made
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Which rows of a RunSpec are compared with each other under a name.

    `single` compares one perturbation with the originals to which it applies; a collection compares
    all originals with all their copies. `as_wholes` compares means over all instances: the means of
    prompts, and of repeats.
    """

    run_spec_id: str
    collection: str
    perturbation: str
    single: bool
    keeps_meaning: bool = True
    as_wholes: bool = False


def members_of(specs: Iterable[RunSpec]) -> list[Member]:
    """The comparisons in these RunSpecs; empty if every instance was asked once."""
    return [member for spec in specs for member in _members(spec)]


def _members(spec: RunSpec) -> Iterator[Member]:
    copies = {named.name: perturbation(named.name) for named in spec.perturbations or ()}
    variants = [named.perturbation for named in spec.prompt_variants or ()]
    collections: dict[str, list[str]] = {
        "robustness": [name for name, named in copies.items() if named.robustness],
        "fairness": [name for name, named in copies.items() if named.fairness],
        PROMPT_VARIANTS: variants,
        **{name: [name] for name in (*copies, *variants)},
    }
    if spec.adapter_spec.num_trials > 1:
        yield Member(
            run_spec_id=spec.run_spec_id,
            collection=REPEATS,
            perturbation="",
            single=False,
            as_wholes=True,
        )
    for collection, names in collections.items():
        for name in ("", *names) if names else ():
            yield Member(
                run_spec_id=spec.run_spec_id,
                collection=collection,
                perturbation=name,
                single=collection in copies or collection in variants,
                keeps_meaning=name not in copies or copies[name].keeps_meaning,
                as_wholes=collection == PROMPT_VARIANTS,
            )


def compared(ctx: Context, scored: Frame, specs: Sequence[RunSpec]) -> Frame:
    """The values of these RunSpecs to summarise, each with how often it occurs; no job is run."""
    values = ctx.lake.query(VALUES, scored=scored)
    resampled = among("name", (spec.main_metric for spec in specs))
    repeated = among(
        "run_spec_id",
        (spec.run_spec_id for spec in specs if spec.adapter_spec.requests_per_instance > 1),
    )
    as_scored = AS_SCORED.replace("@resampled", resampled).replace("@repeated", repeated)
    frames = [ctx.lake.query(as_scored, scores=values)]
    if members := members_of(specs):
        frame = ctx.lake.frame(members, Member)
        for sql in (COMPARED.replace("@repeated", repeated), WHOLES):
            frames.append(ctx.lake.query(sql, scores=values, members=frame))
    worst = worst_values(ctx, values, specs)
    return united([*frames, *([] if worst is None else [worst])])
