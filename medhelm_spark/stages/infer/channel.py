"""How slots ask the driver for chunks: lines of JSON over TCP, with a token; no text travels.

The driver listens while a job runs. A slot sends which attempt of which task it is, that it needs
a deployment or a chunk, that a chunk is done, which chunks its answers brought, that a deployment
does not answer. A slot without work waits if answers to other slots may bring some.
"""

import json
import logging
import secrets
import socket
import socketserver
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from medhelm_spark.errors import EngineError
from medhelm_spark.stages.infer.dispatcher import Chunk, Dispatcher
from medhelm_spark.stages.infer.order import OrderedChunk

LOG = logging.getLogger(__name__)
CONNECT_SECONDS = 20.0
LOOK_SECONDS = 0.5
"""How often a waiting slot checks for work, if nothing has changed."""
CHUNKS_OF_A_LINE = 64
LONGEST_LINE = 1 << 20
"""Bytes of a message: more than the row numbers of the largest chunk take."""
Unanswered = Callable[[Iterable[Chunk]], list[Chunk]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the driver listens; `token` is the job's own."""

    host: str
    port: int
    token: str


class Listed(Protocol):
    """Takes the chunks that answers brought."""

    def list(self, chunks: Iterable[OrderedChunk]) -> None:
        """Take chunks that a slot has written; `ChunkServer.changed` is held."""


class ChunkServer:
    """The driver's end: one dispatcher per stream, each a set of deployments asked in turn.

    `unanswered` returns the unanswered rest of chunks whose process ended. If `is_cancelled`, slots
    get no more chunks. `changed` is held while a dispatcher is read or gets chunks, and notified
    when it has got some; `follow_ups` takes the chunks that answers bring.
    """

    def __init__(
        self,
        host: str,
        streams: Mapping[str, Dispatcher],
        unanswered: Unanswered,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._streams, self._unanswered, self._is_cancelled = streams, unanswered, is_cancelled
        self.changed = threading.Condition()
        self.follow_ups: Listed | None = None
        self._attempts: dict[int, int] = {}
        self._connected: dict[str, Counter[int]] = {}
        self._is_closed = False
        self.down: set[str] = set()
        self._server = _server(host, self._serve)
        port = int(self._server.server_address[1])
        self.address = Address(host=host, port=port, token=secrets.token_hex(16))
        self._thread = threading.Thread(
            target=self._server.serve_forever,
            kwargs={"poll_interval": 0.1},
            name="medhelm-spark-chunks",
            daemon=True,
        )
        self._thread.start()

    def close(self) -> None:
        """Send no more chunks and stop listening."""
        with self.changed:
            self._is_closed = True
            self.changed.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def brings_more(self) -> bool:
        """Whether later answers may bring follow-ups; the caller holds `changed`.

        It does not wait for a process that ended: its task needs a core, which a waiting slot has.
        """
        for name, stream in self._streams.items():
            counts = self._connected.get(name)  # None: no slot has connected yet
            slots = [slot for slot, count in (counts or {}).items() if count]
            if (slots or counts is None) and stream.brings_more(slots):
                return True
        return False

    def _serve(
        self,
        lines: Any,
        reply: Callable[[Mapping[str, Any]], None],
        is_known: Callable[[], None],
    ) -> None:
        hello = _read(lines)
        if not secrets.compare_digest(str(hello.get("token", "")), self.address.token):
            return
        is_known()
        slot, attempt = int(hello["slot"]), int(hello["attempt"])
        with self._counted(hello["stream"], slot):
            reply(self._begin(slot, attempt))
            while message := _read(lines):
                reply(self._answer(slot, attempt, message))

    @contextmanager
    def _counted(self, stream: str, slot: int) -> Iterator[None]:
        """Count a connection of a slot while it is open."""
        with self.changed:
            counts = self._connected.setdefault(stream, Counter())
            counts[slot] += 1
        try:
            yield
        finally:
            with self.changed:
                counts[slot] -= 1
                self.changed.notify_all()

    def _begin(self, slot: int, attempt: int) -> Mapping[str, Any]:
        """A slot's process begins, or connects again: chunks of an earlier process are free."""
        with self.changed:
            before = self._attempts.setdefault(slot, attempt)
            if attempt > before:
                self._attempts[slot] = attempt
                for stream in self._streams.values():
                    stream.return_first(self._unanswered(stream.lost(slot)))
        return {}

    def _answer(self, slot: int, attempt: int, message: Mapping[str, Any]) -> Mapping[str, Any]:
        with self.changed:
            stream = self._streams[message["stream"]]
            if message["op"] == "deployment":
                return {"deployment": self._deployment(stream, slot, attempt)}
            if self._is_over(slot, attempt):
                return {}
            if message["op"] == "chunk":
                chunk = self._chunk(stream, slot, attempt)
                return {} if chunk is None else _as_json(chunk)
            if message["op"] == "done":
                file, number, row = message["chunk"]
                stream.done(slot, (file, number, row))
            elif message["op"] == "follow" and self.follow_ups:
                self.follow_ups.list(OrderedChunk(**each) for each in message["chunks"])
            elif message["op"] == "down":
                self.down.add(message["deployment"])
                stream.give_up(message["deployment"])
            return {}

    def _deployment(self, stream: Dispatcher, slot: int, attempt: int) -> str | None:
        """The deployment that a slot asks next; waits if other slots may bring it work."""
        while not self._is_over(slot, attempt):
            name = stream.deployment(slot)
            if name is not None or not stream.is_fed(slot):
                return name
            self.changed.wait(LOOK_SECONDS)
        return None

    def _chunk(self, stream: Dispatcher, slot: int, attempt: int) -> Chunk | None:
        """A slot's next chunk; waits if its engine has started before its work exists."""
        while not self._is_over(slot, attempt):
            chunk = stream.chunk(slot)
            if chunk is not None or not stream.is_idle(slot):
                return chunk
            self.changed.wait(LOOK_SECONDS)
        return None

    def _is_over(self, slot: int, attempt: int) -> bool:
        return self._is_closed or self._is_cancelled() or attempt != self._attempts[slot]


class ChunkClient:
    """A slot's end; one for each stream and thread."""

    def __init__(self, address: Address, slot: int, attempt: int, stream: str) -> None:
        self._stream, self._lock = stream, threading.Lock()
        try:
            self._socket = socket.create_connection((address.host, address.port), CONNECT_SECONDS)
        except OSError as error:
            raise EngineError(
                f"the driver cannot be reached at {address.host}:{address.port} "
                f"({type(error).__name__}): executors need a way to the driver's ports."
            ) from None
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lines = self._socket.makefile("rb")
        self._ask(token=address.token, slot=slot, attempt=attempt)

    def deployment(self) -> str | None:
        """The deployment to ask now; None if this slot is done."""
        name = self._ask(op="deployment").get("deployment")
        return None if name is None else str(name)

    def chunk(self, deployment: str) -> Chunk | None:
        """The next chunk of the deployment that `deployment` returned last."""
        fields = self._ask(op="chunk")
        return Chunk(**fields, model_deployment=deployment, tokens=0.0) if fields else None

    def done(self, chunk: Chunk) -> None:
        """Report that all requests of a chunk have a result."""
        self._ask(op="done", chunk=chunk.key)

    def follow(self, chunks: Sequence[OrderedChunk]) -> None:
        """Report chunks that answers brought, which are in the order's folder."""
        for first in range(0, len(chunks), CHUNKS_OF_A_LINE):
            part = chunks[first : first + CHUNKS_OF_A_LINE]
            self._ask(op="follow", chunks=[asdict(chunk) for chunk in part])

    def down(self, deployment: str) -> None:
        """Report that a deployment does not answer: no slot will ask it."""
        self._ask(op="down", deployment=deployment)

    def close(self) -> None:
        """Close the connection."""
        self._lines.close()
        self._socket.close()

    def _ask(self, **message: Any) -> dict[str, Any]:
        question = json.dumps({**message, "stream": self._stream}).encode() + b"\n"
        try:
            with self._lock:  # one thread asks for chunks, another reports those that are done
                self._socket.sendall(question)
                line = self._lines.readline(LONGEST_LINE)
        except OSError:
            line = b""
        if not line:
            raise EngineError("the driver has ended the connection: this slot asks nothing more.")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _as_json(chunk: Chunk) -> dict[str, Any]:
    fields = {"file": chunk.file, "number": chunk.number, "rows": list(chunk.rows)}
    return fields | {"is_follow_up": chunk.is_follow_up}


def _read(lines: Any) -> Mapping[str, Any]:
    """The next line; empty at the end, and for a line that is no JSON object."""
    try:
        message = json.loads(lines.readline(LONGEST_LINE) or b"{}")
    except (OSError, ValueError):
        return {}
    return message if isinstance(message, dict) else {}


def _server(host: str, serve: Callable[[Any, Any, Any], None]) -> socketserver.ThreadingTCPServer:
    class SlotConnection(socketserver.StreamRequestHandler):
        disable_nagle_algorithm = True

        def handle(self) -> None:
            def reply(answer: Mapping[str, Any]) -> None:
                self.wfile.write(json.dumps(answer).encode() + b"\n")

            # A client that does not identify itself at once is disconnected.
            self.connection.settimeout(CONNECT_SECONDS)
            try:
                serve(self.rfile, reply, lambda: self.connection.settimeout(None))
            except (OSError, KeyError, TypeError, ValueError):  # the other end ended, or is another
                return
            except Exception as error:  # for example of a commit; Spark repeats the slot's task
                LOG.warning("a slot cannot be answered: %s", type(error).__name__)

    class Listener(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 256

    return Listener((host, 0), SlotConnection)
