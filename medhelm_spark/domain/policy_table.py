"""A policy in a catalog's table, with the catalog's list of who could change it."""

import re
from dataclasses import dataclass

TABLE_NAME = re.compile(r"[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*){2}")
"""`catalog.schema.table`."""

OWNER = "OWNER"
MANAGED = "MANAGED"
OWNED = ("table", "schema", "catalog", "metastore")
"""A table and what is above it, from the inside out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """What `holder` may do with a `securable`, one of OWNED: OWNER or a privilege of the catalog's.

    `is_ours` is whether the holder is the current user or a group that the user is in.
    """

    securable: str
    holder: str
    name: str
    is_ours: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyTable:
    """The text of a policy, as YAML, and the rights at its table `name` and above it.

    `kind` is the catalog's word for a table of its kind. `reason` says why the catalog is not
    trusted or could not be read; there are no rights then.
    """

    name: str
    text: str
    kind: str = ""
    rights: tuple[Right, ...] = ()
    reason: str = ""
