"""Whether this process is in a user namespace, where its user may be called by any number."""

from pathlib import Path

UID_MAP = Path("/proc/self/uid_map")
EVERY_USER = ["0", "0", "4294967295"]
"""The map of a process outside every user namespace."""

MARK = " in a user namespace"
"""How a name ends that nothing but the process itself vouches for."""


def in_user_namespace() -> bool:
    """Whether it is in one, as in many containers; any user may make one and be any user in it."""
    return UID_MAP.exists() and UID_MAP.read_text().split() != EVERY_USER
