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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from pyspark.find_spark_home import _find_spark_home

from medhelm_spark.cache import cache_folder, locked
from medhelm_spark.domain.ids import content_id
from medhelm_spark.errors import SetupError
from medhelm_spark.operating_system import is_running
from medhelm_spark.subprocess_env import child_environment

MINIMUM_JAVA = 17

LAUNCHER_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For the JVM that only makes up the command line of the next one: it ends in half the time."""

QUIET = "-Xlog:disable -Xlog:all=error:stderr"
"""Java reports no damaged or missing archive: it starts without one."""

KEPT_ARCHIVES = 3
"""Archives of 200 MB each, the newest first: an environment that was made anew needs its own."""

DELTA = {
    "4.0": ("delta-spark_2.13", "4.0.1"),
    "4.1": ("delta-spark_4.1_2.13", "4.4.0"),
    "4.2": ("delta-spark_4.2_2.13", "4.4.0"),
}
"""Delta's artifact and version by Spark's line, as Maven has them."""
DELTA_JAR = "io.delta_"
"""How the name of a jar in the cache begins: its group."""
JARS, PACKAGES, EXCLUDES = "spark.jars", "spark.jars.packages", "spark.jars.excludes"
IVY = "spark.jars.ivy"
CLASS_PATH = "spark.driver.extraClassPath"
ONE_JVM = re.compile(r"local(\[.*\])?")
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
    "org.apache.hadoop:hadoop-client-*",
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
        where = f"under JAVA_HOME={home!r}" if home else "on the PATH"
        raise SetupError(f"Spark needs Java {MINIMUM_JAVA} or newer and none was found {where}.")
    command = [java, "-version"]
    output = subprocess.run(
        command, capture_output=True, text=True, check=False, env=child_environment()
    ).stderr
    match = re.search(r'version "(?:1\.)?((\d+)[\w.+-]*)', output)
    if not match or int(match[2]) < MINIMUM_JAVA:
        version = match[2] if match else "of unknown version"
        raise SetupError(f"Spark needs Java {MINIMUM_JAVA} or newer; {java} is Java {version}.")
    return match[1]


def on_class_path(settings: Mapping[str, str]) -> dict[str, str]:
    """Spark's settings with Delta's jars on the class path, where one JVM is all of Spark.

    A class archive has the class path's classes. `spark.jars` are for executors elsewhere: they are
    copied, and loaded by a class loader that no archive serves. A class path that the site
    gives, and jars of its own, stay as they are.
    """
    jars = settings.get(JARS, "").split(",")
    is_one = ONE_JVM.fullmatch(settings["spark.master"])
    if not is_one or CLASS_PATH in settings or _has_class_path() or not all(map(_is_ours, jars)):
        return dict(settings)
    others = {key: value for key, value in settings.items() if key != JARS}
    return {**others, CLASS_PATH: os.pathsep.join(map(os.path.abspath, jars))}


def _is_ours(jar: str) -> bool:
    """Whether it is one of Delta's jars alone: a site's own may bundle what Spark has as well."""
    path = Path(jar)
    return path.name.startswith(DELTA_JAR) and path.is_file() and os.pathsep not in jar


def _has_class_path() -> bool:
    """Whether the site gives the driver a class path, which ours would replace."""
    home = _find_spark_home()
    defaults = Path(os.environ.get("SPARK_CONF_DIR", Path(home, "conf")), "spark-defaults.conf")
    is_default = defaults.is_file() and CLASS_PATH in defaults.read_text(errors="replace")
    arguments = os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    return is_default or CLASS_PATH in arguments or "--driver-class-path" in arguments


def class_archive_options(
    settings: Mapping[str, str], java_version: str, spark_version: str
) -> str:
    """Options that map the class archive of these versions, or have it written at exit.

    Java takes an archive only for the very jars that it was written with, and ignores others
    silently: each installation of Spark has its own, with the jars before it on the class path.
    Packages that are resolved now are there from the next start on, which writes the archive.
    """
    if PACKAGES in settings:
        return ""
    folder = cache_folder() / "jvm"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"spark-{spark_version}-java-{java_version}-{_classes(settings.get(CLASS_PATH, ''))}"
    archive = folder / f"{name}.jsa"
    _adopt(archive, sorted(folder.glob(f"{name}.*.part")))
    with suppress(OSError):  # another process may be at it too, or the folder somebody else's
        ended = filter(_is_ended, folder.glob("*.part"))  # of other installations too
        by_age = sorted([*folder.glob("*.jsa"), *ended], key=lambda each: each.stat().st_mtime)
        for old in by_age[:-KEPT_ARCHIVES]:
            old.unlink()
    if archive.exists():
        with suppress(OSError):
            os.utime(archive)  # in use: others go first
        return f"-XX:SharedArchiveFile={archive} -Xshare:auto {QUIET}"
    return f"-XX:ArchiveClassesAtExit={folder / f'{name}.{os.getpid()}.part'} {QUIET}"


def _classes(class_path: str) -> str:
    """What differs where Spark's jars lie elsewhere or are others."""
    jars = Path(_find_spark_home(), "jars")
    listed = sorted((jar.name, jar.stat().st_mtime_ns) for jar in jars.glob("*.jar"))
    return content_id(class_path, str(jars), listed)[:8]


def _adopt(archive: Path, written: list[Path]) -> None:
    """Take an archive over from a process that has ended: until then it may be half-written."""
    for part in filter(_is_ended, written):
        with suppress(OSError):  # another process took it, or the folder is somebody else's
            part.replace(archive)


def _is_ended(part: Path) -> bool:
    """Whether the process that writes an archive has ended; its number is in the file's name."""
    pid = part.suffixes[-2].lstrip(".")
    return pid.isdecimal() and not is_running(int(pid))


@contextmanager
def delta_classes(settings: Mapping[str, str], spark_version: str) -> Iterator[dict[str, str]]:
    """Spark's settings with Delta's classes, for a session that starts within.

    The first to fetch packages is alone: Ivy moves what it fetches into its cache by name, and two
    that fill an empty one both fail.
    """
    conf = with_delta(settings, spark_version)
    if PACKAGES not in conf:
        yield conf
        return
    with locked("ivy"):
        yield with_delta(settings, spark_version)


def with_delta(settings: Mapping[str, str], spark_version: str) -> dict[str, str]:
    """Spark's settings with Delta's classes beside the jars and packages that they name.

    Settings that name a `delta-spark` themselves bring all of it: it stays the only one.
    """
    own = ",".join(settings.get(key, "") for key in (JARS, PACKAGES))
    delta = {} if "delta-spark" in own else delta_conf(spark_version)
    both = [each for each in (JARS, PACKAGES) if each in settings and each in delta]
    joined = {each: f"{delta[each]},{settings[each]}" for each in both}
    return {**_resolver({**delta, **settings}), **delta, **settings, **joined}


def _resolver(settings: Mapping[str, str]) -> dict[str, str]:
    if PACKAGES not in settings:
        return {}
    return {EXCLUDES: ",".join(SPARKS_OWN), IVY: str(cache_folder() / "ivy")}


def delta_conf(spark_version: str) -> dict[str, str]:
    """The Spark settings that bring Delta's classes: jars by path, or Maven the first time.

    Raises:
        SetupError: no Delta is known for this Spark, and the site names no jars.
    """
    if site_jars := os.environ.get("MEDHELM_SPARK_JARS"):
        return {JARS: site_jars}
    line = ".".join(spark_version.split(".")[:2])
    if line not in DELTA:
        raise SetupError(
            f"no Delta is known for Spark {spark_version}; allowed: Spark {', '.join(DELTA)}, or "
            "MEDHELM_SPARK_JARS with the paths of delta-spark and delta-storage."
        )
    artifact, version = DELTA[line]
    folder = cache_folder() / "ivy" / "jars"
    names = (artifact, "delta-storage")
    jars = [folder / f"{DELTA_JAR}{name}-{version}.jar" for name in names]
    if all(jar.is_file() for jar in jars):
        return {JARS: ",".join(map(str, jars))}
    packages = {PACKAGES: f"io.delta:{artifact}:{version}"}
    return {**_resolver(packages), **packages}
