"""An engine that loads its model while the data is read and planned, where that saves time."""

from collections.abc import Sequence

from medhelm_spark.domain.plan import ResolvedRun, deployments_of
from medhelm_spark.engines import IMPORTED, factory_of
from medhelm_spark.engines.engine import EarlyStart
from medhelm_spark.engines.engine_pool import StartedEngine
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.early_start import start_on_slots
from medhelm_spark.stages.plan.run_specs import current_runs


def early_engine(ctx: Context, runs: Sequence[ResolvedRun]) -> EarlyStart | None:
    """Start the engine of the only model that fills its slot, for a run that is new to the suite.

    None if a second model would end the first one's engine, or if the suite has planned all runs of
    the model before: they may be answered, which only the plan shows. On slots of Spark a judge
    that fills its slot counts as a model: the order gives it slots of its own.
    """
    models = {run.deployment.name: run.deployment for run in runs}
    filling = [
        each
        for each in (models if ctx.lake.is_in_process else deployments_of(runs)).values()
        if each.engine != IMPORTED and factory_of(each).exclusive
    ]
    if len(filling) != 1 or filling[0].name not in models:
        return None
    (deployment,) = filling
    known = {row.name for row in current_runs(ctx)}
    names = {run.name for run in runs if run.deployment.name == deployment.name}
    if names <= known:
        return None
    return StartedEngine(deployment) if ctx.lake.is_in_process else start_on_slots(ctx, deployment)
