"""The tables of ratings and of the invitations to rate."""

from dataclasses import dataclass, replace
from datetime import datetime

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.lake.tables import Purging, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """Row of `ratings`: one person's value of one criterion for one answer.

    Of several rows with one key but `rated_at` the newest counts.
    """

    run_spec_id: str
    instance_id: str
    trial_index: int
    rater: str
    """A pseudonym: `rater-` and 12 hexadecimal digits of an HMAC of the name."""
    criterion: str
    value: float
    comment: str
    """What the rater wrote, empty for nothing; it has the level of the instance."""
    access_level: AccessLevel
    rated_at: datetime
    """When the value was imported, or given in the dashboard."""
    source: str
    """The SHA-256 of the file that it came from, or `queue` and the invitation_id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenRating(Rating):
    write_id: str


def _purged(row: _WrittenRating, note: str) -> _WrittenRating:
    """The row without what the rater wrote; the value stays."""
    return replace(row, comment=note if row.comment else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedCriterion:
    """A criterion as a rater reads it; `question` and `anchors` are empty where a rubric has none.

    An anchor is a value with its meaning: `5: brief and plain`. A value of a criterion with classes
    is the index of the class in the list, from 0.
    """

    name: str
    minimum: float
    maximum: float
    whole: bool
    question: str = ""
    anchors: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    lower_is_better: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """Row of `rating_invitations`: one rater's link to the answers of some instances.

    An invitation that was revoked has a second row, which says who revoked it and when.
    """

    invitation_id: str
    token_hash: str
    """The SHA-256 of the link's token; the token itself is stored nowhere."""
    rater: str
    """A pseudonym, as in `ratings`."""
    suite: str
    scenario_name: str
    criteria: tuple[RatedCriterion, ...]
    instance_ids: tuple[str, ...]
    """What the rater is given to rate, in this order."""
    highest_level: AccessLevel
    """The strictest level of the text that the link opens."""
    ends_at: datetime
    """From this moment on the link opens nothing."""
    invited_by: str
    """The operating system's user."""
    invited_at: datetime
    revoked_by: str | None = None
    """The operating system's user."""
    revoked_at: datetime | None = None


KEY = ("run_spec_id", "instance_id", "trial_index", "rater", "criterion")

TABLES = (
    Table(
        name="ratings",
        row=Rating,
        key=(*KEY, "rated_at"),
        indexed=("run_spec_id",),
        has_text=True,
        purging=Purging(by="run_spec_id", row=_WrittenRating, purged=_purged),
        description="What people said of answers, by criterion; the newest row of a key counts.",
    ),
    Table(
        name="rating_invitations",
        row=Invitation,
        key=("invitation_id", "revoked_at"),
        indexed=("token_hash",),
        description="Who was invited to rate which answers by a personal link, until when.",
    ),
)
