"""A packed environment and spark-submit: two executor JVMs, as on a cluster."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyspark
import pytest

from medhelm_spark.board import load_board
from medhelm_spark.lake.jvm import delta_conf
from medhelm_spark.lake.reader import open_reader
from tests.cluster.standalone import Standalone
from tests.installed import ROOT
from tests.spark.conftest import Site

MASTER = "local-cluster[2,1,1024]"


def own_lines(output: str) -> str:
    """What a job printed, without what Spark's own threads add while they end."""
    lines = [line for line in output.splitlines() if not line.startswith(("\t", "java.", "org."))]
    return "\n".join(lines[:60])


def pack(archive: Path, *packages: str) -> None:
    """Pack this checkout's wheel and these packages, without Spark, as `deploy/pack.sh` does."""
    environment = {**os.environ, "UV": f"{sys.executable} -m uv", "PYTHON": sys.executable}
    command = [ROOT / "deploy" / "pack.sh", archive, *packages]
    # What the checkout's own set-up has fetched is taken from uv's cache first.
    if subprocess.run(command, env={**environment, "UV_OFFLINE": "1"}, check=False).returncode:
        subprocess.run(command, env=environment, check=True)


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An environment with the wheel and without Spark, and its archive for executors."""
    folder = tmp_path_factory.mktemp("packed")
    archive = folder / "environment.tar.gz"
    pack(archive, "pandas")
    (folder / "env").mkdir()
    subprocess.run(["tar", "-xzf", archive, "-C", folder / "env"], check=True)
    yield folder
    shutil.rmtree(folder)


@dataclass
class Cluster:
    """A site whose job is submitted; nothing in the test's own process starts a JVM."""

    site: Site
    packed: Path
    master: str = MASTER
    own_lake: Path | None = None
    slots: str | None = "2"
    homes: list[Path] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    conf: dict[str, str] = field(default_factory=dict)
    evaluation: Path = ROOT / "jobs" / "evaluate.py"
    host: tuple[str, ...] = ()
    """The words before a job's command that start it on another host."""

    @property
    def lake(self) -> str:
        return str(self.own_lake or self.site.lake_path)

    def home(self) -> Path:
        """A Spark home that can be removed: executors unpack half a gigabyte each into theirs.

        Each job has its own, for a cluster names its folders after the second it was started in.
        """
        home = self.site.folder / f"home-{len(self.homes)}"
        home.mkdir()
        self.homes.append(home)
        for part in Path(find_spec("pyspark").origin).parent.iterdir():
            (home / part.name).symlink_to(part)
        return home

    def submit(
        self, entry: str, *flags: str, conf: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """`spark-submit jobs/evaluate.py`, of a run entry."""
        return self.evaluate("-r", entry, *flags, conf=conf)

    def evaluate(
        self, *arguments: str, conf: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """`spark-submit jobs/evaluate.py`, into the suite `s` where the arguments name no other."""
        return self._launch(self.evaluation, "--suite", "s", *arguments, conf=conf)

    def submit_job(
        self, job: str, *words: str, conf: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """`spark-submit jobs/JOB.py`."""
        return self._launch(ROOT / "jobs" / f"{job}.py", *words, conf=conf)

    def _launch(
        self, script: Path, *words: str, conf: Mapping[str, str] | None
    ) -> "subprocess.Popen[str]":
        """`spark-submit` of a script with the packed environment, as a process group."""
        extra_conf = conf or {}
        conf = {
            **delta_conf(pyspark.__version__),
            "spark.pyspark.driver.python": str(self.packed / "env" / "bin" / "python"),
            "spark.pyspark.python": "./environment/bin/python",
            "spark.sql.shuffle.partitions": "2",
            "spark.databricks.delta.snapshotPartitions": "1",
            "spark.driver.extraJavaOptions": (
                f"-Dlog4j2.configurationFile={ROOT / 'conf' / 'log4j2.properties'}"
            ),
            **self.conf,
            **extra_conf,
        }
        home = self.home()
        command = [
            *self.host, home / "bin" / "spark-submit", "--master", self.master,
            "--properties-file", ROOT / "spark-defaults.conf",
            "--archives", f"{self.packed / 'environment.tar.gz'}#environment",
            *(part for key, value in conf.items() for part in ("--conf", f"{key}={value}")),
            script, "-o", self.lake, "--no-tracking",
            "--local-path", self.site.folder / "prod_env", *words,
        ]  # fmt: skip
        inherited = {
            key: text for key, text in os.environ.items() if not key.startswith("PYTHONPATH")
        }
        settings = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
        job_variables = {"MEDHELM_SPARK_CHUNK_REQUESTS": "4", **self.variables}
        if self.slots:
            job_variables["MEDHELM_SPARK_SLOTS"] = self.slots
        return subprocess.Popen(
            [str(part) for part in command],
            env={**inherited, **settings, **job_variables},
            cwd=self.site.folder,
            # spark-submit sends all that a Python driver prints to its standard output
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, entry: str, *flags: str) -> str:
        """Submit and wait; returns the output."""
        return self.output_of(self.submit(entry, *flags))

    def output(self, process: "subprocess.Popen[str]") -> str:
        """The output of a job, which has to end with code 0."""
        output, _ = process.communicate(timeout=500)
        assert process.returncode == 0, own_lines(output)
        return output

    def query(self, sql: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = open_reader(self.lake).query(sql).to_pylist()
        return rows

    def cells(self) -> list[Any]:
        board = load_board(open_reader(self.lake), suite="s", coverage_floor=0.95)
        return [cell for row in board.rows for cell in row.cells]


@pytest.fixture
def cluster(tmp_path: Path, packed: Path) -> Iterator[Cluster]:
    submitted = Cluster(Site(tmp_path, None), packed)
    yield submitted
    for home in submitted.homes:
        # A killed executor's children may still write.
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def drivers(tmp_path: Path) -> Path:
    """The folder of all that is the driver's alone."""
    folder = tmp_path / "driver"
    (folder / "home").mkdir(parents=True)
    return folder


@pytest.fixture
def apart(tmp_path: Path, drivers: Path, packed: Path) -> Iterator[Cluster]:
    """A job whose driver's folders the workers do not see; the lake is one that all write to."""
    cluster = Cluster(Site(drivers, None), packed, slots=None)
    cluster.variables = {
        "HOME": str(drivers / "home"),
        "MEDHELM_SPARK_CACHE": str(drivers / "home" / "cache"),
    }
    cluster.own_lake = tmp_path / "lake"
    yield cluster
    for home in cluster.homes:
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def workers(tmp_path: Path, drivers: Path, packed: Path) -> Iterator[Standalone]:
    hidden = (drivers, packed, ROOT / "conf", ROOT / "medhelm_spark", ROOT / "dashboards")
    standalone = Standalone(tmp_path / "standalone", hidden)
    standalone.folder.mkdir()
    yield standalone
    standalone.stop()
