"""A recorded lowering of a level: who, when, why, and whether a second person has approved it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from medhelm_spark.domain.access import AccessLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """A second person's word, in a site's binding policy, that a data version's level is lower."""

    scenario_name: str
    data_version: str
    to_level: AccessLevel
    approved_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelChange:
    """Row of `level_changes`: a level of a data version lowered on record.

    `changed_by` is the operating system's user. `reviewed` and `approved_by` are the review by the
    site's binding policy when the row was written; `review` computes it again.
    """

    scenario_name: str
    data_version: str
    from_level: AccessLevel
    to_level: AccessLevel
    reason: str
    changed_by: str
    changed_at: datetime
    approved_by: str | None = None
    reviewed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowering:
    """What the changes of a data version come to: the level it has now.

    `is_unreviewed`: somebody lowered it further without a second person; its text stays on local.
    """

    access_level: AccessLevel
    is_unreviewed: bool = False


def review(change: LevelChange, approvals: Iterable[Approval]) -> LevelChange:
    """The change as these approvals make it: reviewed only where somebody else approves just it."""
    for approval in approvals:
        same = (approval.scenario_name, approval.data_version, approval.to_level) == (
            change.scenario_name,
            change.data_version,
            change.to_level,
        )
        other = approval.approved_by.strip()
        if same and other and other.casefold() != change.changed_by.strip().casefold():
            return replace(change, approved_by=other, reviewed=True)
    return replace(change, approved_by=None, reviewed=False)


def lowest_approved(
    changes: Iterable[LevelChange], approvals: Sequence[Approval]
) -> dict[str, AccessLevel]:
    """By scenario name, the lowest level that an approved change gave any of its data versions."""
    lowest: dict[str, AccessLevel] = {}
    for change in changes:
        if review(change, approvals).reviewed:
            levels = (change.to_level, lowest.get(change.scenario_name, change.to_level))
            lowest[change.scenario_name] = min(levels, key=lambda level: level.strictness)
    return lowest


def lowering_of(
    level: AccessLevel,
    data_version: str,
    changes: Sequence[LevelChange],
    approvals: Sequence[Approval] = (),
) -> Lowering:
    """The level of a data version whose rows have `level`, by its recorded changes."""
    own = [
        review(change, approvals)
        for change in changes
        if change.data_version == data_version and change.to_level.strictness < level.strictness
    ]
    reviewed = [change.to_level for change in own if change.reviewed]
    lowest = min([level, *reviewed], key=lambda each: each.strictness)
    unreviewed = any(
        change.to_level.strictness < lowest.strictness for change in own if not change.reviewed
    )
    return Lowering(access_level=lowest, is_unreviewed=unreviewed)
