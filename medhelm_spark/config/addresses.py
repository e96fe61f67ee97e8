"""Where a deployment's arguments point: its URL, its references to secrets."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from medhelm_spark.errors import ConfigError

REFERENCE = re.compile(r"env:[A-Za-z_]\w*|secret:[^/\s]+/\S+|credentials:.+#.+|file:\S.*")
REFERENCES = "env:NAME, file:PATH or secret:SCOPE/KEY"

# Names of secrets, in any spelling of headers, bodies and queries.
SECRET_NAME = re.compile(
    r"authorization|cookie|credential|passw|secret|signature|bearer|(^|[-_.])(sig|pwd|pass|auth)$"
    r"|(api|access|private|subscription|account|functions?|shared)[-_.]?key|(^|[-_.])(key|token)$"
    r"|[-_.](key|token)[-_.]|(auth|access|session|security)[-_.]?token|^proxy[-_.]?login$",
    re.IGNORECASE,
)
# Names that look like secrets and are not.
PLAIN_NAMES = frozenset({"prompt_cache_key"})

# Keys as vendors issue them.
ISSUED = re.compile(
    r"\b((sk|gsk|xai|nvapi|glpat|xox[abprs])-[-\w]{8,}|(sk|pk|rk)_(live|test)_\w{8,}|hf_\w{16,}"
    r"|gh[oprsu]_\w{16,}|github_pat_\w{16,}|dapi[0-9a-f]{16,}|AIza[-\w]{20,}|A[KS]IA[0-9A-Z]{12,}"
    r"|eyJ[-\w]{16,})"
)
# In a header or a query, whose plain values are words: credentials of HTTP, and any long word that
# mixes letters and digits.
CREDENTIALS = re.compile(r"(bearer|basic|digest|token|apikey)\s+\S", re.IGNORECASE)
LONG_WORD = re.compile(r"(?=\w*\d)(?=\w*[A-Za-z])[\w+/=]{20,}")

# Settings of Spark and Hadoop that are secrets; those of the path or the kind of a secret are
# not, and neither does a reference of the platform's ({{secrets/SCOPE/KEY}} on Databricks).
SPARK_SECRET = re.compile(
    r"password$|([-_.])(secret|password|token|access[-_.]key|account[-_.]key)([-_.]|$)",
    re.IGNORECASE,
)
ABOUT_A_SECRET = re.compile(
    r"(algorithm|binding|class|enabled|endpoint|file|interval|path|providers?|type)$", re.IGNORECASE
)
PLATFORM_SECRET = re.compile(r"\{\{secrets/[^{}]+\}\}")


def check_url(url: str, where: str) -> None:
    """Refuses an address that is no http URL or that carries a secret; none is empty.

    The error shows it only where no part of it can be a secret.
    """
    if not url:
        return
    cure = f"{where}: its URL has a {{}}; give api_key or headers: {REFERENCES}."
    try:
        parts = urlsplit(url)
        user = parts.username or parts.password
        host = parts.hostname
    except ValueError:
        raise ConfigError(
            f"{where}: its URL is none; allowed: http(s)://HOST[:PORT]/PATH."
        ) from None
    if user or "@" in url:
        raise ConfigError(cure.format("user or password"))
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if _is_secret(name, value) or _is_sent_secret(value):
            raise ConfigError(cure.format("key in its query"))
    if ISSUED.search(url):
        raise ConfigError(cure.format("key"))
    if parts.scheme not in ("http", "https") or not host:
        address = repr(url) if re.fullmatch(r"[\w.:/-]{1,40}", url) else f"{len(url)} characters"
        raise ConfigError(f"{where}: its URL is {address}; allowed: http(s)://HOST[:PORT]/PATH.")


def check_secrets(args: Mapping[str, Any], where: str) -> None:
    """Refuses a key written out in a file; the key itself is never shown.

    In headers a reference is looked up where the key is used. A body is sent as it is, so that
    a key in it has to go into a header.
    """
    headers = args.get("headers")
    for name, value in (headers if isinstance(headers, Mapping) else {}).items():
        secret = _is_secret(str(name), str(value)) or _is_sent_secret(str(value))
        if secret and not _is_reference(value):
            raise ConfigError(_written_out(where, f"headers.{name}", REFERENCES))
    for key_path, name, value in _leaves(args.get("extra_body"), "extra_body"):
        if isinstance(value, str) and _is_secret(name, value):
            raise ConfigError(
                _written_out(where, key_path, "no key, give it in headers by reference")
            )
    for key_path, name, value in _leaves(_others(args), ""):
        if isinstance(value, str) and _is_secret(name, value) and not _is_reference(value):
            raise ConfigError(_written_out(where, key_path, f"a reference, {REFERENCES}"))


def check_spark_secrets(spark: Mapping[str, str], where: str) -> None:
    """Refuses a key written out in settings of Spark; the key itself is never shown.

    They are in the command line of the JVM, which every user of the machine may read.
    """
    for name, value in spark.items():
        is_named = SPARK_SECRET.search(name) and not ABOUT_A_SECRET.search(name)
        if not (is_named or ISSUED.search(value)) or PLATFORM_SECRET.fullmatch(value):
            continue
        raise ConfigError(
            f"{where}: spark.{ISSUED.sub('...', name)} is a key written out, which every user of "
            "the machine could read in its list of processes; name a credential provider of "
            "Hadoop's (spark.hadoop.hadoop.security.credential.provider.path), or give the key by "
            "the platform's own secrets."
        )


def _others(args: Mapping[str, Any]) -> dict[str, Any]:
    return {name: args[name] for name in args if name not in ("headers", "extra_body")}


def _written_out(where: str, key_path: str, allowed: str) -> str:
    return f"{where}: {ISSUED.sub('...', key_path)} is written out; allowed: {allowed}."


def _leaves(value: Any, key_path: str, name: str = "") -> Iterator[tuple[str, str, Any]]:
    """Every value in a tree of mappings and lists: its key path, its name, itself."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _leaves(each, f"{key_path}.{key}" if key_path else str(key), str(key))
    elif isinstance(value, (list, tuple)):
        for number, each in enumerate(value):
            yield from _leaves(each, f"{key_path}[{number}]", name)
    else:
        yield key_path, name, value


def _is_reference(value: Any) -> bool:
    return REFERENCE.fullmatch(str(value)) is not None


def _is_secret(name: str, value: str) -> bool:
    """Whether a value is a key by its own form, or by its name."""
    named = SECRET_NAME.search(name) is not None and name not in PLAIN_NAMES
    return bool(value) and ((named and " " not in name) or ISSUED.search(value) is not None)


def _is_sent_secret(value: str) -> bool:
    return CREDENTIALS.match(value) is not None or LONG_WORD.search(value) is not None
