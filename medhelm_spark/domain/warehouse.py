"""The SQL warehouse by which a lake in a catalog is read where no Spark session is."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from medhelm_spark.errors import ConfigError

DEFAULT_TOKEN = "env:DATABRICKS_TOKEN"
_REFERENCE = re.compile(r"env:[A-Za-z_]\w*")


def check_token(token: str) -> None:
    """Refuse a token that is written out; it is not shown."""
    if not _REFERENCE.fullmatch(token):
        raise ConfigError(
            "setting sql_warehouse_token is no reference; allowed: env:NAME, the environment "
            "variable with the token. It is never written out."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Warehouse:
    """A warehouse's `address`, `https://HOST/sql/1.0/warehouses/ID`, and where its `token` is.

    `token` is `env:NAME`, the environment variable with it.

    Raises:
        ConfigError: The address is another or has a login, or the token is written out.
    """

    address: str
    token: str = DEFAULT_TOKEN

    def __post_init__(self) -> None:
        parts = urlsplit(self.address)
        is_whole = parts.scheme == "https" and bool(parts.hostname) and bool(parts.path.strip("/"))
        is_plain = parts.netloc == parts.hostname and not parts.query and not parts.fragment
        if not (is_whole and is_plain):
            raise ConfigError(
                "setting sql_warehouse is no warehouse's address; allowed: "
                "https://HOST/sql/1.0/warehouses/ID, without login and port."
            )
        check_token(self.token)

    @property
    def host(self) -> str:
        """The host's name."""
        return urlsplit(self.address).netloc

    @property
    def path(self) -> str:
        """What the connector calls the HTTP path."""
        return urlsplit(self.address).path

    @property
    def variable(self) -> str:
        """The environment variable with the token."""
        return self.token.partition(":")[2]
