"""A YARN cluster of this machine: Hadoop's own mini cluster, a resource and a node manager."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster.conftest import packed
from tests.hadoop import SPARK_HOME, hadoop_jars

__all__ = ["packed"]

SECONDS = 180.0
MANAGER = "org.apache.hadoop.mapreduce.MiniHadoopClusterManager"
SETTINGS = (
    "yarn.minicluster.yarn.nodemanager.resource.memory-mb=10240",
    "yarn.nodemanager.vmem-check-enabled=false",
    "yarn.nodemanager.pmem-check-enabled=false",
    "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage=99.5",
    "yarn.nodemanager.delete.debug-delay-sec=600",
)


def java_home() -> Path:
    """Where this machine's Java is."""
    if home := os.environ.get("JAVA_HOME"):
        return Path(home)
    return Path(str(shutil.which("java"))).resolve().parents[1]


@dataclass(frozen=True)
class Yarn:
    """A running cluster: the folder of its configuration, and that of its containers."""

    conf: Path
    work: Path

    def logs(self) -> str:
        """What the containers told, drivers among them."""
        told = [
            path.read_text(errors="replace")
            for name in ("stdout", "stderr")
            for path in sorted(self.work.rglob(name))
        ]
        return "\n".join(told)


@pytest.fixture(scope="session")
def yarn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yarn]:
    """Started once; its containers run as processes of this machine."""
    work, conf = tmp_path_factory.mktemp("yarn"), tmp_path_factory.mktemp("yarn-conf")
    jars = [*hadoop_jars("hadoop-client-minicluster"), SPARK_HOME / "jars" / "*"]
    written = conf / "yarn-site.xml"
    command = [
        java_home() / "bin" / "java", "-Xmx512m", "-cp", os.pathsep.join(map(str, jars)), MANAGER,
        "-nodfs", "-writeConfig", written, *(part for key in SETTINGS for part in ("-D", key)),
    ]  # fmt: skip
    log = (work / "manager.log").open("w")
    manager = subprocess.Popen(
        [str(part) for part in command],
        cwd=work,
        env={**os.environ, "JAVA_HOME": str(java_home())},  # containers have it from here
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
    try:
        until = time.monotonic() + SECONDS
        while not written.exists():
            told = (work / "manager.log").read_text(errors="replace")
            assert manager.poll() is None and time.monotonic() < until, told[-4000:]
            time.sleep(0.5)
        time.sleep(1.0)  # it is written in one go, and may be half there
        shutil.copy(written, conf / "core-site.xml")
        yield Yarn(conf=conf, work=work)
    finally:
        os.killpg(manager.pid, signal.SIGKILL)
        manager.wait()
