"""Where a lake is, and what its tables are called there. Needs no Spark."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from medhelm_spark.domain.cluster import Manager, manager_of
from medhelm_spark.domain.data_uri import SCHEME, is_uri, normal_location, quoted_name
from medhelm_spark.domain.policy_table import TABLE_NAME
from medhelm_spark.errors import ConfigError

CATALOG_NAME = re.compile(r"[A-Za-z_][\w-]*\.[A-Za-z_][\w-]*")
ALLOWED = "a folder, a URI such as s3://BUCKET/FOLDER, or CATALOG.SCHEMA"

NOT_LOCAL_DISK = ("DATABRICKS_RUNTIME_VERSION", "HADOOP_CONF_DIR", "YARN_CONF_DIR")
"""Where one of these is set, a bare path may be a mount without hard links, or a cluster's."""


def is_catalog(location: str) -> bool:
    """Whether a lake's location names a catalog and schema rather than a folder or URI.

    A bare `a.b` does, unless a folder of that name exists.
    """
    return bool(CATALOG_NAME.fullmatch(location)) and not Path(location).exists()


@dataclass(frozen=True, slots=True)
class Location:
    """The location of a lake: a folder, an object store's URI, or `catalog.schema`."""

    name: str

    @classmethod
    def of(cls, location: str) -> "Location":
        """The location as a person named it; a folder becomes absolute.

        `file:/PATH` and `dbfs:/Volumes/PATH` are folders; else what a scheme begins is a URI.

        Raises:
            ConfigError: it is empty, a scheme without a path, or three names.
        """
        if not location.strip():
            raise ConfigError(f"the lake is {location!r}; allowed: {ALLOWED}.")
        if is_catalog(location):
            return cls(location)
        scheme = SCHEME.match(location)
        if scheme is None and TABLE_NAME.fullmatch(location) and not Path(location).exists():
            raise ConfigError(
                f"the lake is {location!r}, which has three names: leave the table's out; "
                f"allowed: {ALLOWED}."
            )
        if scheme and not location[scheme.end() :].strip("/"):
            raise ConfigError(f"the lake is {location!r}, without a path; allowed: {ALLOWED}.")
        path = normal_location(location)
        if is_uri(path):
            return cls(path.rstrip("/"))
        if scheme:
            return cls(str(Path(path).absolute()))
        return cls(str(Path(location).expanduser().absolute()))

    def __str__(self) -> str:
        return self.name

    @property
    def is_catalog(self) -> bool:
        """Whether tables are found in a catalog."""
        return is_catalog(self.name)

    @property
    def is_folder(self) -> bool:
        """Whether it is a path, not a catalog or URI."""
        return not self.is_catalog and SCHEME.match(self.name) is None

    @property
    def may_exist(self) -> bool:
        """Whether a lake may be there; only a folder of this machine is looked up."""
        return not self.is_folder or Path(self.name).is_dir()

    def is_local(self, spark_master: str, environ: Mapping[str, str] = os.environ) -> bool:
        """Whether this process sees the lake's files as Spark does: local master, local folder."""
        is_cluster = any(name in environ for name in NOT_LOCAL_DISK)
        is_here = manager_of(spark_master) is Manager.LOCAL
        return is_here and self.is_folder and not is_cluster

    def quoted(self, name: str) -> str:
        """A table in SQL: of a catalog by its name, of a folder as `delta.PATH`.

        >>> Location.of("prod-eu.medhelm").quoted("runs")
        '`prod-eu`.medhelm.runs'
        """
        target = self.table(name)
        return target if self.is_catalog else f"delta.`{target}`"

    def table(self, name: str) -> str:
        """`catalog.schema.table` as SQL takes it, or the path of the table's folder."""
        return quoted_name(f"{self.name}.{name}") if self.is_catalog else f"{self.name}/{name}"
