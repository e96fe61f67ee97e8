"""Delta's JVM packages for a session that this project starts itself.

Resolved from Maven once into the cache, then named by path, so that later starts need no network
and no resolver. A site points `MEDHELM_SPARK_JARS` (comma-separated paths) at its own instead.
"""

import os

from medhelm_spark.cache import cache_folder

DELTA_VERSION = "4.4.0"

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
