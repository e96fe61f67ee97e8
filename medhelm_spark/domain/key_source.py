"""Where a deployment's key comes from: a reference, a command that prints it, or OAuth."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any
from urllib.parse import urlsplit

from medhelm_spark.domain.network import address_of

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
DURATION = re.compile(r"(\d{1,6})([smh])")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCommand:
    """A command that prints a key; `lifetime` is the seconds for which the key may be used.

    `environment` names the variables that the command gets beside the system's.
    """

    command: tuple[str, ...]
    lifetime: float
    environment: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        """Its first word, the only one in messages: the others may contain a secret."""
        return self.command[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """A client of OAuth 2.0 (RFC 6749, section 4.4); `client_secret` is a reference."""

    token_url: str
    client_id: str
    client_secret: str
    scope: str = ""


MOST_RENEWALS = 4
"""Keys that may end while one request waits: each took requests of others before."""

KeySource = str | KeyCommand | OAuthClient


def key_source(api_key: Any) -> KeySource:
    """The source of a key that the argument `api_key` of a deployment names.

    >>> key_source({"command": ["vault", "read"], "lifetime": "50m"}).lifetime
    3000.0

    Raises:
        ValueError: it is neither a text nor one of the two mappings; no value is shown.
    """
    if isinstance(api_key, str):
        return api_key
    if not isinstance(api_key, Mapping):
        raise ValueError("args.api_key is neither a reference nor a mapping.")
    if "command" not in api_key:
        return _client(api_key)
    entries = _fields_of(KeyCommand, api_key)
    return KeyCommand(
        command=_words(entries["command"], "command"),
        lifetime=_seconds(entries["lifetime"]),
        environment=_words(entries.get("environment", ()), "environment", least=0),
    )


def _client(api_key: Mapping[str, Any]) -> OAuthClient:
    entries = _fields_of(OAuthClient, api_key)
    for name, value in entries.items():
        if not isinstance(value, str):
            raise ValueError(f"args.api_key.{name} is no text.")
    made = OAuthClient(**entries)
    parts = urlsplit(made.token_url)
    host = parts.hostname or ""
    address = address_of("127.0.0.1" if host == "localhost" else host)
    if parts.scheme != "https" and not (address and address.is_loopback):
        raise ValueError(
            "args.api_key.token_url is no https address; only on this machine itself may a "
            "client's secret go without encryption."
        )
    return made


def _fields_of(cls: type[KeyCommand | OAuthClient], entries: Mapping[str, Any]) -> Any:
    known = {each.name: each for each in fields(cls)}
    unknown = [str(name) for name in entries if name not in known]
    missing = [n for n, each in known.items() if each.default is MISSING and n not in entries]
    if unknown or missing:
        wrong = f"has an unknown key {unknown[0]!r}" if unknown else f"lacks {missing[0]}"
        raise ValueError(
            f"args.api_key {wrong}; allowed: command, lifetime and environment, or token_url, "
            "client_id, client_secret and scope."
        )
    return dict(entries)


def _words(value: Any, name: str, *, least: int = 1) -> tuple[str, ...]:
    is_list = isinstance(value, (list, tuple))
    if not is_list or len(value) < least or not all(isinstance(e, str) and e for e in value):
        raise ValueError(f"args.api_key.{name} is no list of texts, as [vault, read].")
    return tuple(value)


def _seconds(value: Any) -> float:
    found = DURATION.fullmatch(value) if isinstance(value, str) else None
    if not found or int(found[1]) == 0:
        raise ValueError("args.api_key.lifetime is no duration; allowed: as 50m, 1h or 90s.")
    return int(found[1]) * UNITS[found[2]]
