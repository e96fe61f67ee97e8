"""Judges' requests that join the order of the models while it is sent.

A slot that has an answer renders the judges' requests about it and writes them as chunks beside the
order; the driver reads only their ids. A Spark job could not plan them: slots occupy the cores
until the order is done. Requests that do not join (of a slot that died, or of an earlier answer)
are planned and sent by annotate, which finds answered requests by their ids.
"""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np
import pyarrow as pa

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.judged import JudgedInstance
from medhelm_spark.domain.request import RequestResult
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.rows import Frame, by_spark
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.channel import ChunkServer
from medhelm_spark.stages.infer.commits import AnsweredRequest
from medhelm_spark.stages.infer.dispatcher import Dispatcher
from medhelm_spark.stages.infer.order import OrderedChunk, OrderedRequest
from medhelm_spark.stages.infer.order_folder import OrderFolder

READY = 512
"""A judge begins with so many requests, or with fewer once the models have ended."""

NAMED = 5_000
"""Requests that one query looks up by their ids."""

SETTLED = "SELECT DISTINCT request_id FROM {request_results} WHERE request_id IN (@ids)"

DIGITS = 16
"""Digits of a request's id that are compared where no query can be made while slots ask."""

SETTLED_BEFORE = f"""
SELECT DISTINCT substring(request_id, 1, {DIGITS}) AS request_id FROM {{results}}
"""

SettledOf = Callable[[Collection[str]], set[str]]
"""Which of these requests have a result."""


class FollowAnswer(Protocol):
    """Makes the judges' requests about an answer; it is serialized with Spark's tasks."""

    def __call__(
        self, result: RequestResult, judged: Sequence[JudgedInstance]
    ) -> Iterable[OrderedRequest]:
        """The judges' requests about an answer to these instances."""


@dataclass(kw_only=True)
class FollowUps:
    """The judges to which answers bring requests, and the state of these requests.

    `judged` returns rows of JudgedInstance for the requests that are about to be sent. A judge's
    request has the tokens of the judged answer and those in `tokens`. `write_id` is the order that
    the requests joined, `asked` counts them by deployment, and `down` are the judges that stopped
    answering.
    """

    deployments: Mapping[str, Deployment]
    judged: Callable[[Context], Frame]
    requests: FollowAnswer
    tokens: Mapping[str, int]
    write_id: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    down: set[str] = field(default_factory=set)

    def expected(self, chunks: Iterable[OrderedChunk]) -> dict[str, float]:
        """The tokens that the answers to chunks are expected to bring, by deployment."""
        counts = [(chunk.judged, chunk.tokens / chunk.requests) for chunk in chunks]
        return {
            name: sum(count * (tokens + beside) for count, tokens in counts)
            for name, beside in self.tokens.items()
        }

    def expected_requests(self, chunks: Iterable[OrderedChunk]) -> int:
        """How many requests the answers to chunks bring: one per answer and judge."""
        return len(self.deployments) * sum(chunk.judged for chunk in chunks)

    def keep(self, names: Collection[str]) -> None:
        """Keep these deployments; annotate asks the others."""
        self.deployments = {name: self.deployments[name] for name in names}
        self.tokens = {name: self.tokens[name] for name in names}

    def note(self, write_id: str, joined: Mapping[str, int], down: Collection[str]) -> None:
        """Record which requests joined an order, and which deployments stopped answering."""
        self.write_id = write_id
        self.asked.update(joined)
        self.down |= self.deployments.keys() & down


class Joining:
    """Adds follow-ups to an order: slots list them, a thread of the driver adds them.

    Args:
        ctx: the lake.
        folder: where slots write them.
        settled: which of them have a result already.
        server: sends chunks to slots.
        dispatchers: by deployment that the job can ask, the dispatcher of its chunks.
        before: receives the list of new chunks before they can be sent.
    """

    def __init__(
        self,
        ctx: Context,
        folder: OrderFolder,
        settled: SettledOf,
        server: ChunkServer,
        dispatchers: Mapping[str, Dispatcher],
        before: Callable[[Sequence[OrderedChunk]], None],
    ) -> None:
        self._ctx, self._folder, self._server = ctx, folder, server
        self._settled = settled
        self._dispatchers, self._before = dispatchers, before
        self._listed: list[OrderedChunk] = []
        self._seen: set[str] = set()
        self._ended = threading.Event()
        self._is_open = True
        self.joined: Counter[str] = Counter()
        """Requests that joined, by deployment."""

    def list(self, chunks: Iterable[OrderedChunk]) -> None:
        """See channel.Listed."""
        self._listed += [each for each in chunks if each.model_deployment in self._dispatchers]

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Join what is ready while the body runs."""
        self._server.follow_ups = self
        thread = threading.Thread(target=self._repeat, name="medhelm-spark-judges", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def _repeat(self) -> None:
        try:
            while self._is_open and not self._ended.wait(0.2):
                self._step()
        except Exception as error:  # an error of the lake; annotate asks what has not joined
            self._ctx.say(f"judges begin when models have ended ({type(error).__name__})")
        finally:
            self._close()

    def _step(self) -> None:
        with self._server.changed:
            is_last = not self._server.brings_more()
            ready = ready_of(self._listed, 1 if is_last else READY)
            taken = [chunk for chunk in self._listed if chunk.model_deployment in ready]
            self._listed = [chunk for chunk in self._listed if chunk not in taken]
        if taken:
            self._take(taken)
        elif is_last:
            self._close()

    def _take(self, listed: Sequence[OrderedChunk]) -> None:
        """Add new requests only: two answers may have the same text."""
        ids = [self._folder.request_ids(chunk.whole) for chunk in listed]
        self._seen |= self._settled({name for group in ids for name in group} - self._seen)
        chunks = []
        for chunk, group in zip(listed, ids, strict=True):
            known = set()
            for row, name in enumerate(group):
                if name in self._seen:
                    known.add(row)
                self._seen.add(name)
            if rest := chunk.whole.without(known):
                chunks.append(rest)
        self._before(listed)
        with self._server.changed:
            for left in chunks:
                self.joined[left.model_deployment] += len(left.rows)
                self._dispatchers[left.model_deployment].add([left])
            self._server.changed.notify_all()

    def _close(self) -> None:
        with self._server.changed:
            self._is_open = False
            for dispatcher in self._dispatchers.values():
                dispatcher.end()
            self._server.changed.notify_all()


def ready_of(listed: Iterable[OrderedChunk], least: int) -> set[str]:
    """The deployments that have at least so many listed requests."""
    counts: Counter[str] = Counter()
    for chunk in listed:
        counts[chunk.model_deployment] += chunk.requests
    return {name for name, count in counts.items() if count >= least}


def settled_of(ctx: Context, deployments: Collection[str]) -> SettledOf:
    """Which requests to deployments have a result; annotate repeats failed ones at the end.

    A lake that this process reads itself is queried each time. Another lake needs a Spark job, for
    which slots leave no core: the beginnings of the ids are read now, before slots begin.
    """
    if ctx.lake.is_folder_of_ours:
        return partial(_settled_now, ctx)
    if not deployments:
        return lambda ids: set()
    rows = by_spark(ctx.lake.query(SETTLED_BEFORE, results=ctx.tried(deployments))).toArrow()
    return SettledBefore(rows["request_id"])


def _settled_now(ctx: Context, ids: Collection[str]) -> set[str]:
    names, found = sorted(ids), set[str]()
    for first in range(0, len(names), NAMED):
        sql = SETTLED.replace("@ids", literals(names[first : first + NAMED]))
        found |= {row.request_id for row in ctx.lake.rows(sql, AnsweredRequest)}
    return found


class SettledBefore:
    """The requests that had a result when the order began, by the beginnings of their ids.

    Another request whose id has the same beginning (one in a thousand billion, among ten million)
    counts as settled here, and annotate asks it. An id takes 16 bytes.
    """

    def __init__(self, beginnings: pa.ChunkedArray) -> None:
        parts = [np.array(part.to_pylist(), f"S{DIGITS}") for part in beginnings.chunks]
        self._sorted = np.sort(np.concatenate([np.array([], f"S{DIGITS}"), *parts]))

    def __call__(self, ids: Collection[str]) -> set[str]:
        names = sorted(ids)
        beginnings = np.array([name[:DIGITS] for name in names], f"S{DIGITS}")
        first = np.searchsorted(self._sorted, beginnings, "left")
        is_there = np.searchsorted(self._sorted, beginnings, "right") > first
        return {name for name, there in zip(names, is_there, strict=True) if there}
