"""What makes a process offline: every library's switch, and a guard that checks connections.

The guard is an audit hook of Python's, which nothing can remove: each name that is looked up and
each address that is connected to is compared with a list before a packet goes. It works for Python
alone. The JVM and libraries that open connections in native code (Delta's and Arrow's clients of
object stores) are bound by the site's network rule, which `doctor --egress` tries.
"""

import os
import socket
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

SWITCHES = {
    "DO_NOT_TRACK": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_EVALUATE_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INDEX": "1",
    "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false",
    "TRANSFORMERS_OFFLINE": "1",
    "UV_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "WANDB_MODE": "offline",
}
"""The variable of each library that keeps it from asking its makers' servers."""

ASKS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
LOOKS_UP = frozenset(
    f"socket.{name}"
    for name in ("getaddrinfo", "gethostbyaddr", "gethostbyname", "gethostbyname_ex", "getnameinfo")
)
ASKS_FOR_NAME = frozenset({"socket.gethostbyaddr", "socket.getnameinfo"})
"""Look-ups from an address to its name, which are sent to a server of names too."""
OWN_FAMILIES = frozenset(
    getattr(socket, name) for name in ("AF_UNIX", "AF_NETLINK") if hasattr(socket, name)
)
"""What never leaves the machine."""


class OfflineRefusal(ConnectionRefusedError):
    """A connection that the list does not name; for a library it is a server that is not there."""


@dataclass(frozen=True, slots=True, order=True)
class ListedAddress:
    """A server that work needs though it is offline."""

    host: str
    """A name or an address, in small letters."""
    port: int | None
    """None: any port, as of a machine of this job."""
    why: str

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}{f':{self.port}' if self.port else ''} ({self.why})"


@dataclass(slots=True)
class _ConnectionGuard:
    """The list in force, and the addresses that its names were last found at."""

    listed: tuple[ListedAddress, ...]
    own: frozenset[str]

    def check(self, event: str, args: tuple[Any, ...]) -> None:
        """Raise OfflineRefusal where an event of Python's is about another address."""
        if event in LOOKS_UP:
            self._check_name(event, args[0])
            return
        family, address = args[0].family, args[1] if len(args) > 1 else None
        if family in OWN_FAMILIES or address is None:
            return
        if not isinstance(address, tuple) or len(address) < 2:
            raise OfflineRefusal("offline: a connection of an unknown kind is refused")
        host, port = _plain(address[0]), address[1]
        if not self._is_own(host) and not self._is_listed(host, port):
            raise OfflineRefusal(f"offline: {host}:{port} is not on the list of addresses")

    def _check_name(self, event: str, name: object) -> None:
        host = _plain(name[0] if isinstance(name, tuple) else name)
        if not host or self._is_own(host):
            return
        if _is_address(host) and event not in ASKS_FOR_NAME:
            return  # an address is looked up nowhere; it is compared when it is connected to
        if host not in {each.host for each in self.listed}:
            raise OfflineRefusal(f"offline: {host} is not on the list of addresses")

    def _is_own(self, host: str) -> bool:
        return host in self.own or (_is_address(host) and ip_address(host).is_loopback)

    def _is_listed(self, host: str, port: object) -> bool:
        fitting = [each for each in self.listed if each.port in (None, port)]
        if host in {each.host for each in fitting}:
            return True
        return any(host in _addresses(each.host) for each in fitting if not _is_address(each.host))


_GUARDS: list[_ConnectionGuard] = []
"""The guard of this process; none while it is online."""


def is_offline() -> bool:
    """Whether this process has a guard."""
    return bool(_GUARDS)


def listed() -> tuple[ListedAddress, ...]:
    """The list in force."""
    return _GUARDS[0].listed if _GUARDS else ()


def go_offline(addresses: Iterable[ListedAddress]) -> None:
    """Set every switch, and refuse connections to other addresses from now on.

    A second call makes the list that of both; nothing removes the guard.
    """
    os.environ.update(SWITCHES)
    for module, name in (
        ("huggingface_hub.constants", "HF_HUB_OFFLINE"),
        ("datasets.config", "HF_HUB_OFFLINE"),
    ):
        if module in sys.modules:  # it has read its variable already
            setattr(sys.modules[module], name, True)
    every = tuple(sorted({*listed(), *addresses}))
    if _GUARDS:
        _GUARDS[0].listed = every
        return
    _GUARDS.append(_ConnectionGuard(every, own_names()))
    sys.addaudithook(_audit)


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if event in ASKS or event in LOOKS_UP:
        _GUARDS[0].check(event, args)


def own_names() -> frozenset[str]:
    """This machine's names and addresses."""
    names = {"", "localhost", "ip6-localhost", socket.gethostname().lower()}
    names.add(socket.getfqdn().lower())
    return frozenset({*names, *(address for name in names for address in _addresses(name))})


def _addresses(name: str) -> set[str]:
    try:
        return {_plain(info[4][0]) for info in socket.getaddrinfo(name or None, 0)}
    except OSError:
        return set()


def _plain(host: object) -> str:
    """A host as it is compared: small letters, no zone, IPv4 within IPv6 as IPv4."""
    if isinstance(host, bytes | bytearray):
        host = bytes(host).decode("ascii", "replace")
    text = str(host or "").strip("[]").rstrip(".").partition("%")[0].lower()
    if not _is_address(text):
        return text
    address = ip_address(text)
    return str(getattr(address, "ipv4_mapped", None) or address)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def texts_of(addresses: Sequence[ListedAddress]) -> tuple[str, ...]:
    """The list as it is printed and recorded."""
    return tuple(map(str, addresses))
