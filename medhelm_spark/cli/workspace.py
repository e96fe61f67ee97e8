"""What a command works with: configuration first, then a session, a lake and a context."""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from medhelm_spark.config.juries import load_jury
from medhelm_spark.config.registry import Registry
from medhelm_spark.config.sampling import load_sampling
from medhelm_spark.config.settings import Platform, Settings, load_settings
from medhelm_spark.domain.deployment import Deployment, OnFailure
from medhelm_spark.domain.imported import ImportedScenario
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.request import FailureKind
from medhelm_spark.domain.run import RunEntry
from medhelm_spark.errors import ConfigError
from medhelm_spark.helm.expand import Selection, expand
from medhelm_spark.helm.imported import is_imported
from medhelm_spark.helm.run_entries import load_confs, parse_flags, up_to_priority
from medhelm_spark.helm.site import load_site
from medhelm_spark.helm.suites import SuiteFile, load_suite
from medhelm_spark.lake.lake import Lake
from medhelm_spark.lake.location import Location
from medhelm_spark.lake.progress import CLEAR_LINE
from medhelm_spark.lake.reader import Reader, open_reader
from medhelm_spark.lake.session import open_session
from medhelm_spark.lake.views import CURRENT_IMPORTS
from medhelm_spark.stages.context import Context

# What Spark and Databricks call the number of executors.
EXECUTORS = ("spark.executor.instances", "spark.databricks.clusterUsageTags.clusterTargetWorkers")


def say(line: str) -> None:
    """Progress goes to standard error, so that a board can be piped."""
    clear = CLEAR_LINE if sys.stderr.isatty() else ""  # progress may stand there
    sys.stderr.write(f"{clear}{line}\n")
    sys.stderr.flush()


class Workspace:
    """Settings and registry of an invocation; Spark only once something needs it."""

    def __init__(self, local_path: Path, location: str, extra: Iterable[Deployment] = ()) -> None:
        self.settings: Settings = load_settings(local_path)
        self.registry: Registry = load_site(local_path, deployments=extra)
        self.location = location

    @cached_property
    def lake(self) -> Lake:
        """The lake, through the platform's session or one started for it."""
        if self.settings.jars:
            os.environ.setdefault("MEDHELM_SPARK_JARS", self.settings.jars)
        return Lake(open_session(self.settings.spark), self.location)

    @cached_property
    def reader(self) -> Reader:
        """Delta files are read without a JVM; a catalog's tables through its Spark session."""
        location = Location.of(self.location)
        if location.is_catalog:
            from medhelm_spark.lake.lake import SparkReader

            return SparkReader(self.lake)
        return open_reader(location.name)

    def registry_for(self, entries: Iterable[RunEntry]) -> Registry:
        """The registry; with the lake's imported scenarios where an entry names one."""
        is_asked = any(is_imported(entry.name) for entry in entries)
        return replace(self.registry, imported=self.imported()) if is_asked else self.registry

    def imported(self) -> tuple[ImportedScenario, ...]:
        """The scenarios that were imported into the lake; none where there is no lake."""
        if not Location.of(self.location).may_exist:
            return ()
        return tuple(self.reader.rows(CURRENT_IMPORTS, ImportedScenario))

    def context(self, suite: str, tell: Callable[[str], None] = say) -> Context:
        """What the stages of one suite need."""
        cores = _cores(self.settings, self.lake)
        return Context(
            lake=self.lake,
            suite=suite,
            say=tell,
            wave_seconds=self.settings.wave_minutes * 60,
            slots=self.settings.slots or _executors(self.settings, self.lake),
            cores=cores,
            terminal=sys.stderr if sys.stderr.isatty() else None,
        )


def _cores(settings: Settings, lake: Lake) -> int:
    if settings.platform is Platform.LOCAL:
        return os.cpu_count() or 1
    per_executor = int(lake.spark.conf.get("spark.executor.cores", None) or 1)
    return _executors(settings, lake) * per_executor


def _executors(settings: Settings, lake: Lake) -> int:
    """How many executors the session asked for: a slot each, unless `slots` is set."""
    if settings.platform is Platform.LOCAL:
        return 1
    found = (lake.spark.conf.get(key, None) for key in EXECUTORS)
    return next((int(value) for value in found if value), 1)


NO_SUITE = SuiteFile(description="")


@dataclass(frozen=True, slots=True)
class Entries:
    """The run entries of a command line, before they are resolved.

    `listed` is where the suite file's own entries stand, None without one.
    """

    entries: tuple[RunEntry, ...]
    suite: SuiteFile = NO_SUITE
    listed: frozenset[str] | None = None

    @classmethod
    def of(cls, args: Namespace) -> "Entries":
        """From `--run-entries`, `--conf-paths`, `--suite-file` and `--priority`.

        Raises:
            ConfigError: none of the three was given, or one of them is wrong.
        """
        if not args.run_entries and not args.conf_paths and not args.suite_file:
            raise ConfigError(
                "give run entries by --run-entries, or files of them by --conf-paths or "
                "--suite-file."
            )
        entries = (*parse_flags(args.run_entries), *load_confs(args.conf_paths))
        if not args.suite_file:
            return cls(up_to_priority(entries, args.priority))
        suite, more = load_suite(args.suite_file, args.local_path)
        listed = frozenset(entry.where for entry in more)
        return cls(up_to_priority((*entries, *more), args.priority), suite, listed)

    def resolve(self, args: Namespace, workspace: Workspace) -> tuple[ResolvedRun, ...]:
        """One resolved run per scenario and model."""
        limit, trials, suite = args.max_eval_instances, args.num_train_trials, self.suite
        jury = suite.jury_config_path
        selection = Selection(
            models_to_run=args.models_to_run or suite.models_to_run,
            groups_to_run=args.groups_to_run,
            max_eval_instances=suite.max_eval_instances if limit is None else limit,
            num_train_trials=suite.num_train_trials if trials is None else trials,
            num_trials=suite.repeats,
            jury=load_jury(Path(jury)) if jury else None,
            primary_endpoint=suite.primary_endpoint,
            margin=suite.margin,
            sampling=load_sampling(args.sampling) if args.sampling else suite.sampling,
            listed=self.listed,
            compat=bool(getattr(args, "compat", None)),
        )
        registry = workspace.registry_for(self.entries)
        runs = expand(self.entries, registry, base_dir=Path.cwd(), selection=selection)
        changes = _changes(args)
        return tuple(_with(run, changes) for run in runs)


def _changes(args: Namespace) -> dict[str, Any]:
    """What flags change about every evaluated deployment."""
    changes: dict[str, Any] = {}
    if threads := getattr(args, "num_threads", None):
        changes["max_concurrency"] = threads
    if getattr(args, "compat", None):
        changes["on_failure"] = {FailureKind.TOO_LONG: OnFailure.TRUNCATE}
    return changes


def _with(run: ResolvedRun, changes: Mapping[str, Any]) -> ResolvedRun:
    given = run.deployment
    kinds = {**given.on_failure, **changes.get("on_failure", {})}
    return replace(run, deployment=replace(given, **{**changes, "on_failure": kinds}))
