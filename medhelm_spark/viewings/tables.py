"""The table of viewings."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.lake.tables import Table


class ViewingPlace(StrEnum):
    """Where text was opened."""

    ANSWERS = "answers"
    DASHBOARD = "dashboard"
    SEARCH = "search"
    RATING = "rating"
    DOWNLOAD = "download"


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewing:
    """Row of `viewings`: somebody opened gated or private text; it has no text and no row's id.

    A viewing of the dashboard is the instances that a page opened, one of `answers` the answers of
    a benchmark and model that it returned, one of a search the answers that were searched, one of a
    rating the answers to an instance, one of a download the runs whose numbers are in the file.
    """

    viewed_at: datetime
    viewed_by: str
    """Who signed in to the dashboard; on a rating page without that the rater's pseudonym; else the
    operating system's user of the command or of the dashboard's server."""
    place: ViewingPlace
    access_level: AccessLevel
    """The strictest of the rows."""
    scenario_name: str
    """Empty of a download, which may be of several."""
    model_deployment: str
    """Empty of a rating and of a download, which may be of several."""
    run_spec_ids: tuple[str, ...]
    release: str
    """Empty where working results were shown."""
    num_rows: int
    identified_by: str | None = None
    """The issuer of OpenID Connect who says who that is, or `link` of a rater; None: nobody."""
    suite: str | None = None
    """The suite that the dashboard showed; None of a release, and in older rows."""
    file_name: str | None = None
    """Of a download."""


TABLES = (
    Table(
        name="viewings",
        row=Viewing,
        key=("viewed_at", "viewed_by", "scenario_name", "model_deployment"),
        indexed=("scenario_name", "viewed_at"),
        description="Who opened gated or private text in the dashboard or by `answers`, or "
        "downloaded a file there, when, of which benchmark, and how many rows; never text.",
    ),
)
