"""Jars that Hadoop adds to Spark's own, of its very version, by Spark's own packages mechanism."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from medhelm_spark.cache import cache_folder, locked

SPARK_HOME = Path(str(find_spec("pyspark").origin)).parent  # type: ignore[union-attr]
SPARKS_OWN = ("org.apache.hadoop:hadoop-client-api", "org.apache.hadoop:hadoop-client-runtime")


def hadoop_version() -> str:
    """The version of the Hadoop that this Spark ships: others do not fit it."""
    (jar,) = (SPARK_HOME / "jars").glob("hadoop-client-api-*.jar")
    match = re.fullmatch(r"hadoop-client-api-(.+)\.jar", jar.name)
    assert match
    return match[1]


def hadoop_jars(artifact: str) -> list[Path]:
    """The jars of a Hadoop artifact and what it needs; its SDK bundle makes hadoop-aws 600 MB."""
    return jars_of(f"org.apache.hadoop:{artifact}:{hadoop_version()}")


def jars_of(package: str) -> list[Path]:
    """The jars of `GROUP:ARTIFACT:VERSION` and what it needs, fetched once into the cache."""
    _, artifact, version = package.split(":")
    folder = cache_folder() / f"{artifact}-{version}"
    with locked(folder.name):
        if not (folder / "complete").exists():
            folder.mkdir(parents=True, exist_ok=True)
            _resolve(package, folder)
            (folder / "complete").touch()
    return sorted((folder / "jars").glob("*.jar"))


def _resolve(package: str, folder: Path) -> None:
    script = folder / "nothing.py"
    script.write_text("")
    command = (
        SPARK_HOME / "bin" / "spark-submit", "--master", "local[1]", "--packages", package,
        "--exclude-packages", ",".join(SPARKS_OWN), "--conf", f"spark.jars.ivy={folder}", script,
    )  # fmt: skip
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, "SPARK_HOME": str(SPARK_HOME), "PYSPARK_PYTHON": sys.executable},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
