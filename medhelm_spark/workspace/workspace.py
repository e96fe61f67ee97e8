"""The resources of an evaluation: configuration first, then a session, a lake and a context."""

import os
import sys
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from pyspark.sql import SparkSession

from medhelm_spark.config.registry import Registry
from medhelm_spark.config.settings import MASTER, SETTINGS_FILE, Platform, Settings
from medhelm_spark.config.site_folder import unread
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.cluster import Cluster, cores_of
from medhelm_spark.domain.deployment import BY_NAME, Deployment
from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.domain.names import RULE, printable, unprintable
from medhelm_spark.domain.plan import ResolvedRun, deployments_of
from medhelm_spark.domain.pluralize import first_of
from medhelm_spark.domain.run import RunEntry
from medhelm_spark.domain.skipped import SkippedRun
from medhelm_spark.engines import described, factory_of
from medhelm_spark.engines.slots import visible_gpus_here
from medhelm_spark.errors import ConfigError
from medhelm_spark.lake.cluster import CONNECT, cluster_of
from medhelm_spark.lake.defaults import not_applied
from medhelm_spark.lake.file_permissions import Permissions, restrict
from medhelm_spark.lake.lake import Lake, SparkReader
from medhelm_spark.lake.lake_lock import LakeLock
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.progress import CLEAR_LINE, in_log, on_terminal
from medhelm_spark.lake.reader import Reader, open_reader
from medhelm_spark.lake.session import LOCAL_MASTER, Session, check_spark, is_started
from medhelm_spark.lake.store_reader import store_reader
from medhelm_spark.lake.views import newest
from medhelm_spark.lake.warm_up import warm_up
from medhelm_spark.medhelm.imported import is_imported
from medhelm_spark.medhelm.site import load_site
from medhelm_spark.policy.spark import BESIDE_SPARK, check_remote, check_settings
from medhelm_spark.stages.context import Context
from medhelm_spark.workspace.entries import LoadedEntries
from medhelm_spark.workspace.session import policy_tables, session_of, settings_of


def say(line: str) -> None:
    """Print progress to standard error, so that a board can be piped."""
    clear = CLEAR_LINE if sys.stderr.isatty() else ""  # the line may show progress
    sys.stderr.write(f"{clear}{printable(line)}\n")
    sys.stderr.flush()


def print_unread(site: Path | None, say: Callable[[str], None]) -> None:
    """Print the unread files of the site's folder: one may be a policy with a mistyped name."""
    if names := unread(site) if site else []:
        say(f"site folder {site}: not read by its name: {first_of(names, 8)}")


class Workspace:
    """Settings, registry and lake of an invocation; it starts Spark only when it is needed.

    A policy in a catalog's table needs Spark at once.

    `spark` is an existing session; `deployments` are added to the site's own.
    """

    def __init__(
        self,
        location: str,
        site: Path | None,
        *,
        deployments: Iterable[Deployment] = (),
        spark: SparkSession | None = None,
        say: Callable[[str], None] = say,
    ) -> None:
        self._deployments = tuple(deployments)
        for _, name in unprintable(self._deployments):
            raise ConfigError(f"a deployment has the name {name!r}; allowed: {RULE}.")
        check_spark()
        self.location = str(Location.of(location))  # first: a wrong one is refused
        self.settings: Settings = settings_of(site, spark)
        self.site, self.say = site, say
        if self.settings.wave_minutes is not None:
            say("setting wave_minutes does nothing; commit_seconds says when answers are committed")
        self.sole_driver = LakeLock(say)
        self._spark = spark
        self.registry: Registry = self._load()
        self._levels: set[AccessLevel] = set()
        self._clients: set[str] = set()
        print_unread(site, say)
        if self.settings.platform is Platform.LOCAL:
            restrict(self.permissions)

    def with_deployments(self, deployments: Iterable[Deployment]) -> "Workspace":
        """A copy with more deployments; this workspace stays as it is."""
        more = copy(self)  # with the lake and session, where they are open
        more._deployments = (*self._deployments, *deployments)
        more.registry = more._load()
        return more

    def _load(self) -> Registry:
        tables = policy_tables(self.settings, self._spark)
        return load_site(self.site, deployments=self._deployments, tables=tables)

    @property
    def permissions(self) -> Permissions:
        """Who reads the files of a local lake."""
        return Permissions(self.settings.lake_permissions)

    def expect(self, levels: Iterable[AccessLevel], deployments: Iterable[Deployment] = ()) -> None:
        """Declare, before a session starts, the levels of its data and the models that it asks."""
        self._levels |= set(levels)
        self._clients |= {name for each in deployments for name in factory_of(each).imports}

    def _known_levels(self) -> set[AccessLevel]:
        """The levels of all known data: the lake's and the expected data's."""
        levels = set(self._levels)
        location = Location.of(self.location)
        is_ours = self.settings.platform is Platform.LOCAL and self._spark is None
        if is_ours and location.is_folder and location.may_exist:
            rows = self.reader.query("SELECT DISTINCT access_level FROM {scenarios}")
            known = {level.value: level for level in AccessLevel}
            found = rows["access_level"].to_pylist()
            levels |= {known.get(level, AccessLevel.PRIVATE) for level in found}
        return levels

    @property
    def provided_session(self) -> SparkSession | None:
        """The session that the caller provided."""
        return self._spark

    @property
    def coverage_floor(self) -> float:
        """The policy's share of answers that need a score, from 0 to 1."""
        return self.registry.policy.comparison.coverage_floor

    @cached_property
    def lake(self) -> Lake:
        """The lake, with the platform's session or one that is started when it is needed."""
        is_ours = self.settings.platform is Platform.LOCAL and not self._spark and not is_started()
        master = self.settings.spark.get(MASTER, LOCAL_MASTER) if is_ours else None
        folder = self.settings.staging_folder
        lake = Lake(Session(self._open_session, master), self.location, folder)
        self.sole_driver.guard(lake)
        return lake

    def _check_session(self) -> None:
        """Refuse, for gated and private text, settings and a server that may send it outside."""
        site_file = str(self.site / SETTINGS_FILE) if self.site else ""
        configured = {
            name: value
            for name, value in self.settings.spark.items()
            if self.settings.sources.get(name) == site_file
        }
        for name in BESIDE_SPARK:
            value = getattr(self.settings, name)
            if value and self.settings.sources.get(name) == site_file:
                configured[name] = value
        if configured and self._known_levels() - {AccessLevel.PUBLIC}:
            check_settings(configured, site_file)
        remote = os.environ.get("SPARK_REMOTE", "")
        if self._spark is None and remote.startswith(CONNECT):
            check_remote(self.registry.policy, self._levels, remote)

    def _open_session(self) -> SparkSession:
        self._check_session()
        is_ours = not self._spark and not is_started()
        is_encrypted = self._known_levels() != {AccessLevel.PUBLIC}
        spark = session_of(
            self.settings, self._spark, is_encrypted=is_encrypted, clients=sorted(self._clients)
        )
        shipped = self.settings.origins[0]
        configured = {
            key: value
            for key, value in self.settings.spark.items()
            if self.settings.sources[key] != shipped
        }
        if names := not_applied(spark, configured):
            self.say(
                f"settings: the session was started without {', '.join(names)}; it takes such a "
                "setting at its start alone, as spark-submit --conf or the cluster's configuration"
            )
        if is_ours:
            warm_up(spark)
        return spark

    @cached_property
    def reader(self) -> Reader:
        """Reads Delta files without a JVM, and those of a store through Spark if necessary.

        It reads a catalog's tables through the Spark session, or, without a session, through the
        site's SQL warehouse if there is one.
        """
        location, warehouse = Location.of(self.location), self.settings.warehouse
        has_session = self._spark is not None or is_started()
        if location.is_catalog and (has_session or warehouse is None):
            return SparkReader(self.lake)
        if has_session and not location.is_catalog and not location.is_folder:
            return store_reader(str(location), self.lake, self.say)
        return open_reader(str(location), warehouse)

    def resolve(self, entries: LoadedEntries) -> tuple[ResolvedRun, ...]:
        """One run per scenario and model of the entries; prints models that only a name describes.

        Raises:
            ConfigError: a name is unknown; for a model with runs in the lake it says so.
        """
        try:
            runs = entries.resolve(self.registry_for(entries.entries))
        except ConfigError as error:
            forgotten = entries.models & self._forgotten()
            if not forgotten:
                raise
            raise ConfigError(
                f"{error} This lake has earlier runs of {first_of(sorted(forgotten))}, whose "
                "deployment is not configured now: add it to model_deployments.yaml or to "
                "Evaluation(deployments=[...])."
            ) from None
        for deployment in deployments_of(runs).values():
            if deployment.origin == BY_NAME:
                self.say(f"model {deployment.name}: {described(deployment)}, in no file")
        return runs

    def without_absent(
        self, entries: LoadedEntries
    ) -> tuple[LoadedEntries, tuple[SkippedRun, ...]]:
        """The entries without scenarios that were never imported, and the runs left out."""
        return entries.without_absent(self.registry_for(entries.entries))

    def _forgotten(self) -> set[str]:
        """The deployments with runs in the lake that are no longer configured."""
        location = Location.of(self.location)
        if location.is_catalog or not location.may_exist:  # an error is no reason to start Spark
            return set()
        rows = self.reader.query("SELECT DISTINCT run_spec FROM {run_specs}").to_pylist()
        names = {str(row["run_spec"]["model_deployment"]) for row in rows}
        return {name for name in names if self.registry.deployment(name) is None}

    def registry_for(self, entries: Iterable[RunEntry]) -> Registry:
        """The registry; with the lake's imported scenarios if an entry names one."""
        is_asked = any(is_imported(entry.name) for entry in entries)
        return replace(self.registry, imported=self.imported()) if is_asked else self.registry

    def imported(self) -> tuple[ImportedScenario, ...]:
        """The scenarios that were imported into the lake; none if there is no lake."""
        if not Location.of(self.location).may_exist:
            return ()
        sql = newest("imported_scenarios", ["scenario_name"], "imported_at DESC")
        return tuple(self.reader.rows(sql, ImportedScenario))

    def context(self, suite: str, *, is_in_process: bool = False) -> Context:
        """The context of a suite's stages; `is_in_process`: this process computes their rows."""
        now = self.cluster()
        return Context(
            lake=self.lake.in_process() if is_in_process else self.lake,
            suite=suite,
            say=self.say,
            chunk_requests=self.settings.chunk_requests,
            commit_seconds=self.settings.commit_seconds,
            slots=self.settings.slots,
            cluster=self.cluster,
            cores=1 if is_in_process else cores_of(now),
            is_one_machine=now.is_one_machine,
            display=on_terminal(sys.stderr) if sys.stderr.isatty() else in_log(self.say),
        )

    def cluster(self) -> Cluster:
        """Spark's current machines; on a single machine Spark is not started for it."""
        if self.settings.platform is Platform.LOCAL:
            return Cluster(
                master=self.settings.spark.get(MASTER, LOCAL_MASTER),
                parallelism=os.cpu_count(),
                node_gpus=len(visible_gpus_here()),
            )
        cluster = cluster_of(self.lake.spark)
        if cluster.is_one_machine:
            cluster = replace(cluster, node_gpus=len(visible_gpus_here()))
        return cluster
