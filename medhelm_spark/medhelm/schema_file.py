"""HELM's schema file: which run groups a board shows, by which metrics. Checked as a whole.

Keys are HELM's (facts section 16), also those of the `schema.json` that HELM writes. What it says
of groups, names, main metrics, splits and directions decides what a board shows; descriptions are
taken and not used.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, Protocol

from medhelm_spark.config.loader import load_yaml
from medhelm_spark.domain.split import Split
from medhelm_spark.errors import ConfigError, UnknownNameError

ALL_SPLITS = "__all__"
SPLITS = (Split.TEST.value, Split.VALID.value, ALL_SPLITS)
VARIABLE = re.compile(r"\$\{(\w+)\}")
MAIN_NAME, MAIN_SPLIT = "main_name", "main_split"


class Visibility(StrEnum):
    """In which groups the runs of a group are shown."""

    ALL_GROUPS = "all_groups"
    THIS_GROUP_ONLY = "this_group_only"
    NO_GROUPS = "no_groups"


class DisplayMode(StrEnum):
    """What one table of a group with subgroups shows."""

    BY_METRIC = "by_metric"
    BY_GROUP = "by_group"


class Strategy(StrEnum):
    """How a table's columns become one number."""

    WIN_RATE = "win_rate"
    MEAN = "mean"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaEntry:
    """A metric or a perturbation, and how HELM shows it."""

    name: str
    display_name: str | None = None
    short_display_name: str | None = None
    description: str | None = None
    lower_is_better: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Matcher:
    """Which stat to show; `${...}` in it is replaced by a value of a run group's environment."""

    name: str
    split: str
    sub_split: str | None = None
    perturbation_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricGroup:
    """Metrics that are shown together."""

    name: str
    display_name: str | None = None
    short_display_name: str | None = None
    description: str | None = None
    lower_is_better: bool | None = None
    metrics: tuple[Matcher, ...] = ()
    hide_win_rates: bool | None = None
    aggregation_strategies: tuple[Strategy, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGroup:
    """Runs that are shown together: a benchmark, or a category that contains others."""

    name: str
    display_name: str | None = None
    short_display_name: str | None = None
    description: str | None = None
    short_description: str | None = None
    lower_is_better: bool | None = None
    metric_groups: tuple[str, ...] = ()
    subgroups: tuple[str, ...] = ()
    sub_splits: tuple[str, ...] | None = None
    subgroup_display_mode: DisplayMode = DisplayMode.BY_METRIC
    subgroup_metric_groups_hidden: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    category: str = "Scenarios"
    visibility: Visibility = Visibility.ALL_GROUPS
    taxonomy: Mapping[str, Any] | None = None
    todo: bool = False
    adapter_keys_shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """A schema file; `adapter` and `models` are what HELM's own output adds."""

    run_groups: tuple[RunGroup, ...]
    metrics: tuple[SchemaEntry, ...] = ()
    perturbations: tuple[SchemaEntry, ...] = ()
    metric_groups: tuple[MetricGroup, ...] = ()
    adapter: Any = None
    models: Any = None

    def groups_of(self, names: Iterable[str]) -> list[RunGroup]:
        """The run groups that contain a run of these groups."""
        requested = set(names)
        return [group for group in self.run_groups if group.name in requested]

    def group_of(self, names: Iterable[str]) -> RunGroup | None:
        """The benchmark among a run's groups: the first without subgroups, else the first."""
        groups = self.groups_of(names)
        return next((group for group in groups if not group.subgroups), next(iter(groups), None))

    def category_of(self, group: RunGroup) -> str:
        """The displayed name of the group that contains this one; else the one it names."""
        for other in self.run_groups:
            if group.name in other.subgroups:
                return other.display_name or other.name
        return group.category

    def direction_of(self, metric: str) -> bool | None:
        """Whether lower is better; None where the file does not say."""
        entries = (entry for entry in self.metrics if entry.name == metric)
        return next((entry.lower_is_better for entry in entries), None)

    def why_hidden(self, names: Iterable[str]) -> str:
        """Why a run of these groups is not shown; empty where it is."""
        groups = self.groups_of(names)
        if not groups:
            return "in no run group of the file"
        hiding = [g.name for g in groups if g.visibility == Visibility.NO_GROUPS]
        return f"hidden by run group {hiding[0]}" if hiding else ""

    def shows(self, names: Iterable[str]) -> bool:
        """Whether a run of these groups is shown: in some run group, and hidden by none."""
        return not self.why_hidden(names)


def load_schema(path: Path) -> Schema:
    """Reads a schema file and checks all that it names.

    Raises:
        ConfigError: If it is absent, broken, names something twice or something it does not
            define, or its run groups contain each other in a circle.
    """
    schema, where = load_yaml(path, Schema), f"{path}: "
    for key in ("metrics", "perturbations", "metric_groups", "run_groups"):
        _check_names(getattr(schema, key), f"{where}{key}")
    metric_groups = {group.name: group for group in schema.metric_groups}
    for run_group in schema.run_groups:
        _check_run_group(run_group, schema, f"{where}run_groups[{run_group.name}]")
    for group, matcher in _literal(schema.metric_groups):
        _check_matcher(matcher, {}, schema, f"{where}metric_groups[{group.name}]")
    for run_group in schema.run_groups:
        group_where = f"{where}run_groups[{run_group.name}]"
        for name in run_group.metric_groups:
            for matcher in metric_groups[name].metrics:
                _check_matcher(matcher, run_group.environment, schema, group_where)
    _check_circles(schema.run_groups, where)
    return schema


class _Named(Protocol):
    @property
    def name(self) -> str: ...


def _names(entries: Iterable[_Named]) -> list[str]:
    return [entry.name for entry in entries]


def _check_names(entries: Collection[_Named], where: str) -> None:
    names = _names(entries)
    for index, name in enumerate(names):
        if not name.strip():
            raise ConfigError(f"{where}[{index}].name is {name!r}; allowed: a name.")
        if name in names[:index]:
            raise ConfigError(f"{where}[{index}].name is {name!r}, which is taken; give it once.")


def _check_run_group(group: RunGroup, schema: Schema, where: str) -> None:
    metric_groups = _names(schema.metric_groups)
    _check_known("run group", group.subgroups, _names(schema.run_groups), f"{where}.subgroups")
    _check_known("metric group", group.metric_groups, metric_groups, f"{where}.metric_groups")
    hidden, key = group.subgroup_metric_groups_hidden, "subgroup_metric_groups_hidden"
    _check_known("metric group", hidden, metric_groups, f"{where}.{key}")


def _check_known(kind: str, names: Iterable[str], known: Collection[str], where: str) -> None:
    for name in names:
        if name not in known:
            raise UnknownNameError(kind, name, known, where=where)


def _literal(groups: Iterable[MetricGroup]) -> Iterator[tuple[MetricGroup, Matcher]]:
    """The matchers that mean the same in every run group."""
    for group in groups:
        for matcher in group.metrics:
            if not VARIABLE.search(f"{matcher.name}{matcher.split}{matcher.perturbation_name}"):
                yield group, matcher


def _check_matcher(
    matcher: Matcher, environment: Mapping[str, str], schema: Schema, where: str
) -> None:
    name = _filled(matcher.name, environment, where)
    _check_known("metric", [name], _names(schema.metrics), where)
    split = _filled(matcher.split, environment, where)
    _check_known("split", [split], SPLITS, f"{where}: metric {name!r}")
    if matcher.perturbation_name:
        perturbation = _filled(matcher.perturbation_name, environment, where)
        _check_known("perturbation", [perturbation], _names(schema.perturbations), where)


def _filled(text: str, environment: Mapping[str, str], where: str) -> str:
    """The text with every `${variable}` replaced."""
    for name in VARIABLE.findall(text):
        if name not in environment:
            raise ConfigError(
                f"{where}.environment has no {name!r}, which its metric groups use; "
                f"it has {', '.join(environment) or 'nothing'}."
            )
    return VARIABLE.sub(lambda match: environment[match[1]], text)


def _check_circles(groups: Iterable[RunGroup], where: str) -> None:
    try:
        TopologicalSorter({group.name: group.subgroups for group in groups}).prepare()
    except CycleError as error:
        circle = " in ".join(error.args[1])
        raise ConfigError(f"{where}run_groups contain each other in a circle: {circle}.") from None
