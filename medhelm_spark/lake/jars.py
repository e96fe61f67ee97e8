"""Java and Delta's JVM packages for a session that this project starts itself.

Resolved from Maven once into the cache, then named by path, so that later starts need no network
and no resolver. A site points `MEDHELM_SPARK_JARS` (comma-separated paths) at its own instead.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

from medhelm_spark.errors import SetupError

DELTA_VERSION = "4.4.0"
MINIMUM_JAVA = 17

# Spark carries these itself; the resolver would fetch a second copy of each.
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


def cache_folder() -> Path:
    """Where downloads are kept: MEDHELM_SPARK_CACHE, else the user's cache folder."""
    return Path(os.environ.get("MEDHELM_SPARK_CACHE", Path.home() / ".cache" / "medhelm_spark"))


def check_java() -> None:
    """Raise SetupError in one sentence when there is no Java, or one too old for Spark 4."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if not java or not Path(java).exists():
        place = f"under JAVA_HOME={home!r}" if home else "on the PATH"
        raise SetupError(f"Spark needs Java {MINIMUM_JAVA} or newer and none was found {place}.")
    shown = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', shown)
    if not found or int(found.group(1)) < MINIMUM_JAVA:
        version = found.group(1) if found else "of unknown version"
        raise SetupError(f"Spark needs Java {MINIMUM_JAVA} or newer; {java} is Java {version}.")


def delta_conf(spark_version: str) -> dict[str, str]:
    """The Spark settings that bring Delta's classes: jars by path, or Maven the first time."""
    if own := os.environ.get("MEDHELM_SPARK_JARS"):
        return {"spark.jars": own}
    ivy = cache_folder() / "ivy"
    jars = sorted((ivy / "jars").glob(f"io.delta_*-{DELTA_VERSION}.jar"))
    if len(jars) >= 2:
        return {"spark.jars": ",".join(map(str, jars))}
    line = ".".join(spark_version.split(".")[:2])
    return {
        "spark.jars.packages": f"io.delta:delta-spark_{line}_2.13:{DELTA_VERSION}",
        "spark.jars.excludes": ",".join(SPARKS_OWN),
        "spark.jars.ivy": str(ivy),
    }
