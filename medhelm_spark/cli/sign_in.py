"""How people sign in to the dashboard: the file of the site, and whether it fits the policy."""

import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from stat import S_IRWXG, S_IRWXO
from typing import Any
from urllib.parse import urlsplit

from medhelm_spark.board import is_loopback
from medhelm_spark.domain.policy import Policy
from medhelm_spark.errors import ConfigError, SetupError
from medhelm_spark.governance.viewers import viewers_in_force

CALLBACK = "/oauth2callback"
NEEDED = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")
LEAST_SECRET = 32
"""Characters of the secret by which Streamlit signs who a browser is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """A sign-in that is set up."""

    file: Path
    """What Streamlit's `st.login` reads."""
    host: str
    """The name by which browsers call the server."""
    is_binding: bool
    """Whether a binding policy lists who sees what."""


def sign_in_of(policy: Policy, named: str | None, site: Path | None) -> SignIn | None:
    """How people sign in; None where the policy lists no viewers, and nobody does.

    Args:
        policy: the policy in force.
        named: the setting sign_in.
        site: the folder of the site's own configuration.

    Raises:
        ConfigError: the policy lists viewers and the file is missing, open to others or wrong.
        SetupError: authlib is not installed.
    """
    if not policy.viewers.people:
        if named:
            raise ConfigError(
                f"setting sign_in is {named!r}, and {policy.label} lists no viewers; allowed: "
                "viewers in the policy, or no sign_in."
            )
        return None
    if not viewers_in_force(site).rules.people:
        raise ConfigError(
            f"{policy.label}: viewers are in a table, which the dashboard cannot read; allowed: "
            "a policy in a file."
        )
    if not named:
        raise ConfigError(
            f"{policy.label} lists viewers, and the setting sign_in is missing; allowed: a TOML "
            "file as docs/governance.md shows."
        )
    if find_spec("authlib") is None:
        raise SetupError("a sign-in needs authlib: pip install 'medhelm-spark[sign-in]'.")
    path = Path(named).expanduser().resolve()
    return SignIn(file=path, host=_host(path), is_binding=policy.is_binding)


def _host(path: Path) -> str:
    """The host of a file's `redirect_uri`, once all that is needed is there."""
    where = f"setting sign_in: {path}"
    try:
        if path.stat().st_mode & (S_IRWXG | S_IRWXO):
            raise ConfigError(f"{where} is open to others; allowed: its owner alone (chmod 600).")
        document: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        kind = type(error).__name__  # the file has secrets, and an error may quote it
        raise ConfigError(f"{where} cannot be read ({kind}); allowed: a TOML file.") from None
    auth = document.get("auth")
    for key in NEEDED:
        if not isinstance(auth, dict) or not isinstance(auth.get(key), str) or not auth[key]:
            raise ConfigError(f"{where}: auth.{key} is missing; allowed: a text.")
    if len(auth["cookie_secret"]) < LEAST_SECRET:
        raise ConfigError(
            f"{where}: auth.cookie_secret has {len(auth['cookie_secret'])} characters; allowed: "
            f"{LEAST_SECRET} and more, made by chance."
        )
    for key in ("redirect_uri", "server_metadata_url"):
        _refuse_open(auth[key], f"{where}: auth.{key}")
    address = urlsplit(auth["redirect_uri"])
    if address.path != CALLBACK or address.query:
        raise ConfigError(
            f"{where}: auth.redirect_uri is {auth['redirect_uri']!r}; allowed: the dashboard's "
            f"address with {CALLBACK}."
        )
    return address.hostname or ""


def _refuse_open(address: str, where: str) -> None:
    """Refuse an address by which others on the network could read who signs in."""
    parts = urlsplit(address)
    is_here = parts.scheme == "http" and is_loopback(parts.hostname or "")
    if not parts.hostname or not (parts.scheme == "https" or is_here):
        raise ConfigError(f"{where} is {address!r}; allowed: https, or http on this machine.")
