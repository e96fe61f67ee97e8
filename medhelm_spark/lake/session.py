"""The only place that builds a SparkSession.

A session that is started gets a key only where none is set. One that a platform or a notebook
already runs is taken as it is: `settings.kept_settings` sets what the stages rely on while they
work, and puts it back.
"""

import logging
import os
import re
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext, __version__ as spark_version
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from medhelm_spark.cache import cache_folder
from medhelm_spark.early_imports import import_early
from medhelm_spark.errors import SetupError, is_interrupt
from medhelm_spark.lake.cluster import CONNECT
from medhelm_spark.lake.connect import check_answers
from medhelm_spark.lake.file_permissions import Permissions, hadoop_conf, restrict, work_folder
from medhelm_spark.lake.interrupts import cancel_on_interrupt
from medhelm_spark.lake.java_error import innermost
from medhelm_spark.lake.jvm import (
    LAUNCHER_OPTIONS,
    PACKAGES,
    check_java,
    class_archive_options,
    delta_classes,
    on_class_path,
)
from medhelm_spark.lake.jvm_log import LOG_LEVEL, log_options, passed_on
from medhelm_spark.lake.settings import REQUIRED, is_connect, require, setting
from medhelm_spark.subprocess_env import SAFE_PATH

LOG = logging.getLogger(__name__)

CODEGEN = "spark.sql.codegen.factoryMode"
ROWS_WORTH_CODE = 30_000
LOCAL_MASTER = "local[*,4]"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
LOCAL_DIR = "spark.local.dir"
ENCRYPTION = "spark.io.encryption.enabled"
AUTHENTICATION = "spark.authenticate"
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"

# What every stage relies on that a session has from its start on, or not. Speculation would ask a
# model twice; a worker would run a `random.py` of the working folder beside the text.
REQUIRED_STATIC: Mapping[str, str] = {
    "spark.sql.extensions": DELTA_EXTENSION,
    "spark.sql.catalog.spark_catalog": DELTA_CATALOG,
    "spark.speculation": "false",
    f"spark.executorEnv.{SAFE_PATH}": "1",
}
# PySpark sends the JVM the line of each call for its error messages: four round trips a call.
UNTRACED = "spark.python.sql.dataFrameDebugging.enabled"

MEANWHILE = ("pandas", "scipy.special")
"""What the first row handed to Arrow imports, and the statistics of boards."""

LOOKED_UP = (
    "functions",
    "PythonSQLUtils",
    "PythonUtils",
    "org.apache.spark.sql.functions",
    "org.apache.spark.sql.classic.SparkSession",
)


def open_session(
    conf: Mapping[str, str],
    *,
    app_name: str = "medhelm-spark",
    spark: SparkSession | None = None,
    permissions: Permissions = Permissions.PRIVATE,
    is_encrypted: bool = True,
    log_file: Path | None = None,
) -> SparkSession:
    """The given or the platform's session if there is one, else a new one with `conf` as defaults.

    Files of a new one are made with these permissions; what it spills and shuffles lies in a folder
    that nobody else can read, `is_encrypted` with a key that only its memory has. Its ports,
    which every user of the machine reaches, answer to a secret of the same kind, unless its master
    is a standalone cluster's: that has a secret of its own or none (`spark-defaults.conf`).

    Its JVM logs by `log_file`, a Log4j file, from `spark.log.level` of `conf` on: errors where that
    is not set, warnings in a session of spark-submit.

    Raises:
        SetupError: no or wrong Java, a Spark before 4.0, or Delta's classes cannot be found.
    """
    check_spark(spark_version)
    # PySpark logs every failed analysis, a table that does not exist yet among them.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    spark = spark or SparkSession.getActiveSession()
    spark = spark or _start(
        conf, app_name, permissions, is_encrypted=is_encrypted, log_file=log_file
    )
    check_spark(spark.version)
    _keep_classes(spark)
    require(spark)
    _check_delta(spark)
    return spark


def check_spark(version: str = spark_version) -> None:
    """Refuse a Spark that is too old; by default the one that is installed here.

    Raises:
        SetupError: it is.
    """
    if re.match(r"[0-3]\.", version):
        raise SetupError(
            f"Spark {version} is too old; allowed: 4.0 to 4.2, as in EMR 8 or Databricks Runtime "
            "17.3 and newer."
        )


class Session:
    """A SparkSession that is started when something first needs it, and stays.

    `start` starts it. `master` is where it will run, None where only the session has it, which is
    started at once then; it is empty where the session has none, and over Spark Connect: a server's
    `local` is another machine than ours.
    """

    def __init__(self, start: Callable[[], SparkSession], master: str | None = None) -> None:
        self._start, self._rows = start, 0
        self.master = _master(self.spark) if master is None else master

    @cached_property
    def spark(self) -> SparkSession:
        """The session."""
        spark = self._start()
        _expect_rows(spark, self._rows)
        return spark

    @property
    def version(self) -> str:
        """Spark's version; one that is started later has PySpark's."""
        return self.spark.version if "spark" in self.__dict__ else spark_version

    def expect_rows(self, rows: int) -> None:
        """Prepare a session that is set for little data (`settings/local.yaml`) for so many rows.

        Generated code is compiled anew by every process: below some ten thousand rows that costs
        more than it saves, at a hundred thousand it saves a third of the JVM's work.
        """
        self._rows = max(self._rows, rows)
        if "spark" in self.__dict__:
            _expect_rows(self.spark, rows)


def _master(spark: SparkSession) -> str:
    return "" if is_connect(spark) else setting(spark, "spark.master") or ""


def _expect_rows(spark: SparkSession, rows: int) -> None:
    if rows >= ROWS_WORTH_CODE and setting(spark, CODEGEN) == "NO_CODEGEN":
        spark.conf.set(CODEGEN, "FALLBACK")
        spark.conf.set("spark.sql.codegen.wholeStage", "true")


def is_started() -> bool:
    """Whether this process has a session, or the platform one for it."""
    # An active session is a thread's own; the context is the process's, and so is the variable that
    # PySpark sets for Spark Connect.
    is_connected = "SPARK_CONNECT_MODE_ENABLED" in os.environ
    return _submitted() or is_connected or SparkContext._active_spark_context is not None


def _start(
    conf: Mapping[str, str],
    app_name: str,
    permissions: Permissions,
    *,
    is_encrypted: bool,
    log_file: Path | None,
) -> SparkSession:
    if _submitted():
        builder = SparkSession.builder.appName(app_name)
        remote = os.environ.get("SPARK_REMOTE", "")
        if remote.startswith(CONNECT):
            check_answers(remote)
            # A server that runs takes none of the static ones, and PySpark warns of each;
            # `require` sets the others.
            return _configured(builder, conf).getOrCreate()
        present = {} if "SPARK_REMOTE" in os.environ else dict(SparkConf().getAll())
        needed = {LOG_LEVEL: "WARN", **conf, **REQUIRED, **REQUIRED_STATIC}
        missing = {key: value for key, value in needed.items() if key not in present}
        if LOG_LEVEL in conf:  # a person set it: nothing that ships does
            missing[LOG_LEVEL] = conf[LOG_LEVEL]
        spark = _configured(builder, missing).getOrCreate()
        if not is_connect(spark):
            cancel_on_interrupt(spark)
        return spark
    java_version = check_java()
    restrict(permissions)
    import_early(*MEANWHILE)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    cache_folder().mkdir(parents=True, exist_ok=True)
    defaults = {
        "spark.master": LOCAL_MASTER,
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
        **REQUIRED,
        **REQUIRED_STATIC,
        **hadoop_conf(permissions),
        UNTRACED: "false",
        LOCAL_DIR: str(work_folder()),
        ENCRYPTION: str(is_encrypted).lower(),
        LOG_LEVEL: "ERROR",
    }
    with delta_classes({**defaults, **conf}, spark_version) as with_delta:
        settings = on_class_path(with_delta)
        # Without it Spark hands few-shot texts and keys of object stores to whoever connects.
        settings.setdefault(AUTHENTICATION, str(makes_secret(settings["spark.master"])).lower())
        own_options = settings.get(JAVA_OPTIONS, "")
        logging_options = (
            [log_options(log_file, settings[LOG_LEVEL], own_options)] if log_file else []
        )
        settings[JAVA_OPTIONS] = " ".join(
            [
                own_options,
                *logging_options,
                f"-Djava.io.tmpdir={work_folder()}",
                class_archive_options(settings, java_version, spark_version),
            ]
        )
        try:
            _launch(settings)
            spark = _configured(SparkSession.builder.appName(app_name), settings).getOrCreate()
            cancel_on_interrupt(spark)
            _expect_end(spark)
            return spark
        except Exception as error:
            if is_interrupt(error):
                raise
            # Packages are resolved before there is a JVM that could report anything.
            if PACKAGES not in settings or innermost(error):
                raise _not_started(settings["spark.master"], error) from error
            raise SetupError(
                f"{settings[PACKAGES]}: not all of these packages are in the cache, and they could "
                "not be fetched from Maven; connect once, or name jars by path: of delta-spark and "
                "delta-storage in MEDHELM_SPARK_JARS, others in spark.jars."
            ) from error


def _not_started(master: str, error: Exception) -> SetupError:
    """The error of a session that Spark does not start: Java's innermost reason, in one line."""
    java = innermost(error)
    reason = str(java.toString()).partition("\n")[0] if java else type(error).__name__
    return SetupError(
        f"Spark cannot be started at spark.master {master!r} ({reason}); allowed: local, "
        "local[CORES], spark://HOST:PORT, yarn, k8s://https://HOST:PORT, of a cluster that answers."
    )


def _launch(settings: Mapping[str, str]) -> None:
    """Start the JVM as PySpark would, and filter what it prints; one that runs is used."""
    if SparkContext._gateway is None:
        os.environ.setdefault("SPARK_LAUNCHER_OPTS", LAUNCHER_OPTIONS)
        conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        with passed_on() as stderr:
            # A JVM that takes its time to end would keep open what our output is piped into.
            streams = {"stderr": stderr, "stdout": stderr}
            gateway = launch_gateway(conf, streams)  # type: ignore[no-untyped-call]
        SparkContext._ensure_initialized(gateway=gateway)


def _expect_end(spark: SparkSession) -> None:
    """Keep the server of PySpark's accumulators from printing a trace when the JVM is killed."""
    server: Any = spark.sparkContext._accumulatorServer
    server.handle_error = lambda *_: None


def jvm_end() -> str:
    """A clause: the JVM that this process started has ended, and how; empty where it runs."""
    process = getattr(SparkContext._gateway, "proc", None)
    code = process.poll() if process else None
    if code is None:
        return ""
    how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
    return f"Spark's JVM has ended ({how}); memory may have run out"


def makes_secret(master: str) -> bool:
    """Whether Spark makes the secret of its ports itself; a standalone cluster configures its own.

    As `SecurityManager.initializeAuth` of Spark 4 decides.
    """
    return re.fullmatch(r"yarn|local(\[.*\])?|k8s:.*", master) is not None


def _keep_classes(spark: SparkSession) -> None:
    """Look the JVM's classes that PySpark names at every call up once.

    py4j asks the JVM each time, which looks through every jar: a tenth of a small run.
    """
    with suppress(Exception):  # a session without a JVM raises what its own library has for it
        jvm: Any = spark._jvm
        for name in LOOKED_UP:
            setattr(jvm, name, getattr(jvm, name))


def node_addresses(spark: SparkSession) -> tuple[str, ...]:
    """The addresses of driver and executors as Spark lists them; none over Spark Connect.

    Names are looked up once, on the driver. An executor that joins later is not among them.
    """
    try:
        status = spark.sparkContext._jsc.sc().getExecutorMemoryStatus()
        hosts = {str(each).rpartition(":")[0] for each in status.keySet().mkString(" ").split()}
    except Exception:  # a session without a JVM raises what its own library has for it
        return ()
    hosts.add(setting(spark, "spark.driver.host") or "")
    return tuple(sorted({each for host in hosts if host for each in _looked_up(host)}))


@lru_cache(maxsize=1024)
def _looked_up(host: str) -> tuple[str, ...]:
    try:
        looked_up = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except OSError:
        return ()
    return tuple(sorted({str(address[0]) for *_, address in looked_up}))


def _submitted() -> bool:
    """Whether spark-submit started this process: master and jars are its business then."""
    return "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ


def _configured(builder: "SparkSession.Builder", conf: Mapping[str, str]) -> "SparkSession.Builder":
    for key, value in conf.items():
        builder = builder.config(key, value)
    return builder


def _check_delta(spark: SparkSession) -> None:
    try:
        extensions = spark.conf.get("spark.sql.extensions", None) or ""
    except Exception:  # a session that hides it is a platform's, which brings Delta
        return
    if DELTA_EXTENSION not in extensions and "databricks" not in spark.version:
        LOG.warning("spark.sql.extensions lacks %s: set it in spark-defaults.conf", DELTA_EXTENSION)
