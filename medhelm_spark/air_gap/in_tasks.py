"""The driver's guard on connections, in every task of Spark (`features`)."""

from typing import Any

from medhelm_spark.air_gap.guard import ListedAddress, go_offline, is_offline, listed, own_names

DRIVER = "this job's driver"


def carried() -> Any:
    """The driver's list and its own addresses, where it is offline; tasks connect to it."""
    if not is_offline():
        return None
    own = sorted(name for name in own_names() if name)
    return (*listed(), *(ListedAddress(name, None, DRIVER) for name in own))


def resume(addresses: tuple[ListedAddress, ...]) -> None:
    """Go offline in a worker, before it reads rows; a worker that is stays so."""
    if not is_offline():
        go_offline(addresses)
