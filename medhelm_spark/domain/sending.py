"""BegunOrder: texts that were about to be sent, noted before the first of them was."""

from dataclasses import dataclass
from datetime import datetime

from medhelm_spark.domain.access import AccessLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunOrder:
    """Row of `begun_waves`: the texts of one level that an order was to send to one deployment.

    `write_id` names the rows of `request_results` that the order's answers get; without rows
    the order is under way, or its process ended before the commit. Where it was cut short, up to
    `in_flight` texts without a row may have been sent; of several rows for one write the fewest.
    `most_tries` is how often each may have been sent. Of orders whose text stays in the job's own
    processes there is no row.
    """

    write_id: str
    suite: str
    model_deployment: str
    access_level: AccessLevel
    locality: str
    destination: str
    texts: int
    begun_at: datetime
    in_flight: int | None = None
    most_tries: int | None = None
