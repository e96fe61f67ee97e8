"""The tables of watches: looks at releases, and what each of them found."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.groups import unnamed
from medhelm_spark.lake.tables import Purging, Table


class WatchedPart(StrEnum):
    """What a line of a look is about."""

    SCORES = "scores"
    ANSWERS = "answers"
    GROUP = "group"
    FINGERPRINT = "fingerprint"


class DriftVerdict(StrEnum):
    """What a look says of a line. SHOWN: there is no margin, so that the line decides nothing."""

    MOVED = "moved"
    OPEN = "cannot say yet"
    SAME = "not moved"
    SHOWN = "shown"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchLook:
    """Row of `watch_looks`: a look at a release was begun; it is finished once it has results."""

    release: str
    manifest_hash: str
    """Of the release; looks at another manifest are counted from 1 again."""
    look: int
    begun_at: datetime
    begun_by: str
    """The operating system's user, which nobody has checked."""
    sample: int | None
    """The most instances of each run that are asked; None: all."""
    run_spec_ids: tuple[str, ...]
    """The release's runs that are asked again."""
    looked: tuple[str, ...]
    """The runs of the look, in the same order; they are in the suite `watch/RELEASE`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchResult:
    """Row of `watch_results`: one line of a look; it has no text of instances or answers.

    A group that is hidden has no row.
    """

    release: str
    manifest_hash: str
    look: int
    looked_at: datetime
    part: WatchedPart
    run_spec_id: str
    """The release's run."""
    scenario_name: str
    model_deployment: str
    name: str
    """The metric; of a fingerprint what it is of."""
    group_column: str
    group_value: str
    access_level: AccessLevel
    verdict: DriftVerdict
    reason: str = ""
    """Why nothing can be said, or what a fingerprint was and is."""
    n: int | None = None
    """The instances that have a value in the release and in the look."""
    num_units: int | None = None
    """The clusters of these instances; instances where they have none."""
    num_missing: int | None = None
    """The instances with a value in the release that the look gave none."""
    before: float | None = None
    """The release's mean over these instances."""
    now: float | None = None
    """The look's mean; of answers the share that is another one than in the release."""
    difference: float | None = None
    """The look less the release; of answers the share again."""
    low: float | None = None
    """The 95 % interval of this look by itself."""
    high: float | None = None
    valid_low: float | None = None
    """The interval that holds together with those of all other lines and looks with 95 %."""
    valid_high: float | None = None
    margin: float | None = None
    share: float | None = None
    """The share of the error rate that each side of the line has in this look."""
    log_e_below: float | None = None
    """The logarithm of the e-value that the difference is below the margin's negative."""
    log_e_above: float | None = None
    """The same that it is above the margin."""
    p_value: float | None = None
    """Over all looks so far and all lines, that no look was beyond the margin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenResult(WatchResult):
    write_id: str


def _purged(row: _WrittenResult, note: str) -> _WrittenResult:
    """The row without the value that the data states; its numbers stay."""
    return replace(row, group_value=unnamed(row.group_column, row.group_value, note))


TABLES = (
    Table(
        name="watch_looks",
        row=WatchLook,
        key=("release", "manifest_hash", "look"),
        indexed=("release",),
        description="The looks at releases that were begun, and the runs that each asks again.",
    ),
    Table(
        name="watch_results",
        row=WatchResult,
        key=(
            *("release", "manifest_hash", "look", "part", "run_spec_id", "name"),
            *("group_column", "group_value"),
        ),
        indexed=("release",),
        purging=Purging(by="run_spec_id", row=_WrittenResult, purged=_purged),
        description="What each look found: scores, answers, groups and fingerprints against the "
        "release's; groups of few patients are not in it.",
    ),
)
