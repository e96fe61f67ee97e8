"""Connections of a client to peers that text may be sent to, and to no others.

A host name says nothing of where a connection ends: it is looked up anew for each one. So the
address at its other end is compared, once it stands and before anything is written, the greeting of
TLS included. A connection that fails it is closed; those that pass it are kept and used again,
because the peer of a connection cannot change.

With a proxy the peer is the proxy: it is checked like any peer, and it reads what is plain. The
server behind it is out of sight. Its name is looked up here too, every address must pass, and TLS
makes sure that the proxy has led to that name; without TLS nothing does, so a plain server behind a
proxy has to be given as an address.
"""

import asyncio
import os
import ssl
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from medhelm_spark.domain.network import OUTSIDE, Reach, address_of, why_not
from medhelm_spark.engines.reply_limit import limited
from medhelm_spark.errors import SetupError

MAX_REPLY_BYTES = 8 << 20
"""Sixteen of them at once fit in a worker and in a batch of rows; an answer has a thousandth."""


class PeerError(Exception):
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


def transport(wire: Wire, reach: Reach | None) -> Any:
    """A transport of the HTTP client that the package openai uses, to peers within `reach`.

    Raises:
        SetupError: `ca_bundle` cannot be read, or this HTTP client does not let a peer be checked.
    """
    httpx = _httpx()
    made = httpx.AsyncHTTPTransport(
        verify=_trusted(httpx, wire.ca_bundle),
        trust_env=False,
        # How many are open is bounded by what is in flight; a lower bound would reconnect.
        limits=httpx.Limits(),
        proxy=_proxy(httpx, wire),
    )
    if reach is not None:
        pool = getattr(made, "_pool", None)
        backend = getattr(pool, "_network_backend", None)
        if not hasattr(backend, "connect_tcp"):
            raise SetupError(
                f"the installed {httpx.__name__} {httpx.__version__} does not show where it "
                "connects to, so gated and private text cannot be sent by it; install the versions "
                "of constraints.txt."
            )
        setattr(pool, "_network_backend", _Checked(backend, wire, reach))  # noqa: B010  # private
    return limited(httpx, made, wire.max_reply_bytes)


def blocking_client(wire: Wire, seconds: float) -> Any:
    """A client for what is no text: a token of OAuth, asked by the same certificates and proxy."""
    httpx = _httpx()
    return httpx.Client(
        verify=_trusted(httpx, wire.ca_bundle),
        trust_env=False,
        proxy=_proxy(httpx, wire),
        timeout=seconds,
        follow_redirects=False,
    )


def http_error() -> type[Exception]:
    """What that client raises where nobody answers."""
    error: type[Exception] = _httpx().HTTPError
    return error


class _Checked:
    """The network backend of a pool of connections, with a check of each before it is used."""

    def __init__(self, backend: Any, wire: Wire, reach: Reach) -> None:
        self._backend, self._reach = backend, reach
        parts = urlsplit(wire.server)
        self._is_encrypted = parts.scheme == "https"
        port = parts.port or (443 if self._is_encrypted else 80)
        self._behind = (parts.hostname or "", port) if wire.proxy else None

    async def connect_tcp(self, *args: Any, **kwargs: Any) -> Any:
        """A connection whose peer was checked.

        Raises:
            PeerError: text may not be sent there; the connection is closed.
        """
        if self._behind:
            await self._check_behind(*self._behind)
        stream = await self._backend.connect_tcp(*args, **kwargs)
        reason = self._reason(stream)
        if reason:
            await stream.aclose()
            raise PeerError(f"held back: {reason}")
        return stream

    async def connect_unix_socket(self, *args: Any, **kwargs: Any) -> Any:
        """Refused: what listens behind a file is not known."""
        raise PeerError(f"held back: {OUTSIDE}")

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)

    def _reason(self, stream: Any) -> str:
        try:
            connected = stream.get_extra_info("socket")
            peer, own = connected.getpeername()[0], connected.getsockname()[0]
        except (AttributeError, IndexError, OSError):
            return OUTSIDE
        return why_not(self._reach, str(peer), own=str(own), is_encrypted=self._is_encrypted)

    async def _check_behind(self, host: str, port: int) -> None:
        addresses = [host]
        if not address_of(host) and self._is_encrypted:
            looked_up = await asyncio.get_running_loop().getaddrinfo(host, port)
            addresses = [str(address[0]) for *_, address in looked_up] or [host]
        for address in addresses:
            reason = why_not(self._reach, address, is_encrypted=self._is_encrypted)
            if reason:
                raise PeerError(f"held back: behind the proxy {reason}")


@lru_cache(maxsize=1)
def _httpx() -> ModuleType:
    """The HTTP client of the installed openai: its versions use different packages."""
    import openai

    (base,) = (each for each in openai.DefaultAsyncHttpxClient.__mro__ if _is_client(each))
    return sys.modules[base.__module__.partition(".")[0]]


def _is_client(cls: type) -> bool:
    return cls.__name__ == "AsyncClient"


@lru_cache(maxsize=8)
def _trusted(httpx: ModuleType, ca_bundle: str) -> ssl.SSLContext:
    """The certificates to trust: a deployment's own, else the client's without the environment."""
    if not ca_bundle:
        context: ssl.SSLContext = httpx.create_ssl_context(trust_env=False)
        if getattr(context, "keylog_filename", None):
            context.keylog_filename = os.devnull  # SSLKEYLOGFILE would write the keys of TLS
        return context
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(ca_bundle)
    except OSError as error:  # ssl's own errors are such too
        raise SetupError(
            f"args.ca_bundle names {ca_bundle}, which cannot be read as certificates "
            f"({type(error).__name__}); give a file in PEM form."
        ) from None
    return context


def _proxy(httpx: ModuleType, wire: Wire) -> Any:
    if not wire.proxy:
        return None
    user, _, password = wire.login.partition(":")
    auth = (user, password) if wire.login else None
    return httpx.Proxy(wire.proxy, auth=auth)
