"""What the executors' machines have: GPUs that Spark does not count, and files that a run reads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from platform import node

from medhelm_spark.domain.cluster import EXECUTOR_GPUS, Cluster
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import preflight
from medhelm_spark.engines.slots import visible_gpus_here
from medhelm_spark.engines.worker import this_executor
from medhelm_spark.errors import MedhelmSparkError, SetupError
from medhelm_spark.lake.executors import each_executor
from medhelm_spark.stages.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorMachine:
    """The machine where a task ran."""

    name: str
    """The executor's."""
    host: str
    gpus: int
    missing: tuple[str, ...]
    """Paths that do not exist there."""
    lacks: str
    """What the engines lack there, in one sentence; empty if nothing."""


def look(paths: Sequence[str], deployments: Sequence[Deployment]) -> ExecutorMachine:
    """The machine of this process."""
    return ExecutorMachine(
        name=this_executor(),
        host=node(),
        gpus=len(visible_gpus_here()),
        missing=tuple(path for path in paths if not Path(path).exists()),
        lacks=next(filter(None, map(_lacks, deployments)), ""),
    )


def _lacks(deployment: Deployment) -> str:
    try:
        preflight(deployment)
    except MedhelmSparkError as error:
        return str(error)
    return ""


def machines(
    ctx: Context, paths: Sequence[str] = (), deployments: Sequence[Deployment] = ()
) -> list[ExecutorMachine]:
    """The executors that answered, ordered by name; each once."""
    looking = partial(look, tuple(paths), tuple(deployments))
    return each_executor(ctx.lake.spark, ctx.cluster(), looking, ExecutorMachine)


def with_gpus(ctx: Context) -> Cluster:
    """The cluster, with what its machines list where Spark does not count their GPUs."""
    cluster = ctx.cluster()
    if EXECUTOR_GPUS in cluster.conf or cluster.node_gpus is not None:
        return cluster
    found = machines(ctx)
    hosts = len({machine.host for machine in found})
    gpus = min((machine.gpus for machine in found), default=0)
    return replace(cluster, node_gpus=gpus, hosts=cluster.hosts or hosts)


def refuse_engines(ctx: Context, deployments: Sequence[Deployment]) -> None:
    """Refuse a cluster if a machine cannot run an engine that is loaded there.

    Raises:
        SetupError: a package, weights or a GPU is missing there; the message names the host.
    """
    for machine in machines(ctx, deployments=deployments) if deployments else ():
        if machine.lacks:
            raise SetupError(f"host {machine.host}: {machine.lacks}")


def refuse_absent(ctx: Context, paths: Sequence[str], whose: str) -> None:
    """Refuse paths that are not on every machine that runs tasks; `whose` names what needs them.

    Raises:
        SetupError: one is missing; the message names it and the host.
    """
    for machine in machines(ctx, paths) if paths else ():
        if machine.missing:
            more = len(machine.missing) - 1
            raise SetupError(
                f"{whose}: host {machine.host} has no {machine.missing[0]}"
                + (f", nor {more} other path{'s' * (more > 1)}" if more else "")
                + "; put it at this path on every machine of the cluster, or on a volume or mount "
                "that all of them have."
            )
