"""Request states: links, results, instances and verdicts joined by key, as metrics see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from medhelm_spark.domain.request import Purpose, RequestState
from medhelm_spark.lake.columnar import fields_of
from medhelm_spark.lake.rows import rows_of
from medhelm_spark.lake.views import CURRENT_RESULTS, output_of
from medhelm_spark.stages.context import Context

EVALUATION_KEY = ("run_spec_id", "instance_id", "perturbation", "train_trial_index", "trial_index")
FROM_INSTANCE = ("input", "references", "extra_data")
FROM_RESULT = ("completions", "failure", "prompt_tokens", "completion_tokens", "request_time")

INPUTS = f"""
SELECT l.run_spec_id, count(*) AS links,
       count_if(r.request_id IS NOT NULL AND r.failure IS NULL) AS answered,
       count_if(r.failure IS NOT NULL) AS failed,
       CAST(bit_xor(xxhash64(l.instance_id, l.perturbation, l.train_trial_index, l.trial_index,
            l.annotator, l.judge, l.request_id, r.completed_at, r.write_id)) AS STRING)
       AS fingerprint
FROM {{links}} l LEFT JOIN ({CURRENT_RESULTS}) r ON r.request_id = l.request_id
GROUP BY l.run_spec_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a RunSpec's links have come to: counts, and a digest of which result serves which."""

    run_spec_id: str
    links: int
    answered: int
    failed: int
    fingerprint: str

    @property
    def counts(self) -> dict[str, int]:
        missing = self.links - self.answered - self.failed
        return {
            "requests": self.links,
            "answered": self.answered,
            "failed": self.failed,
            "missing": missing,
        }


def links_of(ctx: Context, run_spec_ids: Sequence[str], stage: str, purpose: Purpose) -> DataFrame:
    """The current links of these RunSpecs that a stage made for a purpose."""
    links = ctx.lake.query(output_of("request_links", stage))
    return links.where(
        F.col("run_spec_id").isin(list(run_spec_ids)) & (F.col("purpose") == purpose.value)
    )


def inputs_of(
    ctx: Context, run_spec_ids: Sequence[str], stage: str, purpose: Purpose
) -> dict[str, Inputs]:
    """Counts and input digest of these RunSpecs, in one job whatever their number."""
    if not run_spec_ids:
        return {}
    found = ctx.lake.query(INPUTS, links=links_of(ctx, run_spec_ids, stage, purpose))
    return {row.run_spec_id: row for row in rows_of(found, Inputs)}


def states(ctx: Context, run_spec_ids: Sequence[str], needs: frozenset[str]) -> DataFrame:
    """RequestState rows of these RunSpecs, carrying only the fields in `needs`."""
    links = links_of(ctx, run_spec_ids, "plan", Purpose.EVALUATE)
    results = ctx.lake.query(CURRENT_RESULTS).select("request_id", *FROM_RESULT)
    instances = ctx.lake.query(output_of("instances", "ingest", "data_version")).select(
        "scenario_name", "data_version", "instance_id", "perturbation", "split", *FROM_INSTANCE
    )
    data = _data_versions(ctx, run_spec_ids)
    joined = (
        links.join(F.broadcast(data), "run_spec_id")
        .join(instances, ["data_version", "instance_id", "perturbation"])
        .join(results, "request_id", "left")
    )
    if "verdicts" in needs:
        joined = joined.join(_verdicts(ctx), list(EVALUATION_KEY), "left")
    kept = {*EVALUATION_KEY, "split", "failure", "completions", *needs} & set(joined.columns)
    columns = [_column(name, name in kept) for name in RequestState.__dataclass_fields__]
    return joined.select(*columns)


def _data_versions(ctx: Context, run_spec_ids: Sequence[str]) -> DataFrame:
    specs = ctx.lake.read("run_specs").where(F.col("run_spec_id").isin(list(run_spec_ids)))
    return specs.select("run_spec_id", F.col("run_spec.data_version")).distinct()


def _verdicts(ctx: Context) -> DataFrame:
    verdict = F.struct("annotator", "judge", "status", "scores")
    current = ctx.lake.query(output_of("annotations", "annotate"))
    return current.groupBy(*EVALUATION_KEY).agg(
        F.sort_array(F.collect_list(verdict)).alias("verdicts")
    )


def _column(name: str, kept: bool) -> Column:
    return F.col(name) if kept else _absent(name).alias(name)


def _absent(name: str) -> Column:
    """The default of a RequestState field that nobody asked for."""
    ddl = fields_of(RequestState)[name].ddl
    empty: Mapping[str, Column] = {"ARRAY": F.array(), "MAP": F.create_map(), "STRING": F.lit("")}
    nullable = name in (
        "failure",
        "prompt_tokens",
        "completion_tokens",
        "request_time",
        "completions",
    )
    start = F.lit(None) if nullable else empty.get(ddl.split("<")[0], F.lit(0))
    return start.cast(ddl.replace(": ", ":"))
