"""Where a deployment's arguments point: its URL, its references to secrets."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from medhelm_spark.errors import ConfigError

REFERENCE = re.compile(r"env:[A-Za-z_]\w*|secret:[^/\s]+/\S+|credentials:.+#.+")
REFERENCES = "env:NAME or secret:SCOPE/KEY"
SECRET_NAMES = ("api_key", "api-key", "x-api-key", "authorization")


def check_url(url: str, where: str) -> None:
    """Refuses an address that is no http URL or that carries a password; none is empty."""
    if not url:
        return
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise ConfigError(f"{where}: its URL holds a user or password; give api_key: {REFERENCES}.")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"{where}: its URL is {url!r}; allowed: http(s)://HOST[:PORT]/PATH.")


def check_secrets(args: Mapping[str, Any], where: str) -> None:
    """Refuses a key written out in a file; the key itself is never shown."""
    headers = args.get("headers")
    places = {**args, **(headers if isinstance(headers, Mapping) else {})}
    for name, value in places.items():
        if name.lower() in SECRET_NAMES and not REFERENCE.fullmatch(str(value)):
            raise ConfigError(
                f"{where}: {name} is written out; allowed: a reference, {REFERENCES}."
            )
