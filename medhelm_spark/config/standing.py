"""Whether a file stands where this process could not have put it: what makes a policy binding."""

import os
import stat
from pathlib import Path

ROOT = 0
UID_MAP = Path("/proc/self/uid_map")
EVERY_USER = ["0", "0", "4294967295"]
"""The map of a process outside every user namespace."""


def why_ours(path: Path) -> str | None:
    """Why this process could have written or replaced the file; None where it could not.

    The file and every folder above it must belong to root and be closed to the effective user:
    another user's file would let two people bind each other. A symbolic link anywhere in the path
    is refused, for each of its steps would have to be looked at. A folder with the sticky bit (such
    as /tmp) may be open, since nobody can move another's entries in it.
    """
    if not hasattr(os, "geteuid"):
        return "this system has no effective user"
    if os.geteuid() == ROOT:
        return "this process runs as root"
    if UID_MAP.exists() and UID_MAP.read_text().split() != EVERY_USER:
        return "this process runs in a user namespace, whose root may be its user"
    if path.resolve() != path:
        return f"{path} is reached by a symbolic link or by .."
    for place in (path, *path.parents):
        state = place.stat()
        if state.st_uid != ROOT:
            return f"{place} does not belong to root"
        is_sticky = stat.S_ISDIR(state.st_mode) and bool(state.st_mode & stat.S_ISVTX)
        if not is_sticky and os.access(place, os.W_OK, effective_ids=True):
            return f"{place} can be written by this user"
    return None
