"""A YARN of this machine, and a site whose jobs are submitted to it in cluster mode."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
import pytest

from medhelm_spark.lake.jvm import delta_conf
from tests.cluster.conftest import pack
from tests.hadoop import SPARK_HOME
from tests.installed import ROOT
from tests.servers import HOST
from tests.spark.conftest import Site
from tests.yarn.daemons import Yarn, java_home
from tests.yarn.hdfs import Hdfs

APPLICATION = re.compile(r"Submitted application (application_\w+)")
FINAL = re.compile(r"final status: (\w+)")
PYTHON = "./environment/bin/python"


@pytest.fixture(scope="session")
def yarn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yarn]:
    """Started once for all tests."""
    cluster = Yarn(tmp_path_factory.mktemp("yarn"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
    shutil.rmtree(cluster.folder, ignore_errors=True)  # containers unpack half a gigabyte each


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    """Started once for all tests."""
    file_system = Hdfs(tmp_path_factory.mktemp("hdfs"))
    try:
        file_system.start()
        yield file_system
    finally:
        file_system.stop()


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The archive of an environment that runs the embedded model too."""
    archive = tmp_path_factory.mktemp("packed") / "environment.tar.gz"
    pack(archive, "pandas", "xllamacpp")
    yield archive
    archive.unlink()


@dataclass(frozen=True)
class Ended:
    """A job that has ended: what spark-submit printed, and the containers."""

    code: int
    submit_output: str
    containers: Mapping[str, str]

    @property
    def final_status(self) -> str:
        """The application's final status in YARN."""
        return FINAL.findall(self.submit_output)[-1]

    @property
    def output(self) -> str:
        """All that the containers printed."""
        return "\n".join(f"== {name}\n{text}" for name, text in self.containers.items())


@dataclass
class Submitter:
    """A person with a site folder, who submits from there."""

    site: Site
    yarn: Yarn
    environment: Path
    conf: dict[str, str] = field(default_factory=dict)

    @property
    def lake(self) -> Path:
        return self.site.lake_path

    def submit(
        self, job: str, *words: str | Path, lake: str | None = None
    ) -> "subprocess.Popen[str]":
        """`spark-submit` of a job as docs/clusters describes, with two small executors."""
        folder = self.site.folder
        with tarfile.open(folder / "site.tar.gz", "w:gz") as archive:
            archive.add(folder / "prod_env", ".")
        conf = {
            **delta_conf(pyspark.__version__),
            "spark.pyspark.python": PYTHON,
            "spark.yarn.appMasterEnv.PYSPARK_PYTHON": PYTHON,
            "spark.driver.extraJavaOptions": "-Dlog4j2.configurationFile=log4j2.properties",
            # Where a cluster has Spark installed; else every job carries its jars.
            "spark.yarn.jars": f"local:{SPARK_HOME / 'jars'}/*",
            "spark.yarn.stagingDir": str(folder / "staging"),
            "spark.yarn.appMasterEnv.SPARK_LOCAL_IP": HOST,
            "spark.executorEnv.SPARK_LOCAL_IP": HOST,
            "spark.executor.instances": "2",
            "spark.executor.memory": "1g",
            "spark.driver.memory": "1g",
            "spark.sql.shuffle.partitions": "2",
            "spark.databricks.delta.snapshotPartitions": "1",
            **self.conf,
        }
        command = [
            SPARK_HOME / "bin" / "spark-submit", "--master", "yarn", "--deploy-mode", "cluster",
            "--load-spark-defaults", "--properties-file", ROOT / "spark-defaults.conf",
            "--archives", f"{self.environment}#environment,{folder / 'site.tar.gz'}#prod_env",
            "--files", ROOT / "conf" / "log4j2.properties",
            *(part for key, value in conf.items() for part in ("--conf", f"{key}={value}")),
            ROOT / "jobs" / f"{job}.py", *words, "-o", lake or self.lake,
        ]  # fmt: skip
        inherited = {key: os.environ[key] for key in ("PATH", "LANG", "HOME") if key in os.environ}
        hadoop_variables = {"HADOOP_CONF_DIR": str(self.yarn.conf), "JAVA_HOME": str(java_home())}
        return subprocess.Popen(
            [str(part) for part in command],
            env={**inherited, **hadoop_variables, "SPARK_HOME": str(SPARK_HOME)},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def ended(self, process: "subprocess.Popen[str]") -> Ended:
        """Wait for the end of a job."""
        submit_output, _ = process.communicate(timeout=900)
        found = APPLICATION.search(submit_output)
        assert found, submit_output[-4000:]
        return Ended(process.returncode, submit_output, dict(self.yarn.outputs(found[1])))

    def run(self, job: str, *words: str | Path, lake: str | None = None) -> Ended:
        """Submit and wait; fails the test where the job does."""
        ended = self.ended(self.submit(job, *words, lake=lake))
        assert ended.code == 0, ended.submit_output[-3000:] + ended.output[-6000:]
        assert ended.final_status == "SUCCEEDED"
        return ended

    def run_locally(self, *words: str | Path) -> Path:
        """The same command on this machine alone, into a lake of its own; returns that lake."""
        lake = self.site.folder / "here"
        command = [sys.executable, "-m", "medhelm_spark.cli", *map(str, words), "-o", str(lake)]
        done = subprocess.run(
            command, cwd=self.site.folder, capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, done.stderr[-4000:]
        return lake


@pytest.fixture
def submitter(tmp_path: Path, yarn: Yarn, environment: Path) -> Submitter:
    return Submitter(Site(tmp_path, None), yarn, environment)  # type: ignore[arg-type]
