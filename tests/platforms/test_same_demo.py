"""The demo with the real small model gives the same stats on every kind of cluster.

`make test-platforms` runs it, which also fetches what S3 and YARN need.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyspark
import pytest
import yaml

from medhelm_spark.engines.model_files import OWN_FILE, fetch_model
from medhelm_spark.lake.jvm import delta_conf
from tests.cluster.standalone import Standalone
from tests.connect.server import connect_server
from tests.hadoop import SPARK_HOME, hadoop_jars
from tests.installed import ROOT, checked
from tests.lakes import Stats, num_executors, stats
from tests.s3.conftest import BUCKET, Store, store
from tests.servers import HOST
from tests.yarn.conftest import yarn
from tests.yarn.daemons import Yarn, java_home

__all__ = ["store", "yarn"]

pytestmark = pytest.mark.timeout(1800)

DEMO = ("demo", "--no-tracking", "-o")


def run_demo(command: list[Any], folder: Path, variables: Mapping[str, str]) -> str:
    """Run the demo in a folder of its own; it has to end well. What it printed."""
    environment = {OWN_FILE: str(fetch_model()), **variables}
    output = checked(*command, folder=folder, **environment)
    assert "60 model calls" in output
    return output


def command_line(folder: Path, lake: str | Path, **variables: str) -> None:
    """The demo as a person types it, without spark-submit."""
    run_demo([sys.executable, "-m", "medhelm_spark.cli", *DEMO, lake], folder, variables)


def submitted(
    master: str, folder: Path, conf: Mapping[str, str] | None = None, **variables: str
) -> Path:
    """The demo by spark-submit with two executors; returns its lake."""
    lake = folder / "lake"
    settings = {
        **delta_conf(pyspark.__version__),
        "spark.pyspark.python": sys.executable,
        "spark.executorEnv.PYTHONPATH": str(ROOT),
        f"spark.executorEnv.{OWN_FILE}": str(fetch_model()),
        "spark.executor.memory": "1g",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "1",
        **(conf or {}),
    }
    command = [
        SPARK_HOME / "bin" / "spark-submit", "--master", master,
        "--load-spark-defaults", "--properties-file", ROOT / "spark-defaults.conf",
        *(part for key, value in settings.items() for part in ("--conf", f"{key}={value}")),
        ROOT / "jobs" / "command.py", *DEMO, lake,
    ]  # fmt: skip
    spark_variables = {"SPARK_HOME": str(SPARK_HOME), "SPARK_LOCAL_IP": HOST}
    output = run_demo(command, folder, spark_variables | variables)
    assert "judges: requests" in output, "judges join where slots pull"
    return lake


@pytest.fixture(scope="session")
def local_stats(tmp_path_factory: pytest.TempPathFactory) -> Stats:
    """The stats of the demo in one JVM of this machine."""
    folder = tmp_path_factory.mktemp("here")
    command_line(folder, folder / "lake")
    rows = stats(folder / "lake")
    assert len(rows) > 20
    return rows


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Standalone]:
    """A master and two workers that do not see the folder `driver`, and have homes of their own."""
    (tmp_path / "driver").mkdir()
    standalone = Standalone(tmp_path / "standalone", (tmp_path / "driver",))
    standalone.folder.mkdir()
    standalone.start(2)
    yield standalone
    standalone.stop()


def test_two_executors_of_one_machine(local_stats: Stats, tmp_path: Path) -> None:
    lake = submitted("local-cluster[2,1,1024]", tmp_path)
    assert num_executors(lake) == 2
    assert stats(lake) == local_stats


def test_a_standalone_cluster(local_stats: Stats, workers: Standalone, tmp_path: Path) -> None:
    lake = submitted(workers.url, tmp_path)
    assert num_executors(lake) == 2
    assert stats(lake) == local_stats


def test_spark_connect(local_stats: Stats, tmp_path: Path) -> None:
    with connect_server(tmp_path / "server", **{OWN_FILE: str(fetch_model())}) as address:
        command_line(tmp_path, tmp_path / "lake", SPARK_REMOTE=address)
    assert stats(tmp_path / "lake") == local_stats


def test_a_bucket(
    local_stats: Stats, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = f"s3a://{BUCKET}/demo"
    settings = store.settings(hadoop_jars("hadoop-aws"))
    (tmp_path / "prod_env").mkdir()
    (tmp_path / "prod_env" / "settings.yaml").write_text(yaml.safe_dump({"spark": settings}))
    command_line(tmp_path, lake, **store.environment)
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    assert stats(lake) == local_stats


def test_yarn(local_stats: Stats, yarn: Yarn, tmp_path: Path) -> None:
    conf = {
        "spark.executor.instances": "2",
        "spark.yarn.jars": f"local:{SPARK_HOME / 'jars'}/*",
        "spark.yarn.stagingDir": str(tmp_path / "staging"),
        "spark.executorEnv.SPARK_LOCAL_IP": HOST,
    }
    variables = {"HADOOP_CONF_DIR": str(yarn.conf), "JAVA_HOME": str(java_home())}
    lake = submitted("yarn", tmp_path, conf, **variables)
    assert num_executors(lake) == 2
    assert stats(lake) == local_stats
