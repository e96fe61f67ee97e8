"""Where private text may go: the gate of a job and the engine `openai`, with a listener outside."""

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Locality
from medhelm_spark.domain.network import Network, Reach
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import FailureKind, RequestResult
from medhelm_spark.engines import build_engine, factory_of, peers
from medhelm_spark.engines.loop_thread import LoopThread
from medhelm_spark.engines.peers import PeerError, Wire
from medhelm_spark.errors import ConfigError, SetupError
from medhelm_spark.policy.gate import gate_for
from tests.attacks import INSIDE_ONLY, OUTSIDE
from tests.unit.engines.fault_server import FAULTS, FaultServer
from tests.unit.engines.nouns import deployment, request

KEY = "sk-planted-0123456789"
NAME = "llm.hospital.example"
POLICY = Policy(
    allowed=(
        (AccessLevel.PUBLIC, tuple(Locality)),
        (AccessLevel.PRIVATE, (Locality.LOCAL, Locality.TENANT)),
    ),
    version="1",
    networks=((Locality.LOCAL, (Network(cidr=INSIDE_ONLY),)),),
)


@pytest.fixture
def inside() -> Iterator[FaultServer]:
    server = FaultServer()
    yield server
    server.close()


Ask = Callable[..., list[RequestResult]]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """Asks a deployment as a job does, three private notes by default."""
    monkeypatch.setenv("A_KEY", KEY)
    engines: dict[str, Any] = {}

    def results(
        args: dict[str, Any],
        texts: tuple[str, ...] = ("PLANTED 1", "PLANTED 2", "PLANTED 3"),
        level: AccessLevel = AccessLevel.PRIVATE,
        **fields: Any,
    ) -> list[RequestResult]:
        policy = fields.pop("policy", POLICY)
        target = deployment("openai", api_key="env:A_KEY", max_attempts=1, **args)
        target = replace(target, **fields)
        gate = gate_for(
            policy, {target.name: target}, {target.name: factory_of(target).route(target)}
        )
        if repr(args) not in engines:
            engines[repr(args)] = build_engine(target)
        requests = [request(text, name=text, access_level=level) for text in texts]
        return list(engines[repr(args)].answer(requests, gate))

    yield results
    for engine in engines.values():
        engine.close()


@pytest.fixture
def resolve(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes NAME resolve to an address."""
    real, stands_for = socket.getaddrinfo, [""]

    def lookup(host: Any, *args: Any, **kwargs: Any) -> Any:
        text = host.decode() if isinstance(host, bytes) else host
        return real(stands_for[0] if text == NAME else host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    return lambda address: stands_for.__setitem__(0, address)


@pytest.fixture
def tap() -> Iterator[Callable[[int], list[bytes]]]:
    """Listens at OUTSIDE on a port, and keeps every byte that each connection sends."""
    opened: list[socket.socket] = []

    def listen(port: int) -> list[bytes]:
        received: list[bytes] = []
        server = socket.create_server((OUTSIDE, port))
        opened.append(server)

        def take() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connection.settimeout(2)
                with connection:
                    received.append(connection.recv(1 << 16))

        threading.Thread(target=take, daemon=True).start()
        return received

    yield listen
    for server in opened:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def opened(received: list[bytes]) -> list[bytes]:
    """What connections sent so far; the listener's thread may be behind the engine's."""
    time.sleep(0.2)
    return received


def failures(results: list[RequestResult]) -> set[FailureKind | None]:
    return {result.failure for result in results}


PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@pytest.mark.attack("network", "a proxy variable that takes private prompts and the key along")
@pytest.mark.parametrize("variable", PROXIES)
def test_a_proxy_of_the_environment_is_not_asked(variable, inside, outside, ask, monkeypatch):
    monkeypatch.setenv(variable, outside.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert failures(ask({"base_url": inside.url})) == {None}
    assert len(inside.bodies) == 3
    assert not outside.received


@pytest.mark.attack("network", "header and address variables of the client package")
def test_nothing_of_the_environment_is_sent(inside, outside, ask, monkeypatch):
    planted = f"X-Leak: ENVIRONMENT\nAuthorization: Bearer ENVIRONMENT\nHost: {outside.address}"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"{planted}\nUser-Agent: ENVIRONMENT")
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "ENVIRONMENT")
    for name in ("AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_API_KEY", "OPENAI_API_VERSION"):
        monkeypatch.setenv(name, "ENVIRONMENT")
    for name in ("OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.setenv(name, outside.url)
    azure = {"endpoint": inside.url.removesuffix("/v1"), "api_version": "2026-01-01"}
    assert failures(ask({"base_url": inside.url})) == {None}
    assert failures(ask({"azure": azure})) == {None}
    assert not outside.received
    assert "environment" not in repr(inside.headers).lower()
    assert "ENVIRONMENT" not in repr(inside.paths)
    plain = {"host", "accept", "accept-encoding", "content-type", "user-agent", "content-length"}
    assert {frozenset(sent) - plain for sent in inside.headers} == {
        frozenset({"authorization"}),
        frozenset({"api-key"}),
    }
    assert inside.headers[0]["authorization"] == f"bearer {KEY}"


@pytest.mark.attack("network", "SSLKEYLOGFILE, which writes the keys of TLS to a file")
def test_keys_of_tls_are_not_written(tmp_path, monkeypatch):
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    assert ssl.create_default_context().keylog_filename == str(tmp_path / "keys")
    assert peers.trusted.__wrapped__("").keylog_filename is None


@pytest.mark.attack("network", "base_url on loopback and azure.endpoint outside in one deployment")
def test_two_servers_in_one_deployment_are_refused(outside, inside, ask):
    azure = {"endpoint": outside.url, "api_version": "2026-01-01"}
    with pytest.raises(ConfigError, match=r"args\.base_url and args\.azure\.endpoint name two"):
        ask({"base_url": inside.url, "azure": azure})
    assert not outside.received


@pytest.mark.attack("network", "a deployment called local whose address is outside")
def test_private_text_goes_to_no_address_outside_the_networks(outside, ask):
    assert failures(ask({"base_url": outside.url})) == {FailureKind.DENIED}
    assert not outside.received


@pytest.mark.attack("network", "an address outside in another spelling")
@pytest.mark.parametrize("spelling", ["127.2", "2130706434", "0x7f000002", "[::ffff:127.0.0.2]"])
def test_another_spelling_is_the_same_address(spelling, outside, ask):
    args = {"base_url": f"http://{spelling}:{outside.port}/v1"}
    assert failures(ask(args)) == {FailureKind.DENIED}
    assert not outside.received
    if ":" not in spelling:  # a listener on IPv4 alone
        assert failures(ask(args, ("open",), AccessLevel.PUBLIC)) == {None}


@pytest.mark.attack("network", "a host name that resolves outside")
def test_a_name_that_resolves_outside_gets_not_one_byte(inside, ask, resolve, tap):
    port = int(inside.url.split(":")[2].partition("/")[0])
    received = tap(port)
    resolve(OUTSIDE)
    args = {"base_url": f"http://{NAME}:{port}/v1"}
    results = ask(args)
    assert failures(results) == {FailureKind.DENIED}
    assert {result.attempts for result in results} == {0}, "it was never sent"
    assert not opened(received), "no connection was made"


@pytest.mark.attack("network", "a host name that resolves inside first and outside later")
def test_a_name_that_changes_is_looked_at_again(inside, ask, resolve, tap):
    port = int(inside.url.split(":")[2].partition("/")[0])
    received = tap(port)
    args = {"base_url": f"http://{NAME}:{port}/v1"}
    resolve("127.0.0.1")
    assert failures(ask(args)) == {None}
    # The server closes every connection that is kept, so that the next request needs a new one.
    ask(args, tuple(f"hang-up {n}" for n in range(8)))
    resolve(OUTSIDE)
    assert failures(ask(args)) == {FailureKind.DENIED}
    assert not opened(received)


@pytest.mark.attack("network", "a connection that public text opened, used again for private text")
def test_a_connection_of_public_text_is_not_used_for_private(outside, ask):
    args = {"base_url": outside.url}
    assert failures(ask(args, ("open",), AccessLevel.PUBLIC)) == {None}
    assert failures(ask(args)) == {FailureKind.DENIED}
    assert outside.saw("open")
    assert not outside.saw("PLANTED")


@pytest.mark.attack("network", "a server inside that redirects to the outside")
def test_a_redirect_is_not_followed(inside, outside, ask, monkeypatch):
    there = {"Location": f"{outside.url}/v1/chat/completions"}
    monkeypatch.setitem(FAULTS, "moved", (307, there, {}))
    (result,) = ask({"base_url": inside.url}, ("moved PLANTED",))
    assert (result.failure, result.reason[:3]) == (FailureKind.REJECTED, "307")
    assert not outside.received


@pytest.mark.attack("network", "a deployment without a locality, at an address of this machine")
def test_private_text_needs_a_stated_locality(inside, ask):
    args = {"base_url": inside.url}
    assert failures(ask(args, is_locality_stated=False)) == {FailureKind.DENIED}
    assert not inside.bodies
    public = ask(args, ("open",), AccessLevel.PUBLIC, is_locality_stated=False)
    assert failures(public) == {None}


@pytest.mark.attack("network", "a proxy of the deployment itself that is outside")
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_of_the_deployment_is_a_peer_too(scheme, inside, outside, ask):
    server = inside.url.replace("http", scheme, 1)
    assert failures(ask({"base_url": server, "proxy": outside.url})) == {FailureKind.DENIED}
    assert not outside.received


@pytest.mark.attack("network", "a server outside behind a proxy that is inside")
def test_what_stands_behind_a_proxy_is_looked_up(outside, inside, ask, resolve):
    proxy = inside.url.removesuffix("/v1")
    resolve(OUTSIDE)
    for server in (outside.url, f"https://{NAME}/v1", f"http://{NAME}/v1"):
        assert failures(ask({"base_url": server, "proxy": proxy})) == {FailureKind.DENIED}
    assert not inside.bodies
    assert not outside.received


@pytest.mark.parametrize("addresses", [(OUTSIDE, "127.0.0.1"), ("127.0.0.1", OUTSIDE)])
def test_of_a_names_addresses_only_those_inside_are_tried(addresses, inside, ask, tap, monkeypatch):
    port = int(inside.url.split(":")[2].partition("/")[0])
    received = tap(port)
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert failures(ask({"base_url": f"http://{NAME}:{port}/v1"})) == {None}
    assert len(inside.bodies) == 3
    assert not opened(received)


def test_a_name_and_a_password_in_an_address_are_not_sent(inside, ask):
    assert failures(ask({"base_url": inside.url.replace("//", "//me:pass@")})) == {None}
    assert inside.headers[0]["authorization"] == f"bearer {KEY}"
    assert "pass" not in repr(inside.headers) + repr(inside.paths)


def test_a_proxy_is_asked_with_the_login_that_it_needs(inside, ask, monkeypatch):
    monkeypatch.setenv("LOGIN", "me:pass")
    proxy = {"proxy": inside.url.removesuffix("/v1"), "proxy_login": "env:LOGIN"}
    results = ask({"base_url": "http://127.0.0.1:9/v1", **proxy})
    assert failures(results) == {None}
    assert set(inside.paths) == {"http://127.0.0.1:9/v1/chat/completions"}
    assert inside.headers[0]["proxy-authorization"] == "basic bwu6cgfzcw=="


class TlsServer(FaultServer):
    """The server with a certificate of its own for NAME."""

    def __init__(self, certificate: Path) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificate)
        super().__init__()

    async def _start(self) -> asyncio.Server:
        return await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate for NAME, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    begin = datetime.now(UTC) - timedelta(days=1)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, begin, begin + timedelta(days=9))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    pem = serialization.Encoding.PEM
    path = tmp_path / "server.pem"
    path.write_bytes(key.private_bytes(pem, form, plain) + made.public_bytes(pem))
    return path


@pytest.mark.attack("network", "a name that resolves outside, by TLS, and certificates by variable")
def test_tls_trusts_what_the_deployment_names(certificate, ask, resolve, tap, monkeypatch):
    server = TlsServer(certificate)
    port = int(server.url.split(":")[2].partition("/")[0])
    args = {"base_url": f"https://{NAME}:{port}/v1"}
    own = {**args, "ca_bundle": str(certificate)}
    resolve("127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert failures(ask(args)) == {FailureKind.UNREACHABLE}
    assert failures(ask(own)) == {None}
    received = tap(port)
    resolve(OUTSIDE)
    elsewhere = {**own, "timeout": 60.0}  # an engine without open connections
    assert failures(ask(elsewhere)) == {FailureKind.DENIED}
    assert not opened(received), "not even the greeting of TLS was sent"
    server.close()


class Tunnel:
    """A proxy that leads to a port of this machine, and keeps its requests."""

    def __init__(self, port: int) -> None:
        self.heads: list[str] = []
        self._port, self._loop = port, LoopThread("tunnel")
        listening = self._loop.submit(asyncio.start_server(self._serve, "127.0.0.1", 0)).result()
        self.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode().lower())
        there = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(self._pass(reader, there[1]), self._pass(there[0], writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while read := await reader.read(1 << 16):
            writer.write(read)
        writer.close()

    def close(self) -> None:
        self._loop.close()


def test_what_is_encrypted_goes_through_a_proxy_that_sees_its_own_login_alone(
    certificate, ask, resolve, monkeypatch
):
    monkeypatch.setenv("LOGIN", "me:pass")
    server = TlsServer(certificate)
    port = int(server.url.split(":")[2].partition("/")[0])
    tunnel = Tunnel(port)
    resolve("127.0.0.1")
    args = {"base_url": f"https://{NAME}:{port}/v1", "ca_bundle": str(certificate)}
    assert failures(ask({**args, "proxy": tunnel.url, "proxy_login": "env:LOGIN"})) == {None}
    assert len(server.bodies) == 3
    assert {head.partition("\r\n")[0] for head in tunnel.heads} == {
        f"connect {NAME}:{port} http/1.1"
    }
    assert all("proxy-authorization: basic bwu6cgfzcw==" in head for head in tunnel.heads)
    assert KEY not in repr(tunnel.heads)
    assert "proxy-authorization" not in repr(server.headers)
    tunnel.close()
    server.close()


def test_public_text_goes_where_its_deployment_says(outside, ask):
    results = ask(
        {"base_url": outside.url}, ("open",), AccessLevel.PUBLIC, locality=Locality.EXTERNAL
    )
    assert failures(results) == {None}
    assert outside.saw("open")


class Connected:
    """A connection between two addresses, that notes whether it was closed."""

    def __init__(self, peer: str, own: str = "10.20.0.9") -> None:
        self._ends = {"peername": (peer, 1), "sockname": (own, 2)}
        self.transport, self.protocol, self.is_closed = self, self, False

    def get_extra_info(self, name: str) -> Any:
        return self._ends.get(name)

    def close(self) -> None:
        self.is_closed = True


def connect(made: Any, server: str, reach: Reach, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What the client gets for a connection that was made."""

    async def make(*_: Any) -> Any:
        return made

    async def get() -> Any:
        connector = peers.PeerConnector(Wire(server=server), reach)
        try:
            return await connector.connect(None, None, None)
        finally:
            await connector.close()

    monkeypatch.setattr(aiohttp.TCPConnector, "connect", make)
    return asyncio.run(get())


TENANT = Reach(networks=(Network(cidr="10.20.0.0/16"),))
OPEN = Reach(networks=(Network(cidr="10.20.0.0/16", plain_http=True),))
DEFAULT = Reach(networks=(Network(cidr="127.0.0.0/8"),), own_machine=True)


@pytest.mark.attack("network", "private text by plain http to another machine")
@pytest.mark.parametrize(
    ("server", "reach", "peer", "reason"),
    [
        ("http://a/v1", TENANT, "10.20.0.5", "plain http outside this machine"),
        ("https://a/v1", TENANT, "10.20.0.5", ""),
        ("http://a/v1", OPEN, "10.20.0.5", ""),
        ("http://a/v1", OPEN, "::ffff:10.20.0.5", ""),
        ("http://a/v1", OPEN, "10.21.0.5", "in no network"),
        ("https://a/v1", TENANT, "::1", "in no network"),
        ("http://a/v1", DEFAULT, "127.0.0.1", ""),
        ("http://a/v1", DEFAULT, "10.20.0.9", ""),
        ("http://a/v1", DEFAULT, "10.20.0.5", "in no network"),
        ("https://a/v1", TENANT, "not an address", "in no network"),
    ],
)
def test_the_peer_decides_and_how_text_travels(server, reach, peer, reason, monkeypatch):
    made = Connected(peer)
    if not reason:
        assert connect(made, server, reach, monkeypatch) is made
        assert not made.is_closed
        return
    with pytest.raises(PeerError, match=reason):
        connect(made, server, reach, monkeypatch)
    assert made.is_closed


@pytest.mark.attack("network", "a connection that does not tell where it ends")
def test_a_connection_without_a_peer_is_not_used(monkeypatch):
    made = Connected("127.0.0.1")
    made.get_extra_info = lambda name: None  # type: ignore[method-assign]
    with pytest.raises(PeerError, match="in no network"):
        connect(made, "https://a/v1", DEFAULT, monkeypatch)
    assert made.is_closed


def test_certificates_of_ones_own(tmp_path):
    broken = tmp_path / "ca.pem"
    broken.write_text("none")
    with pytest.raises(SetupError, match=r"args\.ca_bundle names .*ca\.pem, which cannot be read"):
        peers.trusted(str(broken))
