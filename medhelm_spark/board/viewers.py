"""Who looks at a page, and which text they may see: asked at every read, not when a server starts.

The page has no login, so what tells a viewer is how they came: by this machine's loopback address,
under a name of it, and through no proxy.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from enum import StrEnum
from urllib.parse import urlsplit

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.errors import PolicyError

# What proxies add: behind one of them this machine's own address says nothing of who looks.
_FORWARDED = (
    *("cf-connecting-ip", "forwarded", "true-client-ip", "via", "x-client-ip"),
    *("x-cluster-client-ip", "x-envoy-external-address", "x-original-host", "x-real-ip"),
)
_FORWARDED_PREFIX = "x-forwarded-"


class Viewer(StrEnum):
    """Who is shown a text: someone at this machine, or anyone who reaches the server."""

    THIS_MACHINE = "this_machine"
    ANYONE = "anyone"

    def may_see(self, level: AccessLevel) -> bool:
        """Whether text of this level is shown; a level that is not known never is to others."""
        return self is Viewer.THIS_MACHINE or level == AccessLevel.PUBLIC


def refuse(viewer: Viewer, levels: Iterable[AccessLevel]) -> None:
    """Raise PolicyError where the viewer may not see text of all these levels."""
    hidden = sorted({str(level) for level in levels if not viewer.may_see(level)})
    if hidden:
        raise PolicyError(
            f"{' and '.join(hidden)} text is shown only at the machine that serves this page: "
            "at http://127.0.0.1 or http://localhost, to a server bound to that address, through "
            "no proxy."
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server bound to `host`.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("gpu1")
    (True, True, False, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def viewer_of(address: str | None, headers: Mapping[str, str]) -> Viewer:
    """Who sent a request with these headers to a server bound to `address`.

    A site whose name was made to point here (DNS rebinding) is told by `Host`, a page of another
    site by `Origin`. Without a `Host` nothing is known, so that nothing is shown.

    >>> viewer_of("127.0.0.1", {"Host": "localhost:8501"})
    <Viewer.THIS_MACHINE: 'this_machine'>
    >>> viewer_of("127.0.0.1", {"Host": "evil.test:8501"})
    <Viewer.ANYONE: 'anyone'>
    """
    sent = {name.lower(): value for name, value in headers.items()}
    named = [f"//{sent.get('host', '')}", *([sent["origin"]] if "origin" in sent else [])]
    is_here = (
        is_loopback(address or "")
        and all(is_loopback(_host(url)) for url in named)
        and not any(name in _FORWARDED or name.startswith(_FORWARDED_PREFIX) for name in sent)
    )
    return Viewer.THIS_MACHINE if is_here else Viewer.ANYONE


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
