"""Groups deployments by engine and server: which jobs, streams and slots ask them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from medhelm_spark.domain.cluster import Slots
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import factory_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.capacity import capacity


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Deployments that a slot asks one at a time, and the number of slots."""

    name: str
    deployments: tuple[Deployment, ...]
    slots: Slots

    @property
    def is_on_gpus(self) -> bool:
        """Whether a slot is filled by an engine on GPUs."""
        factories = ((factory_of(each), each) for each in self.deployments)
        return any(factory.exclusive and factory.gpus(each) != 0 for factory, each in factories)

    @property
    def shared(self) -> dict[str, Deployment]:
        """The deployments, each with one slot's share of its concurrency."""
        return {each.name: _share(each, self.slots.count) for each in self.deployments}


CHANGES = 2
"""Deployments with an engine that fills its slot, for each slot of a job."""

Group = tuple[Stream, ...]
"""Streams that one job asks at the same time."""


def groups_of(
    ctx: Context, deployments: Mapping[str, Deployment], names: Collection[str]
) -> list[Group]:
    """The jobs that ask deployments.

    Each host and port of a server has a stream of its own, and so has an engine that does not fill
    its slot: others need not wait for it. Engines that fill their slot share a stream, in jobs by
    their number of GPUs and with few deployments: a slot that changes its model may use up one of
    the attempts of its Spark task.
    """
    shared: dict[str, list[Deployment]] = {}
    own: dict[str, list[Deployment]] = {}
    for name in sorted(names):
        deployment = deployments[name]
        factory = factory_of(deployment)
        if factory.exclusive:
            own.setdefault(_own_stream(deployment), []).append(deployment)
        else:
            stream_name = factory.host(deployment) or deployment.engine
            shared.setdefault(stream_name, []).append(deployment)
    streams = tuple(
        Stream(name=stream_name, deployments=tuple(parts), slots=capacity(ctx, parts))
        for stream_name, parts in shared.items()
    )
    jobs = [streams] if streams else []
    for key, parts in sorted(own.items()):
        slots = capacity(ctx, parts)
        most = CHANGES * slots.count
        for first in range(0, len(parts), most):
            few = tuple(parts[first : first + most])
            jobs.append((Stream(name=key, deployments=few, slots=slots),))
    return jobs


def with_judges(ctx: Context, group: Group, judges: Iterable[Deployment]) -> Group:
    """A job with the judges that it can ask in addition to its deployments, on its slots.

    A judge's engine that fills its slot needs slots of its kind, and counts as a deployment of the
    job; a judge behind a server can always have a stream.
    """
    streams = {stream.name: stream for stream in group}
    most = max(stream.slots.count for stream in group)
    for judge in judges:
        factory = factory_of(judge)
        name = _own_stream(judge) if factory.exclusive else factory.host(judge) or judge.engine
        known = streams.get(name)
        others = [each for each in (known.deployments if known else ()) if each.name != judge.name]
        parts = (*others, judge)
        if not factory.exclusive:
            slots = capacity(ctx, parts)
            slots = replace(slots, count=min(slots.count, most))
            streams[name] = Stream(name=name, deployments=parts, slots=slots)
        elif known and len(parts) <= CHANGES * known.slots.count:
            streams[name] = replace(known, deployments=parts)
    return tuple(streams.values())


def _own_stream(deployment: Deployment) -> str:
    return f"{factory_of(deployment).gpus(deployment)} GPUs"


def _share(deployment: Deployment, slots: int) -> Deployment:
    return replace(deployment, max_concurrency=max(1, deployment.max_concurrency // slots))
