"""The cluster as Spark describes it, and how many engines run on it at once.

Everything here is computed from what a session reports (`lake.cluster` asks it), so that each kind
of cluster is a case of a table of tests.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from medhelm_spark.errors import SetupError

GPU = "gpu"
"""What Spark calls the resource."""
EXECUTOR_GPUS = "spark.executor.resource.gpu.amount"
TASK_GPUS = "spark.task.resource.gpu.amount"
EXECUTOR_CORES = "spark.executor.cores"
TASK_CPUS = "spark.task.cpus"
INSTANCES = "spark.executor.instances"
DYNAMIC = "spark.dynamicAllocation.enabled"
MOST = "spark.dynamicAllocation.maxExecutors"
FIRST = ("spark.dynamicAllocation.initialExecutors", "spark.dynamicAllocation.minExecutors")
PROFILE = "spark.databricks.cluster.profile"
TAGS = "spark.databricks.clusterUsageTags"
TARGET_WORKERS, MAX_WORKERS = f"{TAGS}.clusterTargetWorkers", f"{TAGS}.clusterMaxWorkers"
SINGLE_NODE = "singleNode"

KEYS = (
    EXECUTOR_GPUS,
    TASK_GPUS,
    EXECUTOR_CORES,
    TASK_CPUS,
    INSTANCES,
    DYNAMIC,
    MOST,
    *FIRST,
    PROFILE,
    TARGET_WORKERS,
    MAX_WORKERS,
)
"""Spark's settings of the size of a cluster."""

ONE_MACHINE = re.compile(r"local(\[.*\])?")
THREADS = re.compile(r"local\[(\d+)(?:,.*)?\]")
STANDARD_EXECUTORS = 2
"""What Spark starts on YARN and Kubernetes where no setting has a number."""
UNREPORTED_CORES = 4
"""What a session is taken to have that reports nothing, as a serverless one."""
WITH_PROFILES = ("spark://", "local-cluster", "yarn", "k8s://")
"""The masters on which a single stage may ask for resources of its own."""


class Manager(StrEnum):
    """What gives Spark its executors, by the master."""

    LOCAL = "local"
    LOCAL_CLUSTER = "local-cluster"
    STANDALONE = "standalone"
    YARN = "YARN"
    KUBERNETES = "Kubernetes"
    OTHER = "other"


def manager_of(master: str) -> Manager:
    """The cluster manager of a master; OTHER for one that is not reported, as over Spark Connect.

    >>> manager_of("local[*,4]"), manager_of("spark://head:7077"), manager_of("")
    (<Manager.LOCAL: 'local'>, <Manager.STANDALONE: 'standalone'>, <Manager.OTHER: 'other'>)
    """
    if ONE_MACHINE.fullmatch(master):
        return Manager.LOCAL
    begins = {
        "local-cluster": Manager.LOCAL_CLUSTER,
        "spark://": Manager.STANDALONE,
        "yarn": Manager.YARN,
        "k8s://": Manager.KUBERNETES,
    }
    return next((kind for text, kind in begins.items() if master.startswith(text)), Manager.OTHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What a session reports of its machines.

    `master` is empty where it is not reported. `conf` has the KEYS that are set. `executors` and
    `hosts` are how many are registered now, the driver aside, and on how many machines; None where
    the session does not report it. `parallelism` is Spark's own count of their cores.
    `node_gpus` is how many GPUs a machine lists itself; None where nothing looked.
    """

    master: str = ""
    conf: Mapping[str, str] = field(default_factory=dict)
    executors: int | None = None
    hosts: int | None = None
    parallelism: int | None = None
    node_gpus: int | None = None

    @property
    def manager(self) -> Manager:
        """What gives Spark its executors."""
        return manager_of(self.master)

    @property
    def is_one_machine(self) -> bool:
        """Whether driver and tasks share a machine: local mode, a single-node cluster."""
        return self.manager is Manager.LOCAL or self.conf.get(PROFILE) == SINGLE_NODE

    @property
    def has_profiles(self) -> bool:
        """Whether a stage may ask for GPUs of its own (`ResourceProfile`)."""
        is_databricks = any(key in self.conf for key in (PROFILE, TARGET_WORKERS))
        return self.master.startswith(WITH_PROFILES) and not is_databricks

    @property
    def is_dynamic(self) -> bool:
        """Whether executors come and go with the work."""
        return self.conf.get(DYNAMIC, "").lower() == "true"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageResources:
    """What each task of a stage asks Spark for, where its stages may differ."""

    gpus: int
    cpus: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """How many engines run at once, and what this number comes from, for a person.

    `needs` is what the tasks have to request; None where they get it anyway.
    """

    count: int
    source: str
    needs: StageResources | None = None


def slots_of(cluster: Cluster, gpus: int | None) -> Slots:
    """How many engines of `gpus` devices each the cluster runs at once; at least one.

    `gpus` is tensor times pipeline parallel size; 0 is an engine on the CPU, which takes a whole
    executor, and None one that takes what its task gets, at least one device.

    Raises:
        SetupError: no executor, or no task, has so many GPUs.
    """
    executors, origin = executors_of(cluster)
    if gpus == 0:
        return Slots(count=executors, source=f"one engine per executor, {origin}")
    if EXECUTOR_GPUS in cluster.conf and not cluster.is_one_machine:
        return _counted_gpus(cluster, gpus, executors, origin)
    return _listed_gpus(cluster, gpus or 1, executors, origin)


def _counted_gpus(cluster: Cluster, gpus: int | None, executors: int, origin: str) -> Slots:
    """Slots of a cluster whose executors have GPUs by Spark's own count."""
    available, per_task = _number(cluster, EXECUTOR_GPUS), _share(cluster.conf.get(TASK_GPUS))
    has = f"executors have {_count(int(available))} each ({EXECUTOR_GPUS})"
    per_engine = gpus or max(1, math.floor(per_task))
    if available < per_engine:
        raise SetupError(f"an engine needs {_count(per_engine)}, but {has}.")
    cores = int(_number(cluster, EXECUTOR_CORES)) or _cores_seen(cluster)
    if cluster.has_profiles:
        per_executor = (
            min(int(available // per_engine), cores) if cores else int(available // per_engine)
        )
        cpus = cores // per_executor if cores else 1
        needs = StageResources(gpus=per_engine, cpus=cpus)
        source = f"{origin}; {has}, {_count(per_engine)} per engine"
        return Slots(count=executors * per_executor, source=source, needs=needs)
    if per_task < per_engine:
        raise SetupError(
            f"an engine needs {_count(per_engine)}, but Spark gives a task {per_task:g} "
            f"({TASK_GPUS}); set it to {per_engine}."
        )
    per_executor = int(available // per_task)
    if cores:
        per_executor = min(per_executor, max(1, cores // int(_number(cluster, TASK_CPUS, 1))))
    each = f"a task has {per_task:g} ({TASK_GPUS})"
    count = executors * max(1, per_executor)
    return Slots(count=count, source=f"{origin}; {has}, {each}")


def _listed_gpus(cluster: Cluster, per_engine: int, executors: int, origin: str) -> Slots:
    """Slots of machines whose GPUs Spark does not count: they are what each machine lists."""
    if not cluster.node_gpus:
        source = f"one engine per executor, {origin}; no GPU was found"
        return Slots(count=executors, source=source)
    if cluster.node_gpus < per_engine:
        raise SetupError(
            f"an engine needs {_count(per_engine)}, but a machine has {_count(cluster.node_gpus)}."
        )
    # Executors of one machine share its devices, whichever of them runs a task.
    machines = 1 if cluster.is_one_machine else min(executors, cluster.hosts or executors)
    each = f"machines list {_count(cluster.node_gpus)} each, {_count(per_engine)} per engine"
    slots = machines * (cluster.node_gpus // per_engine)
    if machines < executors:
        each += f", on {_machines(machines)}"
    return Slots(count=min(slots, cores_of(cluster)), source=f"{origin}; {each}")


def executors_of(cluster: Cluster) -> tuple[int, str]:
    """How many executors the job has or will have, at least one, and the source of this number."""
    conf, registered = cluster.conf, cluster.executors
    if cluster.is_one_machine:
        return 1, "one machine"
    for key in (MAX_WORKERS, TARGET_WORKERS):
        if _whole(conf.get(key)):
            return _count_from(_whole(conf[key]), key)
    if cluster.is_dynamic:
        if most := _whole(conf.get(MOST)):
            return _count_from(most, MOST)
        expected = max(registered or 0, *(_whole(conf.get(key)) for key in (*FIRST, INSTANCES)), 1)
        return expected, f"{_executors(expected)} at present (no {MOST})"
    if instances := _whole(conf.get(INSTANCES)):
        return _count_from(instances, INSTANCES)
    if registered:
        return registered, f"{_executors(registered)} registered"
    if cluster.manager in (Manager.YARN, Manager.KUBERNETES):
        return _count_from(STANDARD_EXECUTORS, f"Spark's own {INSTANCES}")
    return 1, "the session does not report its executors: give their number in the setting slots"


def cores_of(cluster: Cluster) -> int:
    """How many tasks of one core the cluster runs at once, at least one."""
    if threads := THREADS.fullmatch(cluster.master):
        return max(1, int(threads[1]))
    per_executor = _whole(cluster.conf.get(EXECUTOR_CORES)) or 1
    if not (cluster.master or cluster.conf or cluster.parallelism):
        return UNREPORTED_CORES
    executors = 0 if cluster.is_one_machine else executors_of(cluster)[0]
    return max(1, cluster.parallelism or 0, executors * per_executor)


def _cores_seen(cluster: Cluster) -> int:
    """Cores of an executor by Spark's own count of all of them; 0 where it is not reported."""
    return (cluster.parallelism or 0) // cluster.executors if cluster.executors else 0


def _count_from(executors: int, key: str) -> tuple[int, str]:
    return executors, f"{_executors(executors)} ({key})"


def _executors(count: int) -> str:
    return f"{count} executor{'s' * (count != 1)}"


def _machines(count: int) -> str:
    return f"{count} machine{'s' * (count != 1)}"


def _count(gpus: int) -> str:
    return f"{gpus} GPU{'s' * (gpus != 1)}"


def _whole(text: str | None) -> int:
    """A count of a setting; 0 for none, for `infinity` and for what is no number."""
    return int(text) if text and text.isdecimal() and int(text) < 1 << 30 else 0


def _share(text: str | None) -> float:
    try:
        return float(text) if text else 1.0
    except ValueError:
        return 1.0


def _number(cluster: Cluster, key: str, absent: float = 0) -> float:
    text = cluster.conf.get(key)
    try:
        return float(text) if text else absent
    except ValueError:
        raise SetupError(f"{key} is {text!r}; allowed: a number.") from None
