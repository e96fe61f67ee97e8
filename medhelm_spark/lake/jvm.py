"""What a session that this project starts itself needs: Java, and Delta's packages for its JVM.

Half of a small local job is the JVM loading Spark's and Delta's classes. The first session leaves
an archive of them in the cache when it ends (JDK's dynamic class data sharing); later ones map it.
Measured on two cores: Spark's start 11 s to 7 s, a first Delta commit 8 s to 5 s.

Delta's packages are resolved from Maven once into the cache, then named by path, so that later
starts need no network and no resolver. A site points `MEDHELM_SPARK_JARS` (comma-separated paths)
at its own instead.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from medhelm_spark.cache import cache_folder, locked
from medhelm_spark.children import child_environment
from medhelm_spark.errors import SetupError

MINIMUM_JAVA = 17

QUIET = "-Xlog:disable -Xlog:all=error:stderr"
"""Java reports no damaged or missing archive: it starts without one."""

DELTA_VERSION = "4.4.0"
PACKAGES = "spark.jars.packages"
SPARKS_OWN = (
    "com.fasterxml.jackson.core:*",
    "com.fasterxml.jackson.datatype:*",
    "com.fasterxml.jackson.module:*",
    "com.github.luben:*",
    "com.google.code.findbugs:*",
    "commons-pool:*",
    "io.airlift:*",
    "io.delta:delta-kernel-*",
    "io.unitycatalog:*",
    "javax.annotation:*",
    "org.antlr:*",
    "org.apache.hadoop:*",
    "org.apache.logging.log4j:*",
    "org.apache.parquet:*",
    "org.locationtech.jts:*",
    "org.roaringbitmap:*",
    "org.slf4j:*",
    "org.xerial.snappy:*",
)
"""Packages that Spark ships itself; the resolver would fetch a second copy of each."""


def check_java() -> str:
    """The version of the Java that Spark will start.

    Raises:
        SetupError: there is none, or it is too old for Spark 4.
    """
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if not java or not Path(java).exists():
        place = f"under JAVA_HOME={home!r}" if home else "on the PATH"
        raise SetupError(f"Spark needs Java {MINIMUM_JAVA} or newer and none was found {place}.")
    command = [java, "-version"]
    output = subprocess.run(
        command, capture_output=True, text=True, check=False, env=child_environment()
    ).stderr
    match = re.search(r'version "(?:1\.)?((\d+)[\w.+-]*)', output)
    if not match or int(match[2]) < MINIMUM_JAVA:
        version = match[2] if match else "of unknown version"
        raise SetupError(f"Spark needs Java {MINIMUM_JAVA} or newer; {java} is Java {version}.")
    return match[1]


def class_archive_options(java_version: str, spark_version: str) -> str:
    """Options that map the class archive of these versions, or have it written at exit."""
    folder = cache_folder() / "jvm"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"spark-{spark_version}-java-{java_version}"
    archive = folder / f"{name}.jsa"
    _adopt(archive, sorted(folder.glob(f"{name}.*.part")))
    if archive.exists():
        return f"-XX:SharedArchiveFile={archive} -Xshare:auto {QUIET}"
    return f"-XX:ArchiveClassesAtExit={folder / f'{name}.{os.getpid()}.part'} {QUIET}"


def _adopt(archive: Path, written: list[Path]) -> None:
    """Take an archive over from a process that has ended: until then it may be half-written."""
    for part in written:
        if not Path("/proc", part.suffixes[-2].lstrip(".")).exists():
            part.replace(archive)


@contextmanager
def delta_classes(spark_version: str) -> Iterator[dict[str, str]]:
    """`delta_conf` for a session that starts within; the first to fetch the packages is alone.

    Ivy moves what it fetches into its cache by name: two that fill an empty one both fail.
    """
    conf = delta_conf(spark_version)
    if PACKAGES not in conf:
        yield conf
        return
    with locked("ivy"):
        yield delta_conf(spark_version)


def delta_conf(spark_version: str) -> dict[str, str]:
    """The Spark settings that bring Delta's classes: jars by path, or Maven the first time."""
    if site_jars := os.environ.get("MEDHELM_SPARK_JARS"):
        return {"spark.jars": site_jars}
    ivy = cache_folder() / "ivy"
    jars = sorted((ivy / "jars").glob(f"io.delta_*-{DELTA_VERSION}.jar"))
    if len(jars) >= 2:
        return {"spark.jars": ",".join(map(str, jars))}
    line = ".".join(spark_version.split(".")[:2])
    return {
        PACKAGES: f"io.delta:delta-spark_{line}_2.13:{DELTA_VERSION}",
        "spark.jars.excludes": ",".join(SPARKS_OWN),
        "spark.jars.ivy": str(ivy),
    }
