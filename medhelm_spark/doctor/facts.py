"""The facts that the checks judge: of this machine, Spark, its executors, the lake's location."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pyspark import __version__ as pyspark_version

from medhelm_spark import features
from medhelm_spark.config.settings import Platform, Settings
from medhelm_spark.domain.machine import Machine
from medhelm_spark.domain.names import without_login
from medhelm_spark.engines.machine import look
from medhelm_spark.errors import MedhelmSparkError, SetupError
from medhelm_spark.lake.cluster import cluster_of
from medhelm_spark.lake.executors import each_executor
from medhelm_spark.lake.jvm import check_java, delta_conf
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.probe import ProbedStore, folder_store, spark_store
from medhelm_spark.lake.session import is_started
from medhelm_spark.lake.settings import kept_settings
from medhelm_spark.workspace.session import session_of, settings_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was found. A value is None where it was not looked at, and its check is left out.

    `java` is Java's version, `spark` Spark's. `executors` looked between `before` and `after`. A
    `..._problem` is a sentence that says why there is no value. `tracking` is the server's address
    without its login. `engines` have to work on every executor;
    with `is_cluster` executors are processes of their own.
    """

    driver: Machine
    location: str
    paths: tuple[str, ...] = ()
    engines: frozenset[str] = frozenset()
    java: str | None = None
    java_problem: str = ""
    spark: str | None = None
    spark_problem: str = ""
    delta: str | None = None
    delta_problem: str = ""
    executors: tuple[Machine, ...] | None = None
    executors_problem: str = ""
    is_cluster: bool = False
    before: datetime
    after: datetime
    store: ProbedStore | None = None
    tracking: str | None = None
    tracking_problem: str = ""


def gather(
    location: str,
    *,
    site: Path | None,
    paths: tuple[str, ...] = (),
    engines: frozenset[str] = frozenset(),
    on_executors: bool = False,
    tracking_uri: str | None = None,
    is_tracked: bool = True,
) -> Facts:
    """Look at everything. Spark is started for a URI, a catalog, and for the executors alone.

    Raises:
        ConfigError: the location, or a setting, is wrong.
    """
    lake_location, settings = Location.of(location), settings_of(site)
    if settings.staging_folder:
        paths = (*paths, settings.staging_folder)
    found: dict[str, object] = {
        "driver": look(paths),
        "location": str(lake_location),
        "paths": paths,
        "engines": engines,
        "is_cluster": settings.platform is not Platform.LOCAL,
    }
    if settings.platform is Platform.LOCAL and not is_started():
        found |= _java()
    before = datetime.now(UTC)
    if on_executors or not lake_location.is_folder:
        found |= _by_spark(settings, lake_location, paths, on_executors=on_executors)
    else:
        found |= {"spark": pyspark_version, "store": folder_store(Path(lake_location.name))}
        found |= _delta_at_hand(settings)
    found |= {"before": before, "after": datetime.now(UTC)}
    if is_tracked:
        found |= _tracking(tracking_uri or settings.tracking_uri)
    return Facts(**found)  # type: ignore[arg-type]


def _java() -> dict[str, object]:
    try:
        return {"java": check_java()}
    except SetupError as error:
        return {"java_problem": str(error)}


def _delta_at_hand(settings: Settings) -> dict[str, object]:
    try:
        conf = {"spark.jars": settings.jars} if settings.jars else delta_conf(pyspark_version)
    except SetupError as error:
        return {"delta_problem": str(error)}
    jars = str(conf.get("spark.jars", ""))
    if not jars:
        return {"delta_problem": "its jars are not in the cache; the first run fetches them"}
    missing = [jar for jar in jars.split(",") if not Path(jar).exists()]
    if missing:
        return {"delta_problem": f"{missing[0]} is not there"}
    return {"delta": Path(jars.split(",")[0]).stem.rpartition("-")[2]}


def _by_spark(
    settings: Settings, lake_location: Location, paths: tuple[str, ...], *, on_executors: bool
) -> dict[str, object]:
    try:
        spark = session_of(settings)
    except MedhelmSparkError as error:
        return {"spark_problem": str(error).removesuffix(".")}
    except Exception as error:  # PySpark has its own, and Java's
        return {"spark_problem": f"it cannot be started ({type(error).__name__})"}
    found: dict[str, object] = {"spark": spark.version}
    with kept_settings(spark):
        store = spark_store(spark, lake_location)
        found |= {"store": store, "delta": store.delta}
        if on_executors:
            try:
                machines = each_executor(spark, cluster_of(spark), partial(look, paths), Machine)
                found["executors"] = tuple(machines)
            except MedhelmSparkError as error:
                found["executors_problem"] = str(error)
            except Exception as error:  # a job that failed reaches Python as the JVM's own
                found["executors_problem"] = f"a task of one row failed ({type(error).__name__})"
    return found


def _tracking(uri: str | None) -> dict[str, object]:
    store = features.part("tracking", "store")
    if uri is None or store is None:  # a local lake's own file is made by the first run
        return {}
    address = without_login(uri)
    try:
        store.ask(uri)
        return {"tracking": address}
    except SetupError as error:
        return {"tracking": address, "tracking_problem": str(error)}
    except Exception as error:  # whatever a server and its client make of each other
        return {"tracking": address, "tracking_problem": f"no answer ({type(error).__name__})"}
