"""Whether a policy is where this process could not have put it: what makes it binding."""

import os
import re
import stat
from pathlib import Path

from medhelm_spark.domain.policy_table import MANAGED, OWNED, OWNER, PolicyTable
from medhelm_spark.namespaces import in_user_namespace

ROOT = 0
MOUNTS = Path("/proc/self/mountinfo")
OPENED = Path("/proc/self/fdinfo")

READING = "SELECT"
HARMLESS = frozenset(
    {"SELECT", "BROWSE", "USE CATALOG", "USE SCHEMA", "EXECUTE", "READ VOLUME", "WRITE VOLUME"}
)
"""Privileges that change no table that is there; so do those to create something."""
CREATE = "CREATE "


def is_root() -> bool:
    """Whether this process may write every file of the machine."""
    return hasattr(os, "geteuid") and os.geteuid() == ROOT


def why_ours(path: Path) -> str | None:
    """Why this process could have written or replaced the file; None where it could not.

    The file and every folder above it must belong to root and be closed to the effective user:
    another user's file would let two people bind each other. A symbolic link anywhere in the path
    is refused, for each of its steps would have to be looked at. A folder with the sticky bit may
    be open, since nobody can move another's entries in it. No part of the path may lie in a file
    system that a user may have mounted: there root's name and modes are what that user wrote.
    """
    if not hasattr(os, "geteuid"):
        return "this system has no effective user"
    if is_root():
        return "this process runs as root"
    if in_user_namespace():
        return "this process runs in a user namespace, whose root may be its user"
    if path.resolve() != path:
        return f"{path} is reached by a symbolic link or by .."
    for part in (path, *path.parents):
        state = part.stat()
        if state.st_uid != ROOT:
            return f"{part} does not belong to root"
        is_sticky = stat.S_ISDIR(state.st_mode) and bool(state.st_mode & stat.S_ISVTX)
        if not is_sticky and os.access(part, os.W_OK, effective_ids=True):
            return f"{part} can be written by this user"
        if reason := _why_mounted(part):
            return reason
    return None


def _why_mounted(path: Path) -> str | None:
    """Why a user may have mounted the file system of the path; None where only root could.

    What mounts for users (fusermount, udisks, an entry `user` in fstab, autofs) sets nosuid, so
    that root's own mounts with it, often /tmp and /home, are refused too. A FUSE file system may
    be served by a user's program whoever mounted it.
    """
    try:
        opened = os.open(path, os.O_PATH)
        try:
            descriptor = (OPENED / str(opened)).read_text()
        finally:
            os.close(opened)
        mounts = MOUNTS.read_text().splitlines()
    except (OSError, AttributeError):  # no Linux, or a closed /proc
        return f"this system does not report how {path} is mounted"
    numbers = re.findall(r"^mnt_id:\s*(\d+)$", descriptor, re.MULTILINE)
    for mount in mounts:
        fields, _, kind = mount.partition(" - ")
        number, *_, options = fields.split()[:6]
        if [number] != numbers:
            continue
        if kind.startswith("fuse"):
            return f"{path} is in a FUSE file system"
        if "nosuid" in options.split(","):
            return f"{path} is mounted nosuid, as what users mount is"
        return None
    return f"this system does not report how {path} is mounted"


def why_ours_in_catalog(table: PolicyTable) -> str | None:
    """Why this user could have written or replaced a policy's table; None where they could not.

    Table, schema and catalog must belong to one owner: the owner of a table in another's catalog
    may be anybody, and two people could bind each other. The user must be in no way that owner or
    the metastore's, and have no right but such as are known to change nothing. A catalog that shows
    no right to read the table, which was read, does not show all rights.
    """
    if table.reason:
        return table.reason
    if table.kind != MANAGED:
        return "it is no managed table, and its files may be written past the catalog"
    owners = {
        securable: {
            right.holder
            for right in table.rights
            if (right.securable, right.name) == (securable, OWNER)
        }
        for securable in OWNED
    }
    for securable, holders in owners.items():
        if len(holders) != 1:
            return f"its catalog does not show who owns the {securable}"
    if len(set().union(*(owners[securable] for securable in OWNED[:3]))) > 1:
        return "table, schema and catalog do not belong to one owner"
    ours = [right for right in table.rights if right.is_ours]
    for right in ours:
        if right.name not in HARMLESS and not right.name.startswith(CREATE):
            return f"this user has {right.name} of the {right.securable} as {right.holder}"
    if not any(right.name == READING for right in ours):
        return "its catalog does not show by which right this user reads it"
    return None
