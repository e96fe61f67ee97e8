"""Keeps a bounded number of requests in flight and yields results as they finish.

`stream` is for engines that compute by themselves and answer with futures, `feed` for those that
compute only while their caller steps them.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from itertools import islice
from queue import SimpleQueue
from typing import Any, Protocol

from medhelm_spark.domain.request import FailureKind, Request, RequestResult
from medhelm_spark.engines.engine import Gate
from medhelm_spark.engines.outcome import denied, failed

# A little more than runs at once, so that a finished sequence's place never waits for us; much more
# only fills the memory.
QUEUED = 1.1
ADDED_AT_ONCE = 64
"""So many requests are added between two steps: an idle engine begins before all are rendered."""


def stream(
    requests: Iterable[Request],
    gate: Gate,
    ask: Callable[[Request], "Future[RequestResult]"],
    *,
    limit: int,
    fingerprint: str,
) -> Iterator[RequestResult]:
    """Asks the gate, starts requests by `ask` and yields results in the order they finish.

    Requests are pulled and the gate is asked in the caller's thread: Spark's input belongs to it.
    At most `limit` are unfinished at any time, whatever the number of requests. When the caller
    stops early, or one future raises, what is still in flight is cancelled.
    """
    done: SimpleQueue[Future[RequestResult]] = SimpleQueue()
    in_flight: set[Future[RequestResult]] = set()

    def take() -> RequestResult:
        future = done.get()
        in_flight.discard(future)
        return future.result()

    try:
        for request in requests:
            if not gate(request).allowed:
                yield denied(request, fingerprint)
                continue
            future = ask(request)
            in_flight.add(future)
            future.add_done_callback(done.put)
            while len(in_flight) >= limit or not done.empty():
                yield take()
        while in_flight:
            yield take()
    finally:
        for future in in_flight:
            future.cancel()


class RefusedError(Exception):
    """The engine does not take one request; the kind says why."""

    def __init__(self, kind: FailureKind) -> None:
        super().__init__(kind.value)
        self.kind = kind


class Stepped(Protocol):
    """An engine that computes only while it is stepped."""

    def add(self, request: Request) -> str:
        """Queues a request; returns its key. Raises RefusedError for this request alone."""
        ...

    def step(self) -> Sequence[tuple[str, Any]]:
        """Computes a token of every running sequence; returns what finished, by key."""
        ...

    def abort(self, keys: Sequence[str]) -> None: ...

    def result(self, request: Request, output: Any, seconds: float) -> RequestResult: ...


def in_flight(max_num_seqs: int) -> int:
    """How many requests an engine should have at once."""
    return max(2, round(QUEUED * max_num_seqs))


def feed(
    requests: Iterable[Request], gate: Gate, engine: Stepped, *, limit: int, fingerprint: str
) -> Iterator[RequestResult]:
    """Yields results as they finish; pulls a request only when there is room for it.

    A synchronous batch would wait for its longest answer while the rest of the engine idles. Here a
    new request goes in as soon as one is finished, over the borders of Arrow batches.
    At most `limit` requests are unfinished, whatever their number. The gate is asked just before
    a request goes in. When the caller stops early, what is unfinished is aborted.
    """
    source = iter(requests)
    waiting: dict[str, tuple[Request, float]] = {}
    try:
        while True:
            taken = 0
            for request in islice(source, min(ADDED_AT_ONCE, limit - len(waiting))):
                taken += 1
                if not gate(request).allowed:
                    yield denied(request, fingerprint)
                    continue
                try:
                    waiting[engine.add(request)] = (request, time.perf_counter())
                except RefusedError as error:
                    yield failed(request, error.kind, fingerprint)
            if not waiting:
                if not taken:
                    return
                continue
            for key, output in engine.step():
                request, started = waiting.pop(key)
                yield engine.result(request, output, time.perf_counter() - started)
    finally:
        if waiting:
            engine.abort(list(waiting))
