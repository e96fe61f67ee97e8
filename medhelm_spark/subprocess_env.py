"""What a child process gets of this one's environment: what it needs, by name, and no key."""

import os
from collections.abc import Iterable, Mapping

SYSTEM = (
    "HOME",
    "LANG",
    "LANGUAGE",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "PATH",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
)
NETWORK = (
    "ALL_PROXY",
    "CURL_CA_BUNDLE",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
)
FETCHING = (*NETWORK, *(name.lower() for name in NETWORK))
"""How public data is fetched, for a child that does so."""
SAFE_PATH = "PYTHONSAFEPATH"
"""With it Python looks for no module in the working folder, whose files may be anybody's."""


def child_environment(
    more: Iterable[str] = (), environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The variables of `SYSTEM`, of the locale, and `more`; a name that ends in `*` is a prefix.

    >>> child_environment(["HF_HOME"], {"PATH": "/bin", "HF_HOME": "/hf", "HF_TOKEN": "hf_x"})
    {'PATH': '/bin', 'HF_HOME': '/hf', 'PYTHONSAFEPATH': '1'}
    """
    allowed = (*SYSTEM, "LC_*", *more)
    exact = {name for name in allowed if not name.endswith("*")}
    prefixes = tuple(name.removesuffix("*") for name in allowed if name.endswith("*"))
    own = {
        name: value for name, value in environ.items() if name in exact or name.startswith(prefixes)
    }
    return {**own, SAFE_PATH: "1"}
