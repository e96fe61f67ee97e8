"""A function of many items in some threads, for work that leaves Python's lock to others."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")
Input = TypeVar("Input")
Output = TypeVar("Output")

AHEAD = 2
"""How many items a thread has waiting or done: what is in memory does not grow with all of them."""


def in_threads(
    fn: Callable[[Input], Output], items: Iterable[Input], threads: int
) -> Iterator[Output]:
    """The function's results, in the items' order; with one thread this thread computes them."""
    if threads == 1:
        yield from map(fn, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        pending: deque[Future[Output]] = deque()
        for item in items:
            pending.append(pool.submit(fn, item))
            if len(pending) > AHEAD * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def made_ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The items, each made by a thread of its own while the one before is used."""
    each, ended = iter(items), object()
    with ThreadPoolExecutor(1) as pool:
        coming: Future[Any] = pool.submit(next, each, ended)
        while (item := coming.result()) is not ended:
            coming = pool.submit(next, each, ended)
            yield item
