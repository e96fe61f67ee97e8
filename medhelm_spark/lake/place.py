"""Where a lake is, and what its tables are called there. Knows no Spark."""

import re
from dataclasses import dataclass
from pathlib import Path

CATALOG_NAME = re.compile(r"[A-Za-z_][\w-]*\.[A-Za-z_][\w-]*")


def is_catalog(location: str) -> bool:
    """Whether a lake's location names a catalog and schema rather than a folder or URI.

    A bare `a.b` does, unless a folder of that name exists.
    """
    return bool(CATALOG_NAME.fullmatch(location)) and not Path(location).exists()


@dataclass(frozen=True, slots=True)
class Place:
    """A folder or object-store URI, or `catalog.schema`."""

    location: str

    @classmethod
    def of(cls, location: str) -> "Place":
        """The place a person named; a folder becomes absolute."""
        if is_catalog(location):
            return cls(location)
        return cls(location.rstrip("/") if "://" in location else str(Path(location).absolute()))

    @property
    def is_catalog(self) -> bool:
        """Whether tables are found in a catalog."""
        return is_catalog(self.location)

    @property
    def may_exist(self) -> bool:
        """Whether a lake may be there; of a folder of this machine it is known."""
        is_folder = not self.is_catalog and "://" not in self.location
        return not is_folder or Path(self.location).is_dir()

    def table(self, name: str) -> str:
        """`catalog.schema.table`, or the path of the table's folder."""
        return f"{self.location}{'.' if self.is_catalog else '/'}{name}"
