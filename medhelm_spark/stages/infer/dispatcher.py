"""Which deployment a slot asks, and which chunk of the order it takes next: pure, with a clock.

Slots pull: a slot that is done takes the next chunk, so that no slot waits for another. Different
deployments have slots of their own at the same time, in proportion to their work. A slot whose
deployment has no work left goes to the deployment with the most work per slot, if that work takes
longer than an engine's start.
"""

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType

SMALLEST = 8
"""Requests of a chunk near the end: chunks are divided so that all slots end together."""

WORTH_A_START = 1.5
"""How many engine starts the work of a deployment has to take before another slot joins it."""

WORTH_LEAVING = 3.0
"""The same for a slot that waits for requests that answers bring: its engine is needed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Requests that a slot takes together: `rows` of record batch `number` of `file` in the order.

    If `is_follow_up`, answers brought its requests, and their own answers bring no others.
    """

    file: str
    number: int
    rows: Sequence[int]
    model_deployment: str
    tokens: float
    is_follow_up: bool = False

    @property
    def key(self) -> tuple[str, int, int]:
        """Identifies it among the open chunks."""
        return self.file, self.number, self.rows[0]

    def divided(self, requests: int) -> "tuple[Chunk, Chunk]":
        """Its first requests, and the others."""
        share = self.tokens * requests / len(self.rows)
        first = replace(self, rows=self.rows[:requests], tokens=share)
        return first, replace(self, rows=self.rows[requests:], tokens=self.tokens - share)

    def without(self, answered: Collection[int]) -> "Chunk | None":
        """The chunk without the rows that have an answer; None if no row is left."""
        rows = [row for row in self.rows if row not in answered]
        share = self.tokens * len(rows) / len(self.rows)
        return replace(self, rows=rows, tokens=share) if rows else None


@dataclass(slots=True)
class _Queue:
    """The chunks of one deployment that no slot has taken.

    `done` are the tokens of complete chunks, `busy` the seconds that slots took for them.
    """

    chunks: deque[Chunk] = field(default_factory=deque)
    requests: int = 0
    tokens: float = 0.0
    done: float = 0.0
    busy: float = 0.0
    is_given_up: bool = False

    def push(self, chunk: Chunk, *, is_first: bool = False) -> None:
        (self.chunks.appendleft if is_first else self.chunks.append)(chunk)
        self.requests += len(chunk.rows)
        self.tokens += chunk.tokens

    def give_up(self) -> None:
        self.chunks.clear()
        self.requests, self.tokens, self.is_given_up = 0, 0.0, True

    def pop(self, most: int) -> Chunk:
        chunk = self.chunks.popleft()
        if len(chunk.rows) > most:
            chunk, rest = chunk.divided(most)
            self.chunks.appendleft(rest)
        self.requests -= len(chunk.rows)
        self.tokens -= chunk.tokens
        return chunk


@dataclass(slots=True)
class _Slot:
    """The state of one slot."""

    model_deployment: str | None = None
    since: float = 0.0
    is_started: bool = False
    open: dict[tuple[str, int, int], Chunk] = field(default_factory=dict)


class Dispatcher:
    """Gives the chunks of some deployments to slots; not safe for threads by itself.

    Args:
        chunks: in the order in which the chunks of one deployment are taken.
        slots: how many slots pull; a slot with a higher number has nothing to do.
        clock: seconds.
        expected: the tokens that answers are expected to bring, by deployment (`add`). These
            deployments have slots from the beginning; if there are fewer slots than deployments,
            the others begin, so that an engine need not start twice.
    """

    def __init__(
        self,
        chunks: Iterable[Chunk],
        slots: int,
        clock: Callable[[], float] = time.monotonic,
        expected: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self._clock, self._expected = clock, frozenset(expected)
        self._queues: dict[str, _Queue] = {name: _Queue() for name in expected}
        self.add(chunks)
        self._slots = [_Slot() for _ in range(slots)]
        work = {name: queue.tokens for name, queue in self._queues.items()}
        whole = {name: tokens + expected.get(name, 0.0) for name, tokens in work.items()}
        self._first = shares(whole, slots, last=expected)
        self._only_expected = frozenset(name for name, tokens in work.items() if not tokens)
        self._starts: list[float] = []

    def add(self, chunks: Iterable[Chunk]) -> None:
        """Append chunks to the order, except those of deployments given up."""
        for chunk in chunks:
            queue = self._queues.setdefault(chunk.model_deployment, _Queue())
            if not queue.is_given_up:
                queue.push(chunk)

    def end(self) -> None:
        """Expect nothing more."""
        self._expected = self._only_expected = frozenset()

    def is_fed(self, slot: int) -> bool:
        """Whether answers may bring work for a slot."""
        return bool(self._expected) and slot < len(self._slots)

    def is_idle(self, slot: int) -> bool:
        """Whether a slot waits for a deployment to which only answers bring work."""
        return self.is_fed(slot) and self._is_kept(slot) and not self._slots[slot].open

    def brings_more(self, slots: Collection[int]) -> bool:
        """Whether answers may still bring follow-ups: of waiting chunks, or those of `slots`."""
        waits = (chunk for queue in self._queues.values() for chunk in queue.chunks)
        taken = (
            chunk
            for number in slots
            if number < len(self._slots)
            for chunk in self._slots[number].open.values()
            if not self._queues[chunk.model_deployment].is_given_up
        )
        return any(not chunk.is_follow_up for chunk in chain(waits, taken))

    def deployment(self, slot: int) -> str | None:
        """The deployment that a slot without work asks now; None if the slot is done."""
        if slot >= len(self._slots):
            return None
        state = self._slots[slot]
        name = self._best(slot)
        if name is None:
            return None
        if name != state.model_deployment:
            state.model_deployment, state.since, state.is_started = name, self._clock(), False
        return name

    def chunk(self, slot: int) -> Chunk | None:
        """The next chunk of the slot's deployment; None if none is left."""
        if slot >= len(self._slots):
            return None
        state = self._slots[slot]
        if state.model_deployment is None:
            return None
        if not state.is_started:
            state.is_started = True
            self._starts.append(self._clock() - state.since)
            state.since = self._clock()
        queue = self._queues[state.model_deployment]
        if not queue.chunks:
            return None
        chunk = queue.pop(self._most(state.model_deployment, queue))
        state.open[chunk.key] = chunk
        return chunk

    def done(self, slot: int, key: tuple[str, int, int]) -> None:
        """Note that all requests of a chunk have a result."""
        state = self._slots[slot]
        if chunk := state.open.pop(key, None):
            queue, at = self._queues[chunk.model_deployment], self._clock()
            queue.done += chunk.tokens
            queue.busy += at - state.since
            state.since = at

    def give_up(self, name: str) -> None:
        """Give out no more chunks of a deployment."""
        self._queues[name].give_up()

    def lost(self, slot: int) -> list[Chunk]:
        """The chunks that a slot had taken when its process ended; resets the slot."""
        if slot >= len(self._slots):
            return []
        state = self._slots[slot]
        self._slots[slot] = _Slot(model_deployment=state.model_deployment, since=self._clock())
        return list(state.open.values())

    def return_first(self, chunks: Iterable[Chunk]) -> None:
        """Put chunks back before the others, except those of deployments given up."""
        for chunk in chunks:
            queue = self._queues[chunk.model_deployment]
            if not queue.is_given_up:
                queue.push(chunk, is_first=True)

    @property
    def requests(self) -> Mapping[str, int]:
        """How many requests of each deployment no slot has taken."""
        return {name: queue.requests for name, queue in self._queues.items()}

    def _best(self, slot: int) -> str | None:
        state = self._slots[slot]
        if state.model_deployment is None and slot < len(self._first):
            planned = self._first[slot]
            if self._queues[planned].chunks or planned in self._only_expected:
                return planned
        if state.model_deployment and self._queues[state.model_deployment].chunks:
            return state.model_deployment
        if self._is_kept(slot):
            return state.model_deployment
        left = {name: queue for name, queue in self._queues.items() if queue.chunks}
        slots_of = {name: self._asking(name, slot) for name in left}
        bare = {name for name, slots in slots_of.items() if not slots}
        worth = {name for name in left if self._is_worth(name, slots_of[name])}
        found = bare - self._expected or bare or worth
        return max(
            found, key=lambda name: (left[name].tokens / (slots_of[name] + 1), name), default=None
        )

    def _is_kept(self, slot: int) -> bool:
        """Whether a slot stays with its first deployment, for work that only answers bring."""
        name = self._slots[slot].model_deployment
        is_first = slot < len(self._first) and self._first[slot] == name
        if not is_first or name not in self._only_expected or self._queues[name].is_given_up:
            return False
        return not any(
            queue.chunks
            and queue.busy
            and self._is_worth(other, self._asking(other, slot), WORTH_LEAVING)
            for other, queue in self._queues.items()
        )

    def _asking(self, name: str, but: int) -> int:
        return sum(
            state.model_deployment == name
            for number, state in enumerate(self._slots)
            if number != but
        )

    def _is_worth(self, name: str, slots: int, starts: float = WORTH_A_START) -> bool:
        """Whether a deployment's remaining work takes its slots longer than an engine's start."""
        queue = self._queues[name]
        start = sum(self._starts) / len(self._starts) if self._starts else 0.0
        if not queue.done or not queue.busy:
            return True
        return queue.tokens * queue.busy / queue.done / max(1, slots) > starts * start

    def _most(self, name: str, queue: _Queue) -> int:
        slots = max(1, sum(state.model_deployment == name for state in self._slots))
        return max(SMALLEST, queue.requests // (2 * slots) + 1)


def shares(work: Mapping[str, float], slots: int, last: Collection[str] = ()) -> list[str]:
    """The deployment that each slot begins with: in proportion to their work, one slot at least.

    With fewer slots than deployments, those with most work come first, those in `last` last.

    >>> shares({"a": 30.0, "b": 10.0, "c": 1.0}, 5)
    ['a', 'a', 'a', 'b', 'c']
    >>> shares({"a": 30.0, "b": 10.0, "c": 20.0}, 2)
    ['a', 'c']
    >>> shares({"a": 30.0, "b": 10.0}, 1, last=["a"])
    ['b']
    """
    by_work = sorted(work, key=lambda name: (name in last, -work[name], name))[:slots]
    count = dict.fromkeys(by_work, 1)
    for _ in range(slots - len(by_work) if by_work else 0):
        count[max(by_work, key=lambda name: work[name] / count[name])] += 1
    return [name for name in by_work for _ in range(count[name])]
