"""The table of ratings."""

from dataclasses import dataclass
from datetime import datetime

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.lake.tables import Table


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
    """When the value was imported."""
    source: str
    """The SHA-256 of the file that it came from."""


KEY = ("run_spec_id", "instance_id", "trial_index", "rater", "criterion")

TABLES = (
    Table(
        name="ratings",
        row=Rating,
        key=(*KEY, "rated_at"),
        indexed=("run_spec_id",),
        has_text=True,
        description="What people said of answers, by criterion; the newest row of a key counts.",
    ),
)
