"""What the JVM of a session that we start prints: its warnings and errors, not how it starts.

Java prints what no option of it silences, and Spark prints before it has read a setting. So the log
gets a file of ours from the first line on, and what is left is taken out of the JVM's standard
error on its way to ours.
"""

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOG_LEVEL = "spark.log.level"
CONFIGURED = "log4j2.configurationFile"
FILE = "log4j2.properties"
STANDARD_ERROR = 2

AT_START = (b"WARNING: Using incubator modules: jdk.incubator.vector",)
"""Spark asks for the module in every JVM, and no option of Java 17 to 21 stops the line."""


def log_options(file: Path, level: str, options: str) -> str:
    """Java's options that log by `file` from `level` on; none where a site logs by its own file.

    `options` are the other options of this JVM.
    """
    folder = os.environ.get("SPARK_CONF_DIR")
    if CONFIGURED in options or (folder and Path(folder, FILE).is_file()):
        return ""
    return f"-D{CONFIGURED}={file.absolute().as_uri()} -Dmedhelm_spark.log.level={level}"


@contextmanager
def passed_on() -> Iterator[int]:
    """A file descriptor to start a process with as its standard error.

    What is written there goes to our own, without the lines of `AT_START`, until the process ends.
    The thread that does so goes on reading where nobody reads ours any more: a full pipe would stop
    the JVM.
    """
    reading, writing = os.pipe()
    lines = os.fdopen(reading, "rb")
    threading.Thread(
        target=_pass_on, args=(lines,), daemon=True, name="medhelm-spark-jvm-log"
    ).start()
    try:
        yield writing
    finally:
        os.close(writing)  # the process has its own copy


def _pass_on(lines: Iterable[bytes]) -> None:
    for line in lines:
        if not line.startswith(AT_START):
            with suppress(OSError):
                os.write(STANDARD_ERROR, line)
