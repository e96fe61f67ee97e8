"""The tables of groups: which group an instance is in, and what models score by group."""

from dataclasses import dataclass, fields, replace

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.groups import unnamed
from medhelm_spark.domain.stats import IntervalMethod, Mean
from medhelm_spark.lake.tables import Purging, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignedColumn:
    """Row of `group_columns`: a column of the data that a data version's instances are grouped by.

    It is written with the groups of its instances, under the same write.
    """

    scenario_name: str

    data_version: str

    group_column: str
    """The name in results."""

    source_column: str
    """The column of the data."""

    edges: tuple[float, ...]
    """The edges of its bands; none where the values are the groups."""

    num_groups: int
    """How many groups there are, NOT_STATED among them where some row has no value."""

    num_not_stated: int
    """The instances without a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceGroup:
    """Row of `instance_groups`: the group of one instance by one column."""

    scenario_name: str
    data_version: str
    instance_id: str
    group_column: str
    group_value: str
    access_level: AccessLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenGroup(InstanceGroup):
    write_id: str


def _purged(row: _WrittenGroup, note: str) -> _WrittenGroup:
    """The row without the value that the data states."""
    return replace(row, group_value=unnamed(row.group_column, row.group_value, note))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStat:
    """Row of `stats_by_group`: one stat of one RunSpec over one group, on its main split.

    A hidden row has names only: `count` and all that follows it are None.
    """

    run_spec_id: str

    name: str

    split: str

    group_column: str
    """A column of the data, or `perturbation:` and the name of one that changes who the patient
    is."""

    group_value: str
    """Empty for instances that do not say; of a perturbation `original` or `perturbed`."""

    access_level: AccessLevel

    minimum: int
    """The patients that a row of this level needs to be shown; 1 of public rows."""

    is_hidden: bool
    """Whether too few patients are in the group, or another hidden group could be computed."""

    count: int | None = None
    """The answers that have a value."""

    num_unscored: int | None = None
    """The answers without one."""

    num_failures: int | None = None
    """The requests without an answer, of those without a value."""

    num_unread: int | None = None
    """The answers in which the extraction found nothing."""

    num_refused: int | None = None
    """The answers that the engine reports as refusals; None where the run does not score
    `general_information`."""

    num_patients: int | None = None
    """The distinct patients by the card's cluster column; instances where it names none."""

    num_clusters: int | None = None
    """As in `stats`."""

    num_effective_clusters: float | None = None
    """As in `stats`."""

    denominator: int | None = None
    """As in `stats`."""

    mean: float | None = None

    ci_low: float | None = None

    ci_high: float | None = None

    ci_method: IntervalMethod | None = None

    rest_mean: float | None = None
    """The mean over all other groups of the column, or what a stat of whole runs is over them."""

    difference: float | None = None
    """The mean less that of the rest; of perturbed copies less their originals, pair by pair."""

    difference_low: float | None = None

    difference_high: float | None = None

    p_value: float | None = None
    """Of the difference, two-sided."""

    adjusted_p: float | None = None
    """By Benjamini and Hochberg, for all groups of all columns of this stat and RunSpec."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenGroupStat(GroupStat):
    write_id: str


def _purged_stat(row: _WrittenGroupStat, note: str) -> _WrittenGroupStat:
    """The row without the value that the data states; its numbers stay."""
    return replace(row, group_value=unnamed(row.group_column, row.group_value, note))


_OF_MEAN = {field.name for field in fields(Mean)} & {field.name for field in fields(GroupStat)}


def with_mean(row: GroupStat, mean: Mean) -> GroupStat:
    """The row with the numbers of a mean that it has fields for."""
    return replace(row, **{name: getattr(mean, name) for name in _OF_MEAN})


TABLES = (
    Table(
        name="group_columns",
        row=AssignedColumn,
        key=("data_version", "group_column"),
        indexed=("scenario_name", "data_version"),
        description="The columns by which the instances of a data version are grouped.",
    ),
    Table(
        name="instance_groups",
        row=InstanceGroup,
        key=("data_version", "instance_id", "group_column"),
        indexed=("scenario_name", "data_version", "group_column"),
        has_text=True,
        purging=Purging(by="data_version", row=_WrittenGroup, purged=_purged),
        description="The group of each instance, by each column; no prompt shows it.",
    ),
    Table(
        name="stats_by_group",
        row=GroupStat,
        key=("run_spec_id", "name", "group_column", "group_value"),
        indexed=("run_spec_id", "name"),
        purging=Purging(by="run_spec_id", row=_WrittenGroupStat, purged=_purged_stat),
        description="Means by group with counts, intervals and the difference to the rest; small "
        "cells of gated and private rows are hidden.",
    ),
)
