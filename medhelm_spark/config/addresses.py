"""Where a deployment's arguments point: its locality, its URL, its references to secrets."""

import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from medhelm_spark.domain.deployment import Locality
from medhelm_spark.errors import ConfigError

REFERENCE = re.compile(r"env:[A-Za-z_]\w*|secret:[^/\s]+/\S+|credentials:.+#.+")
REFERENCES = "env:NAME or secret:SCOPE/KEY"
SECRET_NAMES = ("api_key", "api-key", "x-api-key", "authorization")
HTTP_ENGINE = "openai"


def locality_of(engine: str, args: Mapping[str, Any]) -> Locality:
    """The locality of a deployment that states none: external unless it provably stays here.

    Every engine but one runs inside this job. A server on the loopback address is on this machine;
    any other address, and a vendor's default one, may be anybody's.
    """
    if engine != HTTP_ENGINE:
        return Locality.LOCAL
    return Locality.LOCAL if _is_loopback(_url(args)) else Locality.EXTERNAL


def _url(args: Mapping[str, Any]) -> str:
    azure = args.get("azure")
    endpoint = azure.get("endpoint") if isinstance(azure, Mapping) else None
    return str(args.get("base_url") or endpoint or "")


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def check_url(args: Mapping[str, Any], where: str) -> None:
    """Refuses an address that is no http URL or that carries a password."""
    url = _url(args)
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
