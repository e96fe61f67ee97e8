"""Keeps a bounded number of requests in flight and yields results as they finish."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue

from medhelm_spark.domain.request import Request, RequestResult
from medhelm_spark.engines.engine import Gate
from medhelm_spark.engines.outcome import denied


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
