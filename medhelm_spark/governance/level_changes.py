"""Every lowering of a level that a lake has on record, reviewed by what is approved now."""

from collections.abc import Collection, Sequence

from medhelm_spark.domain.level_change import Approval, LevelChange, lowering_of, review
from medhelm_spark.domain.scenario import ScenarioVersion
from medhelm_spark.lake.reader import Reader

RECORDED = "SELECT * FROM {level_changes}"


def level_changes_of(reader: Reader, approvals: Sequence[Approval]) -> list[LevelChange]:
    """The lowerings in the order in which they were recorded.

    `reviewed` and `approved_by` follow these approvals, not the row as it was written.
    """
    rows = reader.rows(RECORDED, LevelChange)
    return [review(row, approvals) for row in sorted(rows, key=lambda row: row.changed_at)]


def unreviewed_versions(
    reader: Reader, versions: Collection[str], approvals: Sequence[Approval]
) -> set[str]:
    """Of these data versions, those whose level somebody lowered without a second person."""
    changes = level_changes_of(reader, approvals)
    return {
        row.data_version
        for row in reader.rows("SELECT * FROM {scenarios}", ScenarioVersion)
        if row.data_version in versions
        and lowering_of(row.access_level, row.data_version, changes, approvals).is_unreviewed
    }
