"""Slots, cores and cluster managers by what Spark reports: each kind of cluster is a case."""

from typing import Any

import pytest

from medhelm_spark.domain.cluster import (
    DYNAMIC,
    EXECUTOR_CORES,
    EXECUTOR_GPUS,
    INSTANCES,
    MAX_WORKERS,
    MOST,
    PROFILE,
    SINGLE_NODE,
    TARGET_WORKERS,
    TASK_CPUS,
    TASK_GPUS,
    Cluster,
    Manager,
    StageResources,
    cores_of,
    manager_of,
    slots_of,
)
from medhelm_spark.errors import SetupError

HEAD = "spark://head:7077"
API = "k8s://https://api:443"


def cluster(master: str, conf: dict[str, str] | None = None, **changes: Any) -> Cluster:
    return Cluster(master=master, conf=conf or {}, **changes)


CASES = {
    "one machine without a GPU": (cluster("local[*,4]", parallelism=8, node_gpus=0), None, 1),
    "one machine of 4 GPUs": (cluster("local[*,4]", parallelism=8, node_gpus=4), None, 4),
    "one machine of 4 GPUs, 2 an engine": (cluster("local[*]", parallelism=8, node_gpus=4), 2, 2),
    "one machine with fewer threads than GPUs": (cluster("local[2]", node_gpus=8), 1, 2),
    "one machine, an engine on the CPU": (cluster("local[*]", node_gpus=4), 0, 1),
    "local-cluster": (cluster("local-cluster[2,1,1024]", executors=2, parallelism=2), 0, 2),
    "standalone with GPU amounts": (cluster(HEAD, {EXECUTOR_GPUS: "8"}, executors=2), None, 16),
    "standalone, 4 GPUs an engine": (cluster(HEAD, {EXECUTOR_GPUS: "8"}, executors=2), 4, 4),
    "standalone, 3 of 8 GPUs": (cluster(HEAD, {EXECUTOR_GPUS: "8"}, executors=2), 3, 4),
    "standalone whose tasks have several": (
        cluster(HEAD, {EXECUTOR_GPUS: "8", TASK_GPUS: "2"}, executors=2),
        None,
        8,
    ),
    "standalone with a share of a GPU per task": (
        cluster(HEAD, {EXECUTOR_GPUS: "1", TASK_GPUS: "0.125"}, executors=3),
        None,
        3,
    ),
    "standalone without GPU amounts": (
        cluster(HEAD, executors=2, hosts=2, parallelism=64, node_gpus=8),
        2,
        8,
    ),
    "standalone, two executors of one machine": (
        cluster(HEAD, executors=2, hosts=1, parallelism=64, node_gpus=8),
        1,
        8,
    ),
    "standalone without any GPU": (cluster(HEAD, executors=2, hosts=2, node_gpus=0), None, 2),
    "YARN that says how many": (cluster("yarn", {INSTANCES: "5"}, executors=3), 0, 5),
    "YARN that says nothing": (cluster("yarn", executors=0), 0, 2),
    "YARN with dynamic allocation": (
        cluster("yarn", {DYNAMIC: "true", MOST: "6", EXECUTOR_GPUS: "2"}, executors=1),
        1,
        12,
    ),
    "EMR without spark.executor.instances": (
        cluster("yarn", {DYNAMIC: "true", MOST: "infinity"}, executors=4),
        0,
        4,
    ),
    "EMR that has no executor yet": (cluster("yarn", {DYNAMIC: "true"}, executors=0), 0, 1),
    "EMR Serverless": (
        cluster("custom:emr-serverless", {DYNAMIC: "true", INSTANCES: "3"}, executors=2),
        0,
        3,
    ),
    "Kubernetes": (cluster(API, {INSTANCES: "4", EXECUTOR_GPUS: "4"}, executors=4), 2, 8),
    "Databricks, 2 workers of 8 GPUs": (
        cluster(HEAD, {TARGET_WORKERS: "2", EXECUTOR_GPUS: "8", TASK_GPUS: "1"}, executors=2),
        1,
        16,
    ),
    "Databricks, whole nodes": (
        cluster(HEAD, {TARGET_WORKERS: "2", EXECUTOR_GPUS: "8", TASK_GPUS: "8"}, executors=2),
        8,
        2,
    ),
    "Databricks that grows": (cluster(HEAD, {TARGET_WORKERS: "2", MAX_WORKERS: "6"}), 0, 6),
    "Databricks, a single node": (
        cluster("local[*, 4]", {PROFILE: SINGLE_NODE, TARGET_WORKERS: "0"}, node_gpus=0),
        None,
        1,
    ),
    "Databricks, a single node of 8 GPUs": (
        cluster(
            "spark://node:7077",
            {PROFILE: SINGLE_NODE, TARGET_WORKERS: "0"},
            parallelism=96,
            node_gpus=8,
        ),
        4,
        2,
    ),
    "Connect or serverless": (cluster(""), None, 1),
}


@pytest.mark.parametrize("case", CASES)
def test_slots(case: str) -> None:
    machines, gpus, expected = CASES[case]
    assert slots_of(machines, gpus).count == expected


@pytest.mark.parametrize(
    ("machines", "gpus", "source"),
    [
        (
            cluster(HEAD, {EXECUTOR_GPUS: "8"}, executors=2),
            4,
            "2 executors registered; executors have 8 GPUs each "
            "(spark.executor.resource.gpu.amount), 4 GPUs per engine",
        ),
        (
            cluster("yarn", {DYNAMIC: "true"}, executors=1),
            0,
            "one engine per executor, 1 executor at present (no spark.dynamicAllocation."
            "maxExecutors)",
        ),
        (cluster(""), 0, "the session does not report its executors: give their number in the"),
        (cluster("local[*]", node_gpus=0), None, "one machine; no GPU was found"),
    ],
)
def test_the_number_says_where_it_comes_from(
    machines: Cluster, gpus: int | None, source: str
) -> None:
    assert source in slots_of(machines, gpus).source


def test_tasks_ask_for_the_gpus_of_their_engine_where_a_stage_can() -> None:
    """Eight cores for four engines of two GPUs: the other stages have all eight."""
    conf = {EXECUTOR_GPUS: "8", EXECUTOR_CORES: "8"}
    assert slots_of(cluster(HEAD, conf, executors=1), 2).needs == StageResources(gpus=2, cpus=2)
    assert slots_of(cluster("local[8]", conf, node_gpus=8), 2).needs is None, "local mode refuses"
    databricks = {**conf, TARGET_WORKERS: "1", TASK_GPUS: "2"}
    assert slots_of(cluster(HEAD, databricks, executors=1), 2).needs is None


def test_without_stages_of_their_own_cores_bound_the_tasks() -> None:
    conf = {EXECUTOR_GPUS: "8", TASK_GPUS: "1", EXECUTOR_CORES: "8", TASK_CPUS: "4"}
    machines = cluster("custom:other", conf, executors=3)
    assert slots_of(machines, 1).count == 6, "two tasks of four cores on each of three"


@pytest.mark.parametrize(
    ("machines", "gpus", "message"),
    [
        (cluster(HEAD, {EXECUTOR_GPUS: "1"}, executors=2), 2, "needs 2 GPUs, but executors have 1"),
        (cluster("local[*]", node_gpus=2), 4, "needs 4 GPUs, but a machine has 2 GPUs"),
        (
            cluster(HEAD, {TARGET_WORKERS: "1", EXECUTOR_GPUS: "8", TASK_GPUS: "1"}),
            2,
            r"Spark gives a task 1 \(spark.task.resource.gpu.amount\); set it to 2",
        ),
        (
            cluster(HEAD, {TARGET_WORKERS: "1", EXECUTOR_GPUS: "1", TASK_GPUS: "0.25"}),
            None,
            "set it to 1",
        ),
        (cluster(HEAD, {EXECUTOR_GPUS: "many"}, executors=1), 1, "gpu.amount is 'many'"),
    ],
)
def test_an_engine_that_fits_nowhere_is_refused(
    machines: Cluster, gpus: int | None, message: str
) -> None:
    with pytest.raises(SetupError, match=message):
        slots_of(machines, gpus)


@pytest.mark.parametrize(
    ("machines", "cores"),
    [
        (cluster("local[3]", parallelism=8), 3),
        (cluster("local[*,4]", parallelism=8), 8),
        (cluster(HEAD, executors=2, parallelism=16), 16),
        (cluster("yarn", {INSTANCES: "5", EXECUTOR_CORES: "4"}, parallelism=2), 20),
        (cluster(API, executors=0), 2),
        (cluster(""), 4),
    ],
)
def test_cores(machines: Cluster, cores: int) -> None:
    assert cores_of(machines) == cores


@pytest.mark.parametrize(
    ("master", "manager"),
    [
        ("local", Manager.LOCAL),
        ("local[2,4]", Manager.LOCAL),
        ("local-cluster[2,1,1024]", Manager.LOCAL_CLUSTER),
        ("spark://a:1,b:1", Manager.STANDALONE),
        ("yarn", Manager.YARN),
        (API, Manager.KUBERNETES),
        ("custom:emr-serverless", Manager.OTHER),
        ("", Manager.OTHER),
    ],
)
def test_the_manager_of_a_master(master: str, manager: Manager) -> None:
    assert manager_of(master) is manager
