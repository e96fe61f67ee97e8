"""Where a server may be that gated and private text is sent to, as addresses and not as names.

A name may resolve to anything, and to another thing a second later. What counts is the address at
the other end of the connection, read after it is open and before a byte is written.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address

OUTSIDE = "its address is in no network that the policy lists"
IN_THE_CLEAR = "plain http outside this machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A range of addresses; with `plain_http` text may travel in it unencrypted."""

    cidr: str
    plain_http: bool = False

    @property
    def range(self) -> IPv4Network | IPv6Network:
        """The range; ValueError where `cidr` is not valid."""
        return ip_network(self.cidr)

    def contains(self, address: Address) -> bool:
        """Whether an address lies in it."""
        return address in self.range


LOOPBACK = (Network(cidr="127.0.0.0/8"), Network(cidr="::1/128"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The peers that text may be sent to; `own_machine` adds every address of the machine itself.

    A peer is on the machine that asks where both ends of a connection have the same address.
    """

    networks: tuple[Network, ...] = ()
    own_machine: bool = False


NOWHERE = Reach()


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The network addresses in a deployment's arguments.

    `urls` are the addresses that text passes: of the server, then of a proxy. `hub_names` are the
    arguments that name something to download, as `key=value`. `is_known` is whether the engine
    declares its addresses: one that does not may send text anywhere.
    """

    urls: tuple[str, ...] = ()
    hub_names: tuple[str, ...] = ()
    is_known: bool = True


def address_of(text: str) -> Address | None:
    """The address that a text spells out; None for a name. IPv4 within IPv6 is IPv4."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def why_not(reach: Reach, peer: str, *, own: str = "", is_encrypted: bool) -> str:
    """Why text may not be sent to this peer; empty where it may.

    Args:
        reach: what the policy allows.
        peer: the address at the other end of a connection.
        own: the address at this end; empty where there is no connection.
        is_encrypted: whether text travels in TLS up to where it is read.
    """
    address = address_of(peer)
    if address is None:
        return OUTSIDE
    around = [network for network in reach.networks if network.contains(address)]
    is_here = reach.own_machine and address == address_of(own)
    if not around and not is_here:
        return OUTSIDE
    is_open = any(network.plain_http for network in around)
    return "" if is_encrypted or address.is_loopback or is_here or is_open else IN_THE_CLEAR


def narrowed(networks: Iterable[Network], above: Iterable[Network]) -> tuple[Network, ...]:
    """Those of these networks that lie in one of `above`: plain http only where that has it too."""
    narrow = []
    outer = tuple(above)
    for network in networks:
        inner = network.range
        around = [each for each in outer if _is_within(inner, each.range)]
        if around:
            plain = network.plain_http and any(each.plain_http for each in around)
            narrow.append(Network(cidr=network.cidr, plain_http=plain))
    return tuple(narrow)


def _is_within(inner: IPv4Network | IPv6Network, outer: IPv4Network | IPv6Network) -> bool:
    if isinstance(inner, IPv4Network) and isinstance(outer, IPv4Network):
        return inner.subnet_of(outer)
    if isinstance(inner, IPv6Network) and isinstance(outer, IPv6Network):
        return inner.subnet_of(outer)
    return False
