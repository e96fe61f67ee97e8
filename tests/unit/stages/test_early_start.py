"""On which clusters an engine may start while the data is read."""

import pytest

from medhelm_spark.domain.cluster import (
    DYNAMIC,
    EXECUTOR_CORES,
    EXECUTOR_GPUS,
    INSTANCES,
    TASK_GPUS,
    Cluster,
    slots_of,
)
from medhelm_spark.stages.infer.early_start import leaves_cores

ASSIGNED = {INSTANCES: "4", EXECUTOR_CORES: "8"}


@pytest.mark.parametrize(
    ("cluster", "leaves"),
    [
        pytest.param(Cluster(master="local[16]", node_gpus=1), True, id="one GPU, 16 cores"),
        pytest.param(Cluster(master="local[16]", node_gpus=8), True, id="eight GPUs, 16 cores"),
        pytest.param(Cluster(master="local[2]", node_gpus=2), False, id="a core for each GPU"),
        pytest.param(
            Cluster(master="yarn", conf={**ASSIGNED, EXECUTOR_GPUS: "1"}),
            True,
            id="executors of one GPU each, which Spark assigns",
        ),
        pytest.param(
            Cluster(master="yarn", conf={**ASSIGNED, EXECUTOR_GPUS: "4"}),
            False,
            id="executors of four: a task may get another GPU than its worker has",
        ),
        pytest.param(
            Cluster(master="yarn", conf={**ASSIGNED, EXECUTOR_GPUS: "1", DYNAMIC: "true"}),
            False,
            id="a stage with needs of its own gets executors of its own",
        ),
        pytest.param(
            Cluster(conf={**ASSIGNED, EXECUTOR_GPUS: "1", TASK_GPUS: "1"}, executors=4),
            True,
            id="every task is given its GPU",
        ),
    ],
)
def test_slots_leave_cores_and_are_met_again(cluster: Cluster, leaves: bool) -> None:
    assert leaves_cores(cluster, slots_of(cluster, 1)) is leaves
