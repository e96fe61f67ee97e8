"""Deployments by what keeps their engines apart: which jobs, streams and slots ask them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from medhelm_spark.domain.cluster import Slots
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import factory_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.capacity import capacity


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Deployments of which a slot asks one at a time, and how many slots there are."""

    name: str
    deployments: tuple[Deployment, ...]
    slots: Slots

    @property
    def shared(self) -> dict[str, Deployment]:
        """The deployments, each with a slot's part of the concurrency that it may use."""
        return {each.name: _share(each, self.slots.count) for each in self.deployments}


CHANGES = 2
"""Deployments with an engine that fills its slot, for each slot of a job."""

Group = tuple[Stream, ...]
"""Streams that one job asks at the same time."""


def groups_of(
    ctx: Context, deployments: Mapping[str, Deployment], names: Collection[str]
) -> list[Group]:
    """The jobs that ask deployments.

    A server has a stream for each host and port, and an engine of this job without a model of its
    own one too: others need not wait for it. Engines that fill their slot share a stream, in jobs
    by their number of GPUs and of few enough deployments: a slot that changes its model may take
    one of the tries that Spark gives its task.
    """
    shared: dict[str, list[Deployment]] = {}
    own: dict[str, list[Deployment]] = {}
    for name in sorted(names):
        deployment = deployments[name]
        factory = factory_of(deployment)
        if factory.exclusive:
            own.setdefault(f"{factory.gpus(deployment)} GPUs", []).append(deployment)
        else:
            place = factory.place(deployment) or deployment.engine
            shared.setdefault(place, []).append(deployment)
    streams = [_stream(ctx, place, parts) for place, parts in shared.items()]
    jobs = [tuple(streams)] if streams else []
    for key, parts in sorted(own.items()):
        most = CHANGES * _stream(ctx, key, parts).slots.count
        jobs += [
            (_stream(ctx, key, parts[first : first + most]),)
            for first in range(0, len(parts), most)
        ]
    return jobs


def _stream(ctx: Context, name: str, deployments: list[Deployment]) -> Stream:
    slots = capacity(ctx, deployments)
    return Stream(name=name, deployments=tuple(deployments), slots=slots)


def _share(deployment: Deployment, slots: int) -> Deployment:
    return replace(deployment, max_concurrency=max(1, deployment.max_concurrency // slots))
