"""How many tasks send requests at once: each has a slot, or a share of the connections."""

from collections.abc import Iterable, Mapping

from medhelm_spark.domain.cluster import Cluster, Slots, slots_of
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import factory_of
from medhelm_spark.errors import SetupError
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.machines import with_gpus

ASKED = "the setting slots"


def capacity(ctx: Context, deployments: Iterable[Deployment]) -> Slots:
    """Slots for these deployments together: the smallest number of any of them.

    An engine that owns its GPUs or its machine has a slot of its own; for servers each task has a
    share of the connections.

    Raises:
        SetupError: no executor has the GPUs that one of the engines needs.
    """
    deployments = list(deployments)
    owners = [each for each in deployments if factory_of(each).exclusive]
    if not owners:
        count = min(ctx.cores, *(deployment.max_concurrency for deployment in deployments))
        return Slots(count=max(1, count), source="connections")
    needs_gpus = any(_gpus(deployment) != 0 for deployment in owners)
    cluster = with_gpus(ctx) if needs_gpus else ctx.cluster()
    return min(slots_by_name(cluster, owners, ctx.slots).values(), key=lambda slots: slots.count)


def slots_by_name(
    cluster: Cluster, deployments: Iterable[Deployment], configured: int | None
) -> dict[str, Slots]:
    """The slots of every deployment with an engine of its own; `configured` is the setting.

    Raises:
        SetupError: no executor has the GPUs that one of the engines needs.
    """
    found: dict[str, Slots] = {}
    for deployment in deployments:
        if not factory_of(deployment).exclusive:
            continue
        try:
            slots = slots_of(cluster, _gpus(deployment))
        except SetupError as error:
            raise SetupError(f"deployment {deployment.name!r}: {error}") from None
        if configured:
            slots = Slots(count=configured, source=ASKED, needs=slots.needs)
        found[deployment.name] = slots
    return found


def slot_lines(slots: Mapping[str, Slots]) -> list[str]:
    """A line for each deployment: its slots, and where their number comes from."""
    return [f"slots: {each.count} for {name}: {each.source}" for name, each in slots.items()]


def _gpus(deployment: Deployment) -> int | None:
    return factory_of(deployment).gpus(deployment)
