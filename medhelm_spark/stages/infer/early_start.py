"""An engine on GPUs that starts on all its slots while the driver reads and plans the data.

The tasks of a job start the engine and end. It stays in the Python workers of these tasks, which
Spark gives to the tasks that ask (`own_workers`).
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from medhelm_spark.domain.cluster import EXECUTOR_GPUS, Cluster, Slots, cores_of, executors_of
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.engines.engine import EarlyStart
from medhelm_spark.engines.engine_pool import engine_for
from medhelm_spark.lake.cancel import cancellable
from medhelm_spark.lake.lake import Lake, new_write_id
from medhelm_spark.lake.rows import map_rows, rows_of
from medhelm_spark.lake.settings import is_connect, setting
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.groups import groups_of
from medhelm_spark.stages.infer.pulling import Slot

POLL_SECONDS = 0.2


def start_on_slots(ctx: Context, deployment: Deployment) -> EarlyStart | None:
    """Start an engine on its slots; None where later tasks might not find it, or would wait.

    `leaves_cores` decides on which clusters. Without GPUs a start is short, and needs the cores
    that read the data.
    """
    spark = ctx.lake.spark
    if is_connect(spark) or setting(spark, "spark.python.worker.reuse") == "false":
        return None
    ((stream,),) = groups_of(ctx, {deployment.name: deployment}, [deployment.name])
    slots = stream.slots
    if not stream.is_on_gpus or not leaves_cores(ctx.cluster(), slots):
        return None
    if slots.needs:
        slots = replace(slots, needs=replace(slots.needs, cpus=1))
    return StartedOnSlots(ctx.lake, stream.shared[deployment.name], slots)


def leaves_cores(cluster: Cluster, slots: Slots) -> bool:
    """Whether a task for each slot leaves half of the cores free, and a later task finds its slot.

    A Python worker keeps the GPUs that it took first. Where Spark assigns GPUs to tasks, the next
    task in that worker has the same ones only if the executor has one slot; and with dynamic
    allocation a stage with needs of its own gets executors of its own.
    """
    if 2 * slots.count > cores_of(cluster):
        return False
    if EXECUTOR_GPUS not in cluster.conf or cluster.is_one_machine:
        return True
    has_one = slots.count <= executors_of(cluster)[0]
    return has_one and not (slots.needs and cluster.is_dynamic)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartEngine:
    """The function of the job: returns each slot when its engine runs or has failed to start."""

    deployment: Deployment

    def __call__(self, slots: Iterable[Slot]) -> Iterator[Slot]:
        for slot in slots:
            with suppress(Exception):  # the task that asks tries again, and reports what it raises
                engine_for(self.deployment)
            yield slot


class StartedOnSlots:
    """The job that starts an engine, in a thread of its own.

    An unused engine ends with its Python worker, which Spark ends after a minute.
    """

    def __init__(self, lake: Lake, deployment: Deployment, slots: Slots) -> None:
        self._spark = lake.spark
        start = StartEngine(deployment=deployment)
        self._job = map_rows(
            lake.numbers(slots.count), start, Slot, Slot, slots.needs, own_workers=True
        )
        self._cancel: Callable[[], None] | None = None
        self._thread = threading.Thread(
            target=self._run, name="medhelm-spark-engine-start", daemon=True
        )
        self._thread.start()

    def _run(self) -> None:
        with suppress(Exception), cancellable(self._spark, f"engine-{new_write_id()}") as cancel:
            self._cancel = cancel
            rows_of(self._job, Slot)

    def wait(self) -> None:
        """See EarlyStart."""
        self._thread.join()

    def end(self) -> None:
        """Cancel the job: Spark ends its Python workers, and these end their engines."""
        while self._thread.is_alive():
            if self._cancel:
                with suppress(Exception):  # the session may have been stopped meanwhile
                    self._cancel()
            self._thread.join(POLL_SECONDS)
