"""Who looks at a page, and which text they may see: checked at each read, not at a server's start.

Where a policy lists viewers, a person is who signed in. Else the page has no login, and a viewer is
recognised by how they came: by this machine's loopback address, under a name of it, and through no
proxy.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import urlsplit

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.viewer_rules import ListedViewer, ViewerRules
from medhelm_spark.errors import PolicyError

# What proxies add: behind one of them this machine's own address does not show who looks.
_FORWARDED = (
    *("cf-connecting-ip", "forwarded", "true-client-ip", "via", "x-client-ip"),
    *("x-cluster-client-ip", "x-envoy-external-address", "x-original-host", "x-real-ip"),
)
_FORWARDED_PREFIX = "x-forwarded-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Who is shown a text: someone at this machine, anyone who reaches the server, or a person."""

    THIS_MACHINE: ClassVar["Viewer"]
    ANYONE: ClassVar["Viewer"]

    text: AccessLevel | None
    """The strictest level whose text is shown; None: no text, and no score of an instance."""
    may_write: bool = False
    """Whether they write notes on answers."""
    name: str = ""
    """Of who signed in; empty where nobody did."""
    identified_by: str = ""
    """The issuer who says who that is."""

    def may_see(self, level: AccessLevel | str | None) -> bool:
        """Whether text of this level is shown; a level that is not known counts as private."""
        known = AccessLevel(level) if level in list(AccessLevel) else AccessLevel.PRIVATE
        return self.text is not None and known.strictness <= self.text.strictness


Viewer.THIS_MACHINE = Viewer(text=AccessLevel.PRIVATE, may_write=True)
Viewer.ANYONE = Viewer(text=AccessLevel.PUBLIC)


def refuse(viewer: Viewer, levels: Iterable[AccessLevel]) -> None:
    """Raise PolicyError where the viewer may not see text of all these levels."""
    hidden = sorted({str(level) for level in levels if not viewer.may_see(level)})
    if hidden and viewer.name:
        allowed = f"text up to {viewer.text}" if viewer.text else "numbers alone"
        raise PolicyError(f"{' and '.join(hidden)} text is not shown to you; allowed: {allowed}.")
    if hidden:
        raise PolicyError(
            f"{' and '.join(hidden)} text is shown only at the machine that serves this page: "
            "at http://127.0.0.1 or http://localhost, to a server bound to that address, through "
            "no proxy."
        )


def signed_in(
    claims: Mapping[str, Any],
    rules: ViewerRules,
    at: datetime,
    *,
    came: Viewer,
    is_binding: bool,
) -> Viewer:
    """The person whom the claims of an ID token name.

    Where the policy is not binding, whoever serves could have written it: gated and private text
    is then shown at this machine alone, as without it.

    Args:
        claims: those of the token, whose signature was checked.
        rules: whom the policy lists.
        at: now.
        came: who it would be without a sign-in.
        is_binding: whether the rules are those of a binding policy.

    Raises:
        PolicyError: the sign-in has ended, or the policy does not list the person.
    """
    issuer, subject, since = (claims.get(name) for name in ("iss", "sub", "iat"))
    ends = timedelta(hours=rules.hours).total_seconds()
    if not isinstance(since, int | float) or at.timestamp() >= since + ends:
        raise PolicyError(f"a sign-in counts for {rules.hours} hours: sign in again.")
    groups = claims.get(rules.groups_claim)
    own_groups = set(groups) if isinstance(groups, list) else {groups} if groups else set()
    listed = [
        each
        for each in rules.people
        if each.issuer == issuer
        and (each.subject == subject if each.subject else each.group in own_groups)
    ]
    if not isinstance(subject, str) or not subject or not listed:
        raise PolicyError("the policy's viewers do not list you: ask whoever keeps the policy.")
    names = [each.name for each in listed if each.name]
    viewer = Viewer(
        text=_strictest(listed),
        may_write=any(each.may_rate for each in listed),
        name=names[0] if names else subject,
        identified_by=str(issuer),
    )
    if is_binding or viewer.text is None or came.may_see(viewer.text):
        return viewer
    return replace(viewer, text=came.text, may_write=False)


def _strictest(listed: Iterable[ListedViewer]) -> AccessLevel | None:
    """What the most permissive entry lets somebody read."""
    levels = [each.text for each in listed if each.text is not None]
    return max(levels, key=lambda level: level.strictness, default=None)


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

    A site whose name was made to point here (DNS rebinding) is recognised by `Host`, a page of
    another site by `Origin`. Without a `Host` nothing is known, so that nothing is shown.

    >>> viewer_of("127.0.0.1", {"Host": "localhost:8501"}) is Viewer.THIS_MACHINE
    True
    >>> viewer_of("127.0.0.1", {"Host": "evil.test:8501"}) is Viewer.ANYONE
    True
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
