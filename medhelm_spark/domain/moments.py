"""The present moment, as records of the lake have it."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

TICK = timedelta(microseconds=1)


def now(after: Iterable[datetime] = ()) -> datetime:
    """The present moment, in UTC; later than all of `after`, whatever this machine's clock shows.

    What is recorded last is current. A record of a machine whose clock is behind would else count
    as older than what it follows.
    """
    return max([datetime.now(UTC), *(each + TICK for each in after)])
