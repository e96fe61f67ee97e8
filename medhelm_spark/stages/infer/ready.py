"""Before a run reads data: how many engines the cluster can run, and what its machines lack."""

from collections.abc import Iterable

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import factory_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.capacity import slot_lines, slots_by_name
from medhelm_spark.stages.machines import refuse_engines, with_gpus


def ready(ctx: Context, deployments: Iterable[Deployment]) -> None:
    """Print how many engines of each deployment run at once; check that each machine can run them.

    For the CPU of a single machine it prints nothing: there is one engine. The driver's own machine
    was checked before.

    Raises:
        SetupError: a machine lacks the package, weights or GPUs of an engine; the message names
            the host.
    """
    deployments = list(deployments)
    own = [each for each in deployments if factory_of(each).exclusive]
    with_devices = [each for each in own if factory_of(each).gpus(each) != 0]
    reported = with_devices if ctx.is_one_machine else own
    if reported:
        cluster = with_gpus(ctx) if with_devices else ctx.cluster()
        for line in slot_lines(slots_by_name(cluster, reported, ctx.slots)):
            ctx.say(line)
    if not ctx.is_one_machine:
        refuse_engines(ctx, deployments)
