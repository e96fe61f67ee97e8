"""What to evaluate: run entries, and the options that narrow or change them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from medhelm_spark.config.groups import check_groups
from medhelm_spark.config.juries import load_jury
from medhelm_spark.config.registry import Registry
from medhelm_spark.config.sampling import load_sampling
from medhelm_spark.domain.deployment import Locality, OnFailure
from medhelm_spark.domain.groups import plain_name
from medhelm_spark.domain.plan import ResolvedRun
from medhelm_spark.domain.request import FailureKind
from medhelm_spark.domain.run import MEDHELM_08, RunEntry
from medhelm_spark.domain.skipped import SkippedRun
from medhelm_spark.errors import AbsentDataError, ConfigError, UnknownNameError
from medhelm_spark.medhelm.expand import Selection, absent_runs, check_imported, expand
from medhelm_spark.medhelm.run_entries import MODEL_KEYS, load_confs, parse_flags, up_to_priority
from medhelm_spark.medhelm.suites import SuiteFile, load_suite
from medhelm_spark.scenarios import check_card
from medhelm_spark.workspace.attested import attested

LEAST = {"priority": 0, "num_threads": 1}
"""Options that are whole numbers, and their smallest allowed value."""

LISTS = ("run_entries", "conf_paths", "models_to_run", "groups_to_run", "by")

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+:/")
_NO_SUITE = SuiteFile(description="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """Run entries of three sources, and the options that apply to all of them.

    Field names are those of HELM's flags: `max_eval_instances` is `-m`. A list with one element may
    be given as one text or path. `compat` is `medhelm-0.8` or None; `num_threads`, from 1 on, is
    the largest number of open requests to a model's server. Relative paths in entries start at
    `base_dir`. `attest_locality` (`local`, `tenant`, `baa` or `external`) is where models run that
    only a name describes; without it that is unknown, and gated and private text is refused. `by`
    are columns of the data, or a card's bands, by which results are grouped too.
    """

    run_entries: str | Sequence[str] = ()
    conf_paths: str | Path | Sequence[str | Path] = ()
    suite_file: str | Path | None = None
    priority: int | None = None
    models_to_run: str | Sequence[str] = ()
    groups_to_run: str | Sequence[str] = ()
    max_eval_instances: int | None = None
    num_train_trials: int | None = None
    sampling: str | None = None
    compat: str | None = None
    num_threads: int | None = None
    base_dir: str | Path | None = None
    attest_locality: Locality | str | None = None
    by: str | Sequence[str] = ()

    def load(self, site: Path | None) -> "LoadedEntries":
        """Parse the entries; `site` is the folder whose suite files can be named.

        Raises:
            ConfigError: there are no entries, or one of them is wrong.
        """
        self._check()
        if not self.run_entries and not self.conf_paths and not self.suite_file:
            raise ConfigError(
                "give run entries (--run-entries), files of them (conf_paths, --conf-paths) or a "
                "suite file (suite_file, --suite-file)."
            )
        files = [Path(path) for path in listed(self.conf_paths)]
        entries = (*parse_flags(listed(self.run_entries)), *load_confs(files))
        suite, own = _NO_SUITE, None
        if self.suite_file:
            suite, more = load_suite(str(self.suite_file), site)
            entries, own = (*entries, *more), frozenset(entry.where for entry in more)
        return LoadedEntries(self._with_lists(), up_to_priority(entries, self.priority), suite, own)

    def _check(self) -> None:
        """Refuse options with a wrong type or value."""
        if self.compat not in (None, MEDHELM_08):
            raise ConfigError(f"compat is {self.compat!r}; allowed: {MEDHELM_08!r} or None.")
        for name, least in LEAST.items():
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < least):
                raise ConfigError(
                    f"{name} is {value!r}; allowed: a whole number of at least {least}."
                )
        localities = tuple(map(str, Locality))
        if self.attest_locality is not None and self.attest_locality not in localities:
            raise UnknownNameError("locality", str(self.attest_locality), localities)
        for name in LISTS:
            for item in listed(getattr(self, name)):
                if not isinstance(item, str | Path if name == "conf_paths" else str):
                    raise ConfigError(
                        f"{name} contains a {type(item).__name__}; allowed: one text or several."
                    )
        for path in map(str, listed(self.conf_paths)):
            if _ADDRESS.match(path):
                raise ConfigError(
                    f"{path}: run entries (-c) are read from a file of this machine, not from an "
                    "address; put the file into the site folder, which travels with the job."
                )

    def _with_lists(self) -> "Entries":
        return replace(
            self,
            models_to_run=listed(self.models_to_run),
            groups_to_run=listed(self.groups_to_run),
        )


def listed(value: Any) -> tuple[Any, ...]:
    """A tuple of several values, or of one value.

    >>> listed("a"), listed(["a", "b"]), listed(())
    (('a',), ('a', 'b'), ())
    """
    if isinstance(value, Iterable) and not isinstance(value, str):
        return tuple(value)
    return (value,)


def entries_of(entries: str | Sequence[str] | Entries, options: Mapping[str, Any]) -> Entries:
    """Entries from one run entry, several, or Entries; `options` replace their fields.

    Raises:
        UnknownNameError: Entries have no such field.
    """
    for name in options:
        if name not in Entries.__dataclass_fields__:
            raise UnknownNameError("option", name, Entries.__dataclass_fields__)
    if isinstance(entries, Entries):
        return replace(entries, **options)
    if "run_entries" in options and listed(entries):
        raise ConfigError("run_entries is given twice: as entries and as an option; give it once.")
    return Entries(**{"run_entries": listed(entries), **options})


@dataclass(frozen=True, slots=True)
class LoadedEntries:
    """Parsed entries, not resolved; `listed` has the `where` of each entry of the suite file.

    `absent` are the names of requested imported scenarios that are left out.
    """

    options: Entries
    entries: tuple[RunEntry, ...]
    suite: SuiteFile
    listed: frozenset[str] | None
    absent: frozenset[str] = frozenset()

    @property
    def models(self) -> frozenset[str]:
        """The models and deployments that the entries name."""
        named = (
            entry.args[key] for entry in self.entries for key in MODEL_KEYS if key in entry.args
        )
        return frozenset({*map(str, named), *listed(self.options.models_to_run)})

    @property
    def is_narrowed(self) -> bool:
        """Whether options leave out entries that the suite file lists."""
        options = self.options
        is_urgent = options.priority is not None
        return bool(options.models_to_run or options.groups_to_run) or is_urgent

    def without_absent(self, registry: Registry) -> tuple["LoadedEntries", tuple[SkippedRun, ...]]:
        """The entries without scenarios that were never imported, and the runs left out."""
        selection, remaining = self._selection(), []
        absent: list[SkippedRun] = []
        for entry in self.entries:
            try:
                check_imported(entry, registry)
            except AbsentDataError as error:
                absent += absent_runs(entry, str(error), registry, selection)
            else:
                remaining.append(entry)
        names = frozenset(run.scenario_name for run in absent)
        return replace(self, entries=tuple(remaining), absent=names), tuple(absent)

    def resolve(self, registry: Registry) -> tuple[ResolvedRun, ...]:
        """One resolved run per scenario and model."""
        options = self.options
        base_dir = Path(options.base_dir) if options.base_dir else Path.cwd()
        runs = expand(self.entries, registry, base_dir=base_dir, selection=self._selection())
        runs = tuple(_with(run, self._deployment_changes()) for run in runs)
        if by := columns_named(options.by):
            runs = tuple(_grouped(run, by) for run in runs)
        if options.attest_locality is None:
            return runs
        return attested(runs, Locality(options.attest_locality))

    def _selection(self) -> Selection:
        """The selection by options and the suite file."""
        options, suite = self.options, self.suite
        limit, trials = options.max_eval_instances, options.num_train_trials
        return Selection(
            models_to_run=listed(options.models_to_run) or suite.models_to_run,
            groups_to_run=listed(options.groups_to_run),
            max_eval_instances=suite.max_eval_instances if limit is None else limit,
            num_train_trials=suite.num_train_trials if trials is None else trials,
            num_trials=suite.repeats,
            jury=load_jury(Path(suite.jury_config_path)) if suite.jury_config_path else None,
            primary_endpoints=suite.endpoints,
            sampling=load_sampling(options.sampling) if options.sampling else suite.sampling,
            listed=self.listed,
            absent=self.absent,
            compat=options.compat is not None,
        )

    def _deployment_changes(self) -> dict[str, Any]:
        """The fields of every evaluated deployment that options change."""
        changes: dict[str, Any] = {}
        if self.options.num_threads:
            changes["max_concurrency"] = self.options.num_threads
        if self.options.compat:
            changes["on_failure"] = {FailureKind.TOO_LONG: OnFailure.TRUNCATE}
        return changes


def columns_named(columns: str | Sequence[str]) -> tuple[str, ...]:
    """The columns of a list, or of texts with commas between them.

    >>> columns_named("sex, age_band"), columns_named(["sex * site", "site"])
    (('sex', 'age_band'), ('sex*site', 'site'))
    """
    names = (plain_name(name) for text in listed(columns) for name in text.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def _grouped(run: ResolvedRun, by: Sequence[str]) -> ResolvedRun:
    """The run with more columns by which its results are grouped.

    Raises:
        ConfigError: the prompt shows one of them.
    """
    check_groups(by, {}, "by", key="--by")
    names = tuple(dict.fromkeys((*run.card.subgroups, *by)))
    card = replace(run.card, subgroups=names)
    check_card(card)
    return replace(run, card=card)


def _with(run: ResolvedRun, changes: Mapping[str, Any]) -> ResolvedRun:
    on_failure = {**run.deployment.on_failure, **changes.get("on_failure", {})}
    return replace(run, deployment=replace(run.deployment, **{**changes, "on_failure": on_failure}))
