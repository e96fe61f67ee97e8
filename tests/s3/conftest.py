"""A local S3 server and a site whose lake is a bucket there."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError

import pytest
import yaml

from tests.hadoop import hadoop_jars
from tests.spark.conftest import Site

BUCKET = "hospital"
SECONDS = 60.0


@dataclass(frozen=True)
class Store:
    """An S3 server of this machine."""

    address: str

    @property
    def environment(self) -> dict[str, str]:
        """What a job of the hospital has in its environment; Spark and delta-rs both read it."""
        return {
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ALLOW_HTTP": "true",
        }

    def settings(self, jars: list[Path]) -> dict[str, str]:
        """The settings of Spark in a site's settings.yaml."""
        return {
            "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
            "spark.hadoop.fs.s3a.endpoint": self.address,
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            "spark.hadoop.fs.s3a.path.style.access": "true",
        }


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Moto's server, of the environment that `make test-s3` makes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [os.environ["MEDHELM_SPARK_MOTO"], "-H", "127.0.0.1", "-p", str(port)]
    log = (tmp_path_factory.mktemp("moto") / "log").open("w")
    server = subprocess.Popen(command, stdout=log, stderr=log)
    bucket_server = Store(f"http://127.0.0.1:{port}")
    try:
        _make_bucket(bucket_server, server)
        yield bucket_server
    finally:
        server.kill()
        server.wait()


def _make_bucket(store: Store, server: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + SECONDS
    while True:
        request = urllib.request.Request(f"{store.address}/{BUCKET}", method="PUT")
        try:
            urllib.request.urlopen(request).close()
            return
        except (URLError, ConnectionError):
            assert server.poll() is None and time.monotonic() < until, "moto does not answer"
            time.sleep(0.2)


@dataclass
class Bucket:
    """A site of its own folder whose commands run in processes of their own, as a user's do."""

    site: Site
    store: Store
    lake: str

    def start(self, *arguments: str | Path, **variables: str) -> "subprocess.Popen[str]":
        """`medhelm-spark ...`, both streams as one."""
        path_flags = ("--local-path", self.site.folder / "prod_env")
        command = [sys.executable, "-m", "medhelm_spark.cli", *arguments, *path_flags]
        dropped = ("PYTHONPATH", "PYSPARK_PYTHON")
        inherited = {key: value for key, value in os.environ.items() if key not in dropped}
        return subprocess.Popen(
            [str(part) for part in command],
            env={**inherited, **self.store.environment, **variables},
            cwd=self.site.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str | Path, ends: int = 0, **variables: str) -> str:
        """Run a command to its end; returns its output."""
        process = self.start(*arguments, **variables)
        output, _ = process.communicate(timeout=1200)
        assert process.returncode == ends, output[-4000:]
        return output


@pytest.fixture
def bucket(tmp_path: Path, store: Store, request: pytest.FixtureRequest) -> Bucket:
    site = Site(tmp_path, None)  # type: ignore[arg-type]  # nothing here starts a session
    settings = {"spark": store.settings(hadoop_jars("hadoop-aws"))}
    (tmp_path / "prod_env" / "settings.yaml").write_text(yaml.safe_dump(settings))
    return Bucket(site, store, f"s3a://{BUCKET}/{request.node.name}")
