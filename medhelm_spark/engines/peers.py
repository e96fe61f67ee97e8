"""The HTTP client: connections to peers that text may be sent to, and to no others.

A host name does not determine where a connection ends: it is looked up anew for each one. So each
address of a name is compared before a packet goes there, and the address at the other end once
more when a connection is open, before text is written. Those that pass are kept and used
again, because the peer of a connection cannot change.

With a proxy the peer is the proxy: it is checked like any peer, and it reads what is plain. The
server behind it is out of sight. Its name is looked up here too, every address must pass, and TLS
makes sure that the proxy has led to that name; without TLS nothing does, so a plain server behind a
proxy has to be given as an address.
"""

import asyncio
import logging
import select
import socket
import ssl
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

import aiohttp

from medhelm_spark.domain.network import Reach, address_of, why_not
from medhelm_spark.engines.reply_limit import MAX_REPLY_BYTES, whole
from medhelm_spark.errors import SetupError

CONNECT_SECONDS = 10.0
KEPT_SECONDS = 4.0
"""How long an idle connection is kept: many servers close theirs after five."""
LONGEST_HEADER = 64 << 10
PACKINGS = ("gzip", "x-gzip", "deflate")
"""What can be unpacked; gateways name other things too, such as `UTF-8`, and pack nothing."""
CERTIFICATES = (
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/cert.pem",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/ca-bundle.pem",
)
"""Where systems keep the certificates that they trust."""

for _name in ("aiohttp.client", "aiohttp.internal"):  # they quote what a server sent
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class PeerError(OSError):
    """A connection ends where the text may not be sent; the reason is free of text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """How a client connects; `login` is a proxy's USER:PASSWORD.

    `max_reply_bytes` is how much of a reply is read.
    """

    server: str
    proxy: str = ""
    login: str = field(default="", repr=False)
    ca_bundle: str = ""
    max_reply_bytes: int = MAX_REPLY_BYTES

    @property
    def is_encrypted(self) -> bool:
        """Whether text travels in TLS up to the server."""
        return urlsplit(self.server).scheme == "https"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    text: str


class PeerSession:
    """Posts to peers within `reach`, None for any; lives in one event loop.

    It follows no redirect, keeps no cookie and takes nothing from the environment.
    """

    def __init__(self, wire: Wire, reach: Reach | None) -> None:
        self._wire = wire
        login = f"Basic {b64encode(wire.login.encode()).decode()}"
        self._login = {"Proxy-Authorization": login} if wire.login else {}
        self._session = aiohttp.ClientSession(
            connector=PeerConnector(wire, reach),
            cookie_jar=aiohttp.DummyCookieJar(),
            # The caller limits the whole call; how long a proxy takes to connect is its own.
            timeout=aiohttp.ClientTimeout(
                connect=None if wire.proxy else CONNECT_SECONDS, sock_connect=CONNECT_SECONDS
            ),
            auto_decompress=False,
            max_line_size=LONGEST_HEADER,
            max_field_size=LONGEST_HEADER,
            proxy=wire.proxy or None,
            trace_configs=[_looks_behind(wire, reach)]
            if wire.proxy and reach is not None
            else None,
        )

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> HttpReply:
        """One call; whatever status the server answers with is a reply.

        Raises:
            PeerError: text may not be sent there. The HTTP client's own errors may be caused by it.
            ReplyTooLongError: the reply has more than `max_reply_bytes`.
        """
        is_plain = urlsplit(url).scheme == "http"
        async with self._session.post(
            url,
            data=body,
            headers={**headers, **self._login} if is_plain else headers,
            proxy_headers=None if is_plain else self._login,
            allow_redirects=False,
        ) as reply:
            packing = reply.headers.get("Content-Encoding", "").lower()
            read = await whole(
                reply.content.iter_any(),
                self._wire.max_reply_bytes,
                is_packed=packing in PACKINGS,
            )
            return HttpReply(
                status=reply.status, headers=reply.headers, text=_text(read, reply.charset)
            )

    async def close(self) -> None:
        await self._session.close()


def _text(read: bytes, charset: str | None) -> str:
    try:
        return read.decode(charset or "utf-8", "replace")
    except (LookupError, ValueError):
        return read.decode("utf-8", "replace")


class PeerConnector(aiohttp.TCPConnector):
    """Connections whose peer was checked, and that bring nothing before they are asked."""

    def __init__(self, wire: Wire, reach: Reach | None) -> None:
        super().__init__(
            ssl=trusted(wire.ca_bundle),
            limit=0,  # how many are open is bounded by what is in flight
            keepalive_timeout=KEPT_SECONDS,
            use_dns_cache=False,
            resolver=aiohttp.ThreadedResolver(),
            socket_factory=self._socket,
        )
        self._reach, self._is_encrypted = reach, wire.is_encrypted
        self._checked: WeakSet[Any] = WeakSet()

    async def connect(self, req: Any, traces: Any, timeout: Any) -> Any:
        """A connection for one request.

        Raises:
            PeerError: text may not be sent there; the connection is closed.
        """
        connection: Any = await super().connect(req, traces, timeout)
        while connection.protocol in self._checked:
            if not _has_input(connection):
                return connection
            connection.close()  # the server has closed it, or sent what nobody asked for
            connection = await super().connect(req, traces, timeout)
        ends = (connection.transport.get_extra_info(end) for end in ("peername", "sockname"))
        try:
            self._check(*(str(end[0]) if end else "" for end in ends))
        except PeerError:
            connection.close()
            raise
        self._checked.add(connection.protocol)
        return connection

    def _socket(self, info: Any) -> socket.socket:
        """A socket for a connection to an address, if text may be sent there."""
        family, kind, protocol, _, address = info
        is_asked = self._reach is not None and self._reach.own_machine
        self._check(address[0], _own_address(family, address) if is_asked else "")
        return socket.socket(family, kind, protocol)

    def _check(self, peer: str, own: str) -> None:
        if self._reach is None:
            return
        if reason := why_not(self._reach, peer, own=own, is_encrypted=self._is_encrypted):
            raise PeerError(f"held back: {reason}")


def _own_address(family: int, address: Any) -> str:
    """This machine's end of a connection to an address, as the kernel routes it; sends nothing."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(address)
        return str(probe.getsockname()[0])


def _has_input(connection: Any) -> bool:
    """Whether something came on a kept connection, its end included."""
    poll = select.poll()
    poll.register(connection.transport.get_extra_info("socket"), select.POLLIN)
    return bool(connection.protocol.should_close or poll.poll(0))


def _looks_behind(wire: Wire, reach: Reach) -> aiohttp.TraceConfig:
    """A look at the server behind a proxy, before each connection to the proxy."""
    parts = urlsplit(wire.server)
    host, port = parts.hostname or "", parts.port or (443 if wire.is_encrypted else 80)

    async def look(*_: Any) -> None:
        addresses = [host]
        if not address_of(host) and wire.is_encrypted:
            looked_up = await asyncio.get_running_loop().getaddrinfo(host, port)
            addresses = [str(address[0]) for *_, address in looked_up] or [host]
        for address in addresses:
            if reason := why_not(reach, address, is_encrypted=wire.is_encrypted):
                raise PeerError(f"held back: behind the proxy {reason}")

    config = aiohttp.TraceConfig()
    config.on_connection_create_start.append(look)
    return config


def _is_file(name: str) -> bool:
    return Path(name).is_file()


@lru_cache(maxsize=8)
def trusted(ca_bundle: str) -> ssl.SSLContext:
    """The certificates to trust: a deployment's own, else the system's; no variable adds any.

    Raises:
        SetupError: `ca_bundle` cannot be read.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.set_alpn_protocols(["http/1.1"])
    if not ca_bundle:
        paths = ssl.get_default_verify_paths()  # as compiled in: not what SSL_CERT_FILE says
        file = next(filter(_is_file, (paths.openssl_cafile, *CERTIFICATES)), None)
        folder = paths.openssl_capath if Path(paths.openssl_capath).is_dir() else None
        if file or folder:
            context.load_verify_locations(file, folder)
        return context
    try:
        context.load_verify_locations(ca_bundle)
    except OSError as error:  # ssl's own errors are such too
        raise SetupError(
            f"args.ca_bundle names {ca_bundle}, which cannot be read as certificates "
            f"({type(error).__name__}); give a file in PEM form."
        ) from None
    return context
