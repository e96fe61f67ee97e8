"""What to evaluate: run entries, and what narrows or changes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from medhelm_spark.config.juries import load_jury
from medhelm_spark.config.registry import Registry
from medhelm_spark.config.sampling import load_sampling
from medhelm_spark.domain.deployment import OnFailure
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.request import FailureKind
from medhelm_spark.domain.run import RunEntry
from medhelm_spark.errors import ConfigError, UnknownNameError
from medhelm_spark.helm.expand import Selection, expand
from medhelm_spark.helm.run_entries import load_confs, parse_flags, up_to_priority
from medhelm_spark.helm.suites import SuiteFile, load_suite

_NO_SUITE = SuiteFile(description="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """Run entries of three sources, and the options that hold for all of them.

    Field names are those of HELM's flags: `max_eval_instances` is `-m`. `compat` is
    `medhelm-0.8` or None; `num_threads` caps the requests open at once to a model's server.
    Relative paths in entries start at `base_dir`.
    """

    run_entries: Sequence[str] = ()
    conf_paths: Sequence[Path] = ()
    suite_file: str | None = None
    priority: int | None = None
    models_to_run: Sequence[str] = ()
    groups_to_run: Sequence[str] = ()
    max_eval_instances: int | None = None
    num_train_trials: int | None = None
    sampling: str | None = None
    compat: str | None = None
    num_threads: int | None = None
    base_dir: Path | None = None

    def load(self, site: Path | None) -> "LoadedEntries":
        """The entries that are given; `site` is the folder whose suite files are known by name.

        Raises:
            ConfigError: none was given, or one of them is wrong.
        """
        if not self.run_entries and not self.conf_paths and not self.suite_file:
            raise ConfigError(
                "give run entries by --run-entries, or files of them by --conf-paths or "
                "--suite-file."
            )
        entries = (*parse_flags(self.run_entries), *load_confs(self.conf_paths))
        suite, listed = _NO_SUITE, None
        if self.suite_file:
            suite, more = load_suite(self.suite_file, site)
            entries, listed = (*entries, *more), frozenset(entry.where for entry in more)
        return LoadedEntries(self, up_to_priority(entries, self.priority), suite, listed)


def entries_of(given: str | Sequence[str] | Entries, options: Mapping[str, Any]) -> Entries:
    """Entries of one run entry, of several, or of Entries; `options` replace their fields.

    Raises:
        UnknownNameError: Entries have no such field.
    """
    for name in options:
        if name not in Entries.__dataclass_fields__:
            raise UnknownNameError("option", name, Entries.__dataclass_fields__)
    if isinstance(given, Entries):
        return replace(given, **options)
    return Entries(run_entries=[given] if isinstance(given, str) else list(given), **options)


@dataclass(frozen=True, slots=True)
class LoadedEntries:
    """Parsed entries, not resolved; `listed` is where the suite file's own ones stand."""

    options: Entries
    entries: tuple[RunEntry, ...]
    suite: SuiteFile
    listed: frozenset[str] | None

    def resolve(self, registry: Registry) -> tuple[ResolvedRun, ...]:
        """One resolved run per scenario and model."""
        options, suite = self.options, self.suite
        limit, trials = options.max_eval_instances, options.num_train_trials
        selection = Selection(
            models_to_run=options.models_to_run or suite.models_to_run,
            groups_to_run=options.groups_to_run,
            max_eval_instances=suite.max_eval_instances if limit is None else limit,
            num_train_trials=suite.num_train_trials if trials is None else trials,
            num_trials=suite.repeats,
            jury=load_jury(Path(suite.jury_config_path)) if suite.jury_config_path else None,
            primary_endpoint=suite.primary_endpoint,
            margin=suite.margin,
            sampling=load_sampling(options.sampling) if options.sampling else suite.sampling,
            listed=self.listed,
            compat=options.compat is not None,
        )
        base_dir = options.base_dir or Path.cwd()
        runs = expand(self.entries, registry, base_dir=base_dir, selection=selection)
        return tuple(_with(run, self._deployment_changes()) for run in runs)

    def _deployment_changes(self) -> dict[str, Any]:
        """What options change about every evaluated deployment."""
        changes: dict[str, Any] = {}
        if self.options.num_threads:
            changes["max_concurrency"] = self.options.num_threads
        if self.options.compat:
            changes["on_failure"] = {FailureKind.TOO_LONG: OnFailure.TRUNCATE}
        return changes


def _with(run: ResolvedRun, changes: Mapping[str, Any]) -> ResolvedRun:
    on_failure = {**run.deployment.on_failure, **changes.get("on_failure", {})}
    return replace(run, deployment=replace(run.deployment, **{**changes, "on_failure": on_failure}))
