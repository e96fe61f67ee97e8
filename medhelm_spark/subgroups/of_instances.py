"""The groups of single instances, for a viewer who may see them: they have the row's level."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from medhelm_spark.board import Viewer
from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.groups import PERTURBATION_COLUMN
from medhelm_spark.domain.stages import ASSIGN_GROUPS, SUMMARIZE_GROUPS
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.reader import Reader
from medhelm_spark.lake.views import output_of
from medhelm_spark.subgroups.model_groups import group_label, group_order

_VALUES = f"""
SELECT DISTINCT group_column, group_value FROM ({{stats}}) s
WHERE group_column NOT LIKE '%*%' AND group_column NOT LIKE '{PERTURBATION_COLUMN}%'
"""
_OF_INSTANCES = """
SELECT instance_id, group_column, group_value, access_level FROM ({groups}) g
WHERE instance_id IN ({ids})
"""
_IN_GROUP = """
SELECT instance_id, access_level FROM ({groups}) g
WHERE group_column = {column} AND group_value = {value}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneGroup:
    """A group of one column."""

    column: str
    value: str

    @property
    def label(self) -> str:
        """Its words in a list of groups.

        >>> OneGroup(column="sex", value="").label
        'sex: (not stated)'
        """
        return f"{self.column}: {group_label(self.value)}"


def groups_of_run(reader: Reader, run_spec_id: str) -> tuple[OneGroup, ...]:
    """The groups for which a run has results, without crossed columns and twins."""
    stats = output_of("stats_by_group", SUMMARIZE_GROUPS, units=[run_spec_id])
    rows = reader.query(_VALUES.format(stats=stats)).to_pylist()
    rows.sort(key=lambda row: (row["group_column"], group_order(row["group_value"])))
    return tuple(OneGroup(column=row["group_column"], value=row["group_value"]) for row in rows)


def groups_of_instances(
    reader: Reader, data_version: str, ids: Collection[str], *, viewer: Viewer
) -> dict[str, Mapping[str, str]]:
    """By instance, the group of each column; only instances that the viewer may see."""
    groups = output_of("instance_groups", ASSIGN_GROUPS, "data_version", [data_version])
    sql = _OF_INSTANCES.format(groups=groups, ids=literals(ids))
    by_instance: dict[str, dict[str, str]] = {}
    for row in reader.query(sql).to_pylist() if ids else ():
        if viewer.may_see(AccessLevel(row["access_level"])):
            own = by_instance.setdefault(row["instance_id"], {})
            own[row["group_column"]] = group_label(row["group_value"])
    return dict(by_instance)


def instances_in(
    reader: Reader, data_version: str, group: OneGroup, *, viewer: Viewer
) -> list[str]:
    """The ids of the instances in a group; only instances that the viewer may see."""
    groups = output_of("instance_groups", ASSIGN_GROUPS, "data_version", [data_version])
    column, value = literals([group.column]), literals([group.value])
    rows = reader.query(_IN_GROUP.format(groups=groups, column=column, value=value)).to_pylist()
    return [row["instance_id"] for row in rows if viewer.may_see(AccessLevel(row["access_level"]))]
