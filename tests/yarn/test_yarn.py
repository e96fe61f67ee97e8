"""spark-submit in cluster mode: the driver in a container too, and the same stats as here."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pyspark
import pytest

from medhelm_spark.config.resources import conf_path
from medhelm_spark.lake.jvm import delta_conf
from medhelm_spark.lake.reader import FileReader
from tests.hadoop import SPARK_HOME
from tests.installed import ROOT
from tests.spark.conftest import Site
from tests.yarn.conftest import Yarn, java_home

pytestmark = pytest.mark.timeout(1200)

DEMOS = ("triage_choice", "urgent_letter")


def stats(lake: Path) -> list[dict[str, Any]]:
    """The rows of `stats`, without what names the write."""
    rows = FileReader(str(lake)).query("SELECT * FROM {stats}").to_pylist()
    values = [{name: row[name] for name in row if name != "write_id"} for row in rows]
    assert values
    return sorted(values, key=lambda row: (row["run_spec_id"], row["name"], row["split"]))


def test_the_packed_environment_in_cluster_mode(yarn: Yarn, packed: Path, tmp_path: Path) -> None:
    site = Site(tmp_path, None)  # type: ignore[arg-type]  # nothing here starts a session
    model = site.deploy("acme/routine", text="routine")
    entries = [
        f"medhelm_configurable_benchmark:config_path={conf_path('demos', demo, 'benchmark.yaml')},"
        f"model={model},max_eval_instances=8"
        for demo in DEMOS
    ]
    # The site's folder travels to the driver's container as an archive of its own.
    with tarfile.open(tmp_path / "site.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "prod_env", ".")
    run = ("--suite", "s", "--no-tracking", "-r", *entries)
    conf = {
        **delta_conf(pyspark.__version__),
        "spark.pyspark.python": "./environment/bin/python",
        "spark.yarn.appMasterEnv.PYSPARK_PYTHON": "./environment/bin/python",
        "spark.yarn.jars": f"local:{SPARK_HOME / 'jars'}/*",
        "spark.executor.instances": "2",
        "spark.executor.memory": "1g",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "1",
    }
    archives = f"{packed / 'environment.tar.gz'}#environment,{tmp_path / 'site.tar.gz'}#prod_env"
    command = [
        SPARK_HOME / "bin" / "spark-submit", "--master", "yarn", "--deploy-mode", "cluster",
        "--properties-file", ROOT / "spark-defaults.conf", "--archives", archives,
        *(part for key, value in conf.items() for part in ("--conf", f"{key}={value}")),
        ROOT / "jobs" / "evaluate.py", *run, "-o", tmp_path / "lake",
    ]  # fmt: skip
    own = {key: text for key, text in os.environ.items() if not key.startswith("PYTHONPATH")}
    done = subprocess.run(
        [str(part) for part in command],
        env={
            **own,
            "SPARK_HOME": str(SPARK_HOME),
            "HADOOP_CONF_DIR": str(yarn.conf),
            "JAVA_HOME": str(java_home()),
        },
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout[-3000:] + yarn.logs()[-3000:]
    here = [sys.executable, "-m", "medhelm_spark.cli", "run", *run, "-o", str(tmp_path / "here")]
    subprocess.run(here, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    assert stats(tmp_path / "lake") == stats(tmp_path / "here")
