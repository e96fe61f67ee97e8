"""A Spark Connect server in a process, a working folder and a home of its own."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pyspark

from medhelm_spark.lake.jvm import delta_classes
from medhelm_spark.lake.session import DELTA_CATALOG, DELTA_EXTENSION

ROOT = Path(__file__).resolve().parents[2]
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
START_SECONDS = 180.0


@contextmanager
def connect_server(folder: Path, **variables: str) -> Iterator[str]:
    """Starts one that works in this folder, with further variables; its address, `sc://HOST:PORT`.

    Its executors find the package, as a cluster's do where it is installed, and nothing else of
    the client's: another HOME, cache and working folder.
    """
    folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = Path(str(find_spec("pyspark").origin)).parent  # type: ignore[union-attr]
    inherited = {
        key: text for key, text in os.environ.items() if not key.startswith(("MEDHELM", "SPARK"))
    }
    environment = {
        **inherited,
        "HOME": str(folder / "home"),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        **variables,
    }
    with delta_classes({}, pyspark.__version__) as delta, (folder / "log").open("wb") as log:
        conf = {
            **delta,
            "spark.master": "local[2]",
            "spark.driver.memory": "2g",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
            "spark.connect.grpc.binding.port": str(port),
            "spark.sql.extensions": DELTA_EXTENSION,
            "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.databricks.delta.snapshotPartitions": "1",
            "spark.ui.enabled": "false",
        }
        command = [str(home / "bin" / "spark-submit"), "--class", SERVER]
        command += [part for key, text in conf.items() for part in ("--conf", f"{key}={text}")]
        process = subprocess.Popen(
            [*command, "spark-internal"],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait(port, process, folder / "log")
            yield f"sc://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(60)


def _wait(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise RuntimeError(f"no Spark Connect server: {log.read_text(errors='replace')[-2000:]}")
