"""An engine that loads its model while the data is read and planned, where that saves time."""

from collections.abc import Sequence

from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.engines import IMPORTED, factory_of
from medhelm_spark.engines.engine_pool import StartedEngine
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.plan.run_specs import current_runs


def early_engine(ctx: Context, runs: Sequence[ResolvedRun]) -> StartedEngine | None:
    """Start the engine of the only model that fills its slot, for a run that is new to the suite.

    None where Spark computes (a task that starts an engine is not the one that asks), where a
    second model would end the first one's engine, and where the suite has planned all runs of the
    model before: their answers may be there, which only the plan shows.
    """
    if not ctx.lake.is_in_process:
        return None
    filling = {
        run.deployment.name: run.deployment
        for run in runs
        if run.deployment.engine != IMPORTED and factory_of(run.deployment).exclusive
    }
    if len(filling) != 1:
        return None
    (deployment,) = filling.values()
    known = {row.name for row in current_runs(ctx)}
    names = {run.name for run in runs if run.deployment.name == deployment.name}
    return None if names <= known else StartedEngine(deployment)
