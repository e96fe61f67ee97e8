"""The work of a slot: take a chunk of the order, ask, write the answers, take another.

Answers go to a file as soon as there are as many as in a chunk, or two seconds after the first: if
this process ends, the requests in flight are lost and at most one chunk of answers (tests:
tests/spark/test_ended_jvm.py and tests/unit/stages/test_pulling.py).
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter

from medhelm_spark.domain.judged import JudgedInstance
from medhelm_spark.domain.request import Request, RequestResult
from medhelm_spark.engines import Gate
from medhelm_spark.engines.worker import task_context
from medhelm_spark.errors import EngineError
from medhelm_spark.lake.columnar import encode_batch
from medhelm_spark.lake.progress import Watch, unwatched
from medhelm_spark.stages.infer.asking import AskEngines
from medhelm_spark.stages.infer.channel import Address, ChunkClient
from medhelm_spark.stages.infer.dispatcher import Chunk
from medhelm_spark.stages.infer.follow_ups import FollowAnswer
from medhelm_spark.stages.infer.order import OrderedRequest
from medhelm_spark.stages.infer.order_folder import OrderFolder

WRITE_SECONDS = 2.0
"""How long an answer waits for others before it is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A task of the job, by its number."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotDone:
    """A slot that has no more requests, with the number of its results."""

    number: int
    results: int


def _as_they_are(results: Iterable[RequestResult]) -> Iterable[RequestResult]:
    return results


@dataclass(frozen=True, slots=True, kw_only=True)
class PullChunks:
    """The function of the job: slots in, and out when they are done.

    `streams` names the streams of the job: a slot asks the deployments of one stream one after the
    other, and works on all streams at once. `most` is how many answers a file has. `follow` makes
    the requests that an answer brings. `watch` counts the results for the display of progress.
    """

    asking: AskEngines
    address: Address
    folder: OrderFolder
    streams: Sequence[str]
    most: int
    follow: FollowAnswer | None = None
    watch: Watch = unwatched

    def __call__(self, slots: Iterable[Slot]) -> Iterator[SlotDone]:
        context = task_context()
        attempt = int(context.taskAttemptId()) if context else 0
        try:
            for slot in slots:
                yield SlotDone(number=slot.number, results=self._pull(slot.number, attempt))
        finally:
            self.folder.close()

    def _pull(self, slot: int, attempt: int) -> int:
        if len(self.streams) == 1:
            return self._stream(slot, attempt, self.streams[0])
        return sum(
            in_threads([partial(self._stream, slot, attempt, each) for each in self.streams])
        )

    def _stream(self, slot: int, attempt: int, stream: str) -> int:
        client, gate, results = (
            ChunkClient(self.address, slot, attempt, stream),
            self.asking.gate(),
            0,
        )
        try:
            prefix = f"{slot}-{attempt}-{self.streams.index(stream)}"
            with AnswerWriter(self.folder, prefix, self.most, client) as answers:
                while (name := client.deployment()) is not None:
                    results += self._ask(name, client, answers, gate)
        finally:
            client.close()
        return results

    def _ask(self, name: str, client: ChunkClient, answers: "AnswerWriter", gate: Gate) -> int:
        """Ask a deployment until its queue is empty or it does not answer."""
        taken = Taken(self.folder, client, name, is_judged=self.follow is not None)
        count, has_failed = 0, False
        for result in self.watch(_as_they_are)(self.asking.results(name, taken, gate)):
            count += 1
            failure = result.failure
            has_failed = has_failed or bool(failure and failure.is_infrastructure)
            completed, judged = taken.answered(result.request_id)
            answers.add(result, completed, self._followed(result, judged))
        answers.write()
        if taken.open and not has_failed:
            engine = self.asking.deployments[name].engine
            raise EngineError(
                f"engine {engine!r} returned no result for {len(taken.open)} requests."
            )
        if has_failed and (taken.open or taken.has_more):
            client.down(name)
        return count

    def _followed(
        self, result: RequestResult, judged: Sequence[JudgedInstance]
    ) -> Iterable[OrderedRequest]:
        if self.follow is None or not judged or not result.is_answer:
            return ()
        try:
            return list(self.follow(result, judged))
        except Exception:  # annotate plans these requests too, and raises the error
            return ()


def in_threads(parts: Sequence[Callable[[], int]]) -> list[int]:
    """The results of parts, each computed in a thread that ends with the process.

    Raises:
        Exception: the first part's error, after all parts have ended.
    """
    results: list[Future[int]] = [Future() for _ in parts]

    def compute(part: Callable[[], int], result: Future[int]) -> None:
        try:
            result.set_result(part())
        except BaseException as error:
            result.set_exception(error)

    for part, result in zip(parts, results, strict=True):
        threading.Thread(target=compute, args=(part, result), daemon=True).start()
    wait(results)
    return [result.result() for result in results]


@dataclass(slots=True)
class Taken:
    """The requests of the chunks that a slot takes for a deployment; `open` have no result yet.

    `has_more` is true until the last chunk is taken: an outage may end with the last request of a
    chunk.
    """

    folder: OrderFolder
    client: ChunkClient
    name: str
    is_judged: bool = False
    open: dict[str, Chunk] = field(default_factory=dict)
    has_more: bool = True
    _judged: dict[str, list[JudgedInstance]] = field(default_factory=dict)
    _left: dict[tuple[str, int, int], int] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Request]:
        while (chunk := self.client.chunk(self.name)) is not None:
            requests = self.folder.requests(chunk)
            self._left[chunk.key] = len(requests)
            taken = dict.fromkeys((each.request_id for each in requests), chunk)
            self.open.update(taken)
            if self.is_judged and not chunk.is_follow_up:
                for judged in (
                    each for each in self.folder.judged(chunk) if each.request_id in taken
                ):
                    self._judged.setdefault(judged.request_id, []).append(judged)
            yield from requests
        self.has_more = False

    def answered(self, request_id: str) -> tuple[Chunk | None, Sequence[JudgedInstance]]:
        """Record a result; returns the chunk that it completes and the judged instances."""
        chunk, judged = self.open.pop(request_id, None), self._judged.pop(request_id, ())
        if chunk is None:
            return None, judged
        self._left[chunk.key] -= 1
        return (None if self._left[chunk.key] else chunk), judged


class AnswerWriter:
    """Writes the answers of a slot to files, and reports the chunks that they complete.

    A chunk is reported as done once its answers are in files, and the requests that they bring are
    listed.
    """

    def __init__(self, folder: OrderFolder, prefix: str, most: int, client: ChunkClient) -> None:
        self._folder, self._prefix, self._most, self._client = folder, prefix, most, client
        self._rows: list[RequestResult] = []
        self._followed: list[OrderedRequest] = []
        self._done: list[Chunk] = []
        self._since, self._files = 0.0, 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._writer = threading.Thread(
            target=self._write_old, name="medhelm-spark-answers", daemon=True
        )

    def __enter__(self) -> "AnswerWriter":
        self._writer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._writer.join()
        self.write()

    def add(
        self,
        result: RequestResult,
        completed: Chunk | None,
        followed: Iterable[OrderedRequest] = (),
    ) -> None:
        """Take a result, the chunk that it completes, and the requests that it brings."""
        with self._lock:
            if not self._rows:
                self._since = time.monotonic()
            self._rows.append(result)
            self._followed += followed
            if completed is not None:
                self._done.append(completed)
            if len(self._rows) >= self._most:
                self._write()

    def write(self) -> None:
        """Write the answers that are waiting."""
        with self._lock:
            self._write()

    def _write(self) -> None:
        if self._rows:
            self._folder.write_answers(f"{self._prefix}-{self._files:08d}", self._rows)
            self._files += 1
            self._rows = []
        if self._followed:
            ordered = sorted(self._followed, key=attrgetter("model_deployment", "together"))
            rows = [encode_batch(OrderedRequest, ordered)]
            self._client.follow(self._folder.write_requests(rows, self._most, is_follow_up=True))
            self._followed = []
        done, self._done = self._done, []
        for chunk in done:
            self._client.done(chunk)

    def _write_old(self) -> None:
        while not self._ended.wait(WRITE_SECONDS / 4):
            with self._lock:
                if self._rows and time.monotonic() - self._since >= WRITE_SECONDS:
                    try:
                        self._write()
                    except Exception:  # the next write, in the task's own thread, raises it
                        return
