"""The driver's wall around every task of Spark (`features`)."""

from typing import Any

from medhelm_spark.air_gap.guard import ListedAddress, go_offline, is_offline, listed, own_names

DRIVER = "this job's driver"


def carried() -> Any:
    """The driver's list and its own addresses, where it is offline; tasks ask it for work."""
    if not is_offline():
        return None
    own = sorted(name for name in own_names() if name)
    return (*listed(), *(ListedAddress(name, None, DRIVER) for name in own))


def resume(held: tuple[ListedAddress, ...]) -> None:
    """Go offline in a worker, before it reads rows; a worker that is stays so."""
    if not is_offline():
        go_offline(held)
