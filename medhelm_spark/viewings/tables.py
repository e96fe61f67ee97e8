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


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewing:
    """Row of `viewings`: somebody opened gated or private text; it holds no text and no row's id.

    One of the dashboard is an instance that was opened, one of `answers` all that it was given of a
    benchmark and model.
    """

    viewed_at: datetime
    viewed_by: str
    """The operating system's user of the command or of the dashboard's server."""
    place: ViewingPlace
    access_level: AccessLevel
    """The strictest of the rows."""
    scenario_name: str
    model_deployment: str
    run_spec_ids: tuple[str, ...]
    release: str
    """Empty where working results were shown."""
    num_rows: int


TABLES = (
    Table(
        name="viewings",
        row=Viewing,
        key=("viewed_at", "viewed_by", "scenario_name", "model_deployment"),
        indexed=("scenario_name", "viewed_at"),
        description="Who opened gated or private text in the dashboard or by `answers`, when, of "
        "which benchmark, and how many rows; never text.",
    ),
)
