"""assign-groups: a scenario's source, read again -> group_columns, instance_groups.

Ids, data version and answers stay: an instance is found by its id, which is made of the same
content. Columns that were added to a data version before stay with it, also if the card lacks them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from medhelm_spark.domain.groups import (
    MAX_GROUPS,
    NOT_STATED_LABEL,
    Band,
    GroupColumn,
)
from medhelm_spark.domain.pluralize import counted
from medhelm_spark.domain.scenario import ScenarioCard
from medhelm_spark.domain.stages import ASSIGN_GROUPS, INGEST
from medhelm_spark.errors import DataError
from medhelm_spark.lake.literals import literal
from medhelm_spark.lake.views import output_of
from medhelm_spark.scenarios import Record, groups_of
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.ingest.pins import pins_of
from medhelm_spark.stages.ingest.sources import located, read
from medhelm_spark.stages.ingest.unchanged import pinned
from medhelm_spark.stages.run_stage import run_stage
from medhelm_spark.subgroups.tables import AssignedColumn

# The level is the instance's: what its text was raised to, its groups are raised to. Of records
# that make the same instance the first one counts.
APART = """
SELECT scenario_name, data_version, instance_id, access_level, named.group_column,
       named.group_value
FROM (SELECT f.*, i.access_level,
             row_number() OVER (
               PARTITION BY f.data_version, f.instance_id ORDER BY f.source_row) AS place
      FROM {found} f
      JOIN {instances} i ON i.data_version = f.data_version AND i.instance_id = f.instance_id)
LATERAL VIEW explode(groups) named AS named
WHERE place = 1
"""

# Copies and other prompts make a data version of its own, with the same instances or some of them.
DERIVED = """
SELECT g.scenario_name, i.data_version, g.instance_id, i.access_level, g.group_column, g.group_value
FROM {derived} d
JOIN {groups} g ON g.data_version = d.base
JOIN {instances} i ON i.data_version = d.data_version AND i.instance_id = g.instance_id
WHERE i.perturbation = ''
"""

# The driver reads counts from the files; ids, which may be many, stay there.
SIZES = """
SELECT data_version, group_column, count(*) AS num_instances,
       count(DISTINCT group_value) AS num_groups,
       count(CASE WHEN group_value = '' THEN 1 END) AS num_not_stated
FROM {{instance_groups}} WHERE write_id = {write_id} GROUP BY data_version, group_column
"""

INSTANCE_COUNTS = """
SELECT scenario_name, data_version, count(*) AS num_instances FROM ({instances}) i
GROUP BY scenario_name, data_version
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedGroup:
    """A column and the group that an instance is in by it."""

    group_column: str
    group_value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundGroups:
    """The groups of an instance, and the number of the record that names them."""

    scenario_name: str
    data_version: str
    instance_id: str
    source_row: int
    groups: tuple[NamedGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSize:
    """How many groups a column has in a data version, and how many instances are in none."""

    data_version: str
    group_column: str
    num_instances: int
    num_groups: int
    num_not_stated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredInstances:
    """How many instances the lake has of a data version."""

    scenario_name: str
    data_version: str
    num_instances: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedVersion:
    """A data version with copies or other prompts, and the one that it is made of."""

    data_version: str
    base: str


@dataclass(frozen=True, slots=True)
class MakeGroups:
    """The groups of each scenario's instances, by their data version."""

    versions: Mapping[str, str]

    def __call__(
        self, records: Iterable[Record], card: ScenarioCard, file: int
    ) -> Iterator[FoundGroups]:
        for found in groups_of(records, card):
            yield FoundGroups(
                scenario_name=card.name,
                data_version=self.versions[card.name],
                instance_id=found.instance_id,
                source_row=found.row,
                groups=tuple(
                    NamedGroup(group_column=name, group_value=value)
                    for name, value in found.groups.items()
                ),
            )


def assign_groups(
    ctx: Context, cards: Mapping[str, ScenarioCard], versions: Mapping[str, str]
) -> list[str]:
    """Store the groups of these scenarios' instances where they are not stored; returns versions.

    Args:
        ctx: the lake.
        cards: by scenario name, with the requested group columns.
        versions: the data version of each.

    Raises:
        DataError: the source has changed since it was ingested, lacks a column, or has more than
            MAX_GROUPS values in one.
    """
    grouped = {name: card for name, card in cards.items() if card.subgroups and name in versions}
    if not grouped:
        return []
    ctx = ctx.within(ASSIGN_GROUPS)
    stored = assigned_columns(ctx, [versions[name] for name in grouped])
    grouped = {name: _with(card, stored.get(versions[name], ())) for name, card in grouped.items()}
    by_version = {versions[name]: name for name in grouped}
    fingerprints = {
        version: ASSIGN_GROUPS.fingerprint(version, sorted(map(repr, grouped[name].group_columns)))
        for version, name in by_version.items()
    }

    def write(ctx: Context, units: Sequence[str], write_id: str) -> None:
        _write(
            ctx, {by_version[unit]: grouped[by_version[unit]] for unit in units}, versions, write_id
        )

    return run_stage(ctx, ASSIGN_GROUPS, fingerprints, write)


def derive_groups(ctx: Context, bases: Mapping[str, str]) -> list[str]:
    """Store the groups of derived data versions where they are not stored; returns versions.

    Args:
        ctx: the lake.
        bases: by data version with copies or other prompts the one that it is made of.
    """
    ctx, columns = ctx.within(ASSIGN_GROUPS), assigned_columns(ctx, set(bases.values()))
    assigned = ctx.finished(ASSIGN_GROUPS, columns)
    fingerprints = {
        version: ASSIGN_GROUPS.fingerprint(version, assigned[base].write_id)
        for version, base in bases.items()
        if base in columns
    }

    def write(ctx: Context, units: Sequence[str], write_id: str) -> None:
        derived = [DerivedVersion(data_version=unit, base=bases[unit]) for unit in units]
        groups = ctx.lake.query(
            DERIVED,
            derived=ctx.lake.frame(derived, DerivedVersion),
            groups=ctx.current("instance_groups", ASSIGN_GROUPS, columns, "data_version"),
            instances=ctx.current("instances", INGEST, units, "data_version"),
        )
        ctx.lake.append("instance_groups", groups, write_id)
        rows = [
            replace(
                column,
                data_version=size.data_version,
                num_groups=size.num_groups,
                num_not_stated=size.num_not_stated,
            )
            for size in ctx.lake.rows(SIZES.format(write_id=literal(write_id)), ColumnSize)
            for column in columns[bases[size.data_version]]
            if column.group_column == size.group_column
        ]
        ctx.lake.append_rows("group_columns", rows, write_id)

    return run_stage(ctx, ASSIGN_GROUPS, fingerprints, write)


def assigned_columns(
    ctx: Context, data_versions: Collection[str]
) -> dict[str, tuple[AssignedColumn, ...]]:
    """The group columns of these data versions that the lake has, by data version."""
    by_version: dict[str, tuple[AssignedColumn, ...]] = {}
    if data_versions:
        sql = output_of("group_columns", ASSIGN_GROUPS, "data_version", data_versions)
        for row in ctx.lake.rows(sql, AssignedColumn):
            by_version[row.data_version] = (*by_version.get(row.data_version, ()), row)
    return by_version


def _with(card: ScenarioCard, stored: Sequence[AssignedColumn]) -> ScenarioCard:
    """The card with the columns that were added to its data before."""
    more = [row for row in stored if row.group_column not in card.subgroups]
    bands = {
        row.group_column: Band(column=row.source_column, edges=row.edges)
        for row in more
        if row.edges
    }
    names = sorted(row.group_column for row in more)
    return replace(card, subgroups=(*card.subgroups, *names), bands={**card.bands, **bands})


def _write(
    ctx: Context, cards: Mapping[str, ScenarioCard], versions: Mapping[str, str], write_id: str
) -> None:
    pins = pins_of(ctx, cards.values())
    here = {name: pinned(ctx, located(card, pins)) for name, card in cards.items()}
    with ctx.metered(f"{ASSIGN_GROUPS.name}: instances") as watch:
        found = read(ctx, here, MakeGroups(versions), FoundGroups, watch)
        instances = ctx.current(
            "instances", INGEST, [versions[name] for name in cards], "data_version"
        )
        groups = ctx.lake.query(APART, found=found, instances=instances)
        ctx.lake.append("instance_groups", groups, write_id)
    sizes = ctx.lake.rows(SIZES.format(write_id=literal(write_id)), ColumnSize)
    _refuse_moved(ctx, [versions[name] for name in cards], sizes)
    rows = [
        _column(here[name], column, size)
        for name in cards
        for column in here[name].group_columns
        for size in sizes
        if (size.data_version, size.group_column) == (versions[name], column.name)
    ]
    ctx.lake.append_rows("group_columns", rows, write_id)
    for row in rows:
        missing = f", {counted(row.num_not_stated, 'instance')} {NOT_STATED_LABEL}"
        ctx.say(
            f"{ASSIGN_GROUPS.name}: {row.scenario_name} by {row.group_column}: "
            f"{counted(row.num_groups, 'group')}{missing if row.num_not_stated else ''}"
        )


def _refuse_moved(
    ctx: Context, data_versions: Collection[str], sizes: Iterable[ColumnSize]
) -> None:
    """Refuse a source that lacks instances that the lake has of it."""
    found = {size.data_version: size.num_instances for size in sizes}
    sql = INSTANCE_COUNTS.format(
        instances=output_of("instances", INGEST, "data_version", data_versions)
    )
    for version in ctx.lake.rows(sql, StoredInstances):
        if lost := version.num_instances - found.get(version.data_version, 0):
            raise DataError(
                f"scenario {version.scenario_name!r}: its source does not give "
                f"{counted(lost, 'instance')} of the lake any more, so that their groups are not "
                "known; ingest it again first."
            )


def _column(card: ScenarioCard, column: GroupColumn, size: ColumnSize) -> AssignedColumn:
    """What is stored of a column, unless it has too many values to be groups."""
    if size.num_groups > MAX_GROUPS:
        raise DataError(
            f"scenario {card.name!r}: the group {column.name!r} has {size.num_groups:,} values; "
            f"allowed: {MAX_GROUPS} at most. Declare bands of a number, or name another column."
        )
    return AssignedColumn(
        scenario_name=card.name,
        data_version=size.data_version,
        group_column=column.name,
        source_column=column.column,
        edges=column.edges,
        num_groups=size.num_groups,
        num_not_stated=size.num_not_stated,
    )
