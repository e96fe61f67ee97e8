"""Whether a lake's location works: tried on a file or table that is then removed.

Nothing of the lake's own tables is read or written.
"""

import uuid
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree

from pyspark.sql import DataFrame, SparkSession, functions as F

from medhelm_spark.lake.java_error import innermost
from medhelm_spark.lake.links import link_error
from medhelm_spark.lake.location import Location

PROBE = "_doctor"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedStore:
    """How the lake's location answered: the steps that went well, in their order, and what did not.

    `failed` is the step that was refused, `reason` the kind of its error and nothing of its text.
    `modified` is when the store says that the file was written, between the times `before` and
    `after` of this machine. `delta` is the version of Delta Lake that wrote it, where Spark did.
    """

    done: tuple[str, ...] = ()
    failed: str = ""
    reason: str = ""
    before: datetime
    after: datetime
    modified: datetime | None = None
    delta: str | None = None


def folder_store(folder: Path) -> ProbedStore:
    """Write, read and remove a file in a folder of this machine, or in the nearest that exists."""
    before = datetime.now(UTC)
    steps: list[str] = []
    nearest = next(each for each in (folder, *folder.parents) if each.is_dir())
    file = nearest / f"{PROBE}-{uuid.uuid4().hex}"
    modified, step = None, "write"
    try:
        file.write_text(PROBE)
        modified = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        steps, step = [*steps, step], "read"
        file.read_text()
        steps, step = [*steps, step], "delete"
        file.unlink()
        steps.append(step)
    except OSError as error:
        with suppress(OSError):
            file.unlink(missing_ok=True)
        return _store(before, steps, modified, failed=step, error=error)
    return _store(before, steps, modified)


def spark_store(spark: SparkSession, location: Location) -> ProbedStore:
    """The same through Spark, by a Delta table that its executors write.

    In a catalog it is created and dropped, which takes the rights that a lake needs; of a folder or
    URI nothing stays but an empty folder of the name PROBE.

    Raises:
        LakeError: That name is a symbolic link: what lies at its end would be deleted.
    """
    if location.is_folder and Path(location.name, PROBE).is_symlink():
        raise link_error(Path(location.name, PROBE))
    before = datetime.now(UTC)
    steps: list[str] = []
    rows = spark.range(4).repartition(4)
    modified, delta, step = None, None, "create"
    table = _table(location)
    try:
        if location.is_catalog:
            rows.write.format("delta").saveAsTable(table)
        else:
            rows.write.format("delta").save(table)
        steps, step = [*steps, step], "read"
        named = table if location.is_catalog else f"delta.`{table}`"
        modified = _modified(spark.table(named))
        delta = _delta(spark, named)
        steps, step = [*steps, step], "delete"
        _remove(spark, location, table)
        steps.append(step)
    except Exception as error:  # each store and each kind of session has its own
        with suppress(Exception):
            _remove(spark, location, table)
        return _store(before, steps, modified, failed=step, error=error, delta=delta)
    return _store(before, steps, modified, delta=delta)


def _table(location: Location) -> str:
    name = f"{PROBE}_{uuid.uuid4().hex}"
    return location.table(name) if location.is_catalog else f"{location}/{PROBE}/{name}"


def _modified(stored: DataFrame) -> datetime | None:
    newest = stored.agg(F.max("_metadata.file_modification_time").cast("double").alias("at"))
    at = newest.toArrow()["at"][0].as_py()
    return None if at is None else datetime.fromtimestamp(at, UTC)


def _delta(spark: SparkSession, named: str) -> str | None:
    """The version in the table's history, as in "Apache-Spark/4.2.0 Delta-Lake/4.4.0"."""
    engine = spark.sql(f"DESCRIBE HISTORY {named} LIMIT 1").toArrow()["engineInfo"][0].as_py() or ""
    return engine.rpartition("Delta-Lake/")[2] or None


def _remove(spark: SparkSession, location: Location, table: str) -> None:
    if location.is_catalog:
        spark.sql(f"DROP TABLE IF EXISTS {table}")
        return
    nothing = spark.createDataFrame([], "value string")
    nothing.write.mode("overwrite").text(f"{location}/{PROBE}")  # which deletes what lay there
    if location.is_folder:
        rmtree(Path(location.name, PROBE), ignore_errors=True)
        with suppress(OSError):  # a lake that was not there is not made by looking
            Path(location.name).rmdir()


def _reason(error: Exception) -> str:
    """Spark's condition where it names one, else Java's class or Python's: none quotes anything."""
    for name in ("getCondition", "getErrorClass"):  # Spark 4.0 and newer, and before
        with suppress(Exception):  # a JVM's error may have none
            if condition := getattr(error, name)():
                return str(condition)
    with suppress(Exception):  # a JVM that has ended
        if java := innermost(error):
            return str(java.getClass().getSimpleName())
    return type(error).__name__


def _store(
    before: datetime,
    steps: list[str],
    modified: datetime | None,
    *,
    failed: str = "",
    error: Exception | None = None,
    delta: str | None = None,
) -> ProbedStore:
    return ProbedStore(
        done=tuple(steps),
        failed=failed,
        reason=_reason(error) if error else "",
        before=before,
        after=datetime.now(UTC),
        modified=modified,
        delta=delta,
    )
