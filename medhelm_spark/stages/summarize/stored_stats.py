"""Stats that came with imported results and that no instance has a value of, as perplexity."""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.domain.helm_results import SUFFIX, is_stored, stored_stats
from medhelm_spark.domain.run import RunSpec
from medhelm_spark.domain.stages import IMPORT_HELM
from medhelm_spark.domain.stats import Stat
from medhelm_spark.lake.literals import literal
from medhelm_spark.stages.context import Context


def of_whole_runs(ctx: Context, specs: Sequence[RunSpec]) -> DataFrame | None:
    """The rows of `stats` that summarize takes over; None where no run was imported."""
    imported = [spec for spec in specs if is_stored(spec)]
    if not imported:
        return None
    units = [spec.run_spec_id for spec in imported]
    rows = ctx.current("stats", IMPORT_HELM, units).where("count > 0 AND perturbation = ''")
    known = F.lit(False)
    for spec in imported:
        names = [name + SUFFIX for name in stored_stats(spec)]
        is_run = F.expr(f"run_spec_id = {literal(spec.run_spec_id)}")
        known = known | (is_run & F.col("name").isin(names))
    return rows.where(~known).select(*Stat.__dataclass_fields__)
