"""What the executors' machines have: GPUs that Spark does not count, and files that a run reads.

A task is the only thing that can look there. Executors are known once one of their tasks answered;
where some have not after a few rounds, the others stand for them.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from platform import node

from medhelm_spark.domain.cluster import EXECUTOR_GPUS, Cluster, cores_of, executors_of
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines import preflight
from medhelm_spark.engines.slots import visible_gpus_here
from medhelm_spark.engines.worker import this_executor
from medhelm_spark.errors import MedhelmSparkError, SetupError
from medhelm_spark.lake.rows import map_rows, rows_of
from medhelm_spark.stages.context import Context

ROUNDS = 4
PAUSE = 0.2
"""Seconds that a task stays, so that the next one goes to another executor."""
MOST_TASKS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A task that looks around."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorMachine:
    """What a task found where it ran: executor, host, GPUs, and paths that are not there.

    `lacks` is what the engines there would have refused, one sentence, empty for nothing.
    """

    executor: str
    host: str
    gpus: int
    missing: tuple[str, ...]
    lacks: str


@dataclass(frozen=True, slots=True)
class Look:
    """The function of this module: visits in, machines out."""

    paths: tuple[str, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    pause: float = PAUSE

    def __call__(self, visits: Iterable[Visit]) -> Iterator[ExecutorMachine]:
        for _ in visits:
            time.sleep(self.pause)
            missing = tuple(path for path in self.paths if not Path(path).exists())
            gpus = len(visible_gpus_here())
            yield ExecutorMachine(
                executor=this_executor(),
                host=node(),
                gpus=gpus,
                missing=missing,
                lacks=next(filter(None, map(_lacks, self.deployments)), ""),
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
    """The executors that answered, in the order of their names; each once."""
    cluster = ctx.cluster()
    expected = cluster.executors or executors_of(cluster)[0]
    tasks = min(MOST_TASKS, 2 * max(cores_of(cluster), expected))
    visits = [Visit(number=number) for number in range(tasks)]
    found: dict[str, ExecutorMachine] = {}
    for attempt in range(1, ROUNDS + 1):
        frame = ctx.lake.frame(visits, Visit).repartition(tasks)
        look = Look(tuple(paths), tuple(deployments), PAUSE * attempt)
        rows = rows_of(map_rows(frame, look, Visit, ExecutorMachine), ExecutorMachine)
        found |= {row.executor: row for row in rows}
        if len(found) >= expected:
            break
    return [found[name] for name in sorted(found)]


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
    """Refuse a cluster of which a machine cannot run an engine that is loaded there.

    Raises:
        SetupError: a package, weights or a GPU is missing there; the sentence names the host.
    """
    for machine in machines(ctx, deployments=deployments) if deployments else ():
        if machine.lacks:
            raise SetupError(f"host {machine.host}: {machine.lacks}")


def refuse_absent(ctx: Context, paths: Sequence[str], whose: str) -> None:
    """Refuse paths that are not on every machine that runs tasks; `whose` says what needs them.

    Raises:
        SetupError: one is missing; the sentence names it and the host.
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
