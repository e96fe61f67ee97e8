"""An order whose chunks slots cannot pull: the driver assigns the chunks, job by job.

A catalog has no folder; an object store and Spark Connect have none that driver and slots both see.
The order is then staged by Spark, a round is a job that asks some chunks, and its answers are
committed when it has ended. A round has as many chunks as the slots finish in about a minute.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import pyarrow as pa
from pyspark.sql import DataFrame

from medhelm_spark.domain.request import Request, RequestResult
from medhelm_spark.errors import EngineError
from medhelm_spark.lake.columnar import arrow_schema, ddl
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.progress import Watch
from medhelm_spark.lake.reader import as_schema
from medhelm_spark.lake.rows import (
    Frame,
    by_spark,
    map_batches,
    map_rows,
    plain_errors,
    rows_of,
    sorted_rows,
)
from medhelm_spark.lake.staging import order_name, staged_name
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.infer.asking import AskEngines
from medhelm_spark.stages.infer.denied import record_denied
from medhelm_spark.stages.infer.dispatch_log import record_begun
from medhelm_spark.stages.infer.groups import Group, Stream
from medhelm_spark.stages.infer.order import OrderedChunk, OrderedRequest, chunks_of, in_order
from medhelm_spark.stages.infer.outage import cut_short
from medhelm_spark.stages.infer.partitions import numbers_for
from medhelm_spark.stages.infer.pending import InferenceTargets
from medhelm_spark.stages.infer.throughput import record_asked

ROUND_SECONDS = 60.0
"""How long a round should take: a killed driver loses so much work at most."""

MOST_GROWTH = 16.0
"""A round may have so many times as many chunks as the last one."""

LISTED = """
SELECT file, number, model_deployment, count(*) AS requests,
       CAST(sum(estimated_tokens) AS BIGINT) AS tokens, max(decoding.max_tokens) AS longest,
       max(tries) > 0 AS was_tried,
       count_if(access_level = 'public') AS public, count_if(access_level = 'gated') AS gated,
       count_if(access_level = 'private') AS private, CAST(0 AS BIGINT) AS judged,
       false AS is_follow_up
FROM {rows} GROUP BY file, number, model_deployment
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedRequest(OrderedRequest):
    """A request with its chunk and its position in the chunk."""

    file: str
    number: int
    place: int


@dataclass(frozen=True, slots=True)
class NumberChunks:
    """Requests in order in, requests with their chunks out; `most` is a chunk's size."""

    most: int

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        file, schema = new_write_id(), arrow_schema(NumberedRequest)
        for number, chunk in enumerate(chunks_of(batches, self.most)):
            size = len(chunk)
            own = {"file": [file] * size, "number": [number] * size, "place": range(size)}
            for name, values in own.items():
                chunk = chunk.append_column(schema.field(name), [values])
            yield from as_schema(chunk, schema).to_batches()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dealt:
    """The slot that asks a chunk in a round, and when among its chunks."""

    file: str
    number: int
    slot: int
    rank: int


@dataclass(frozen=True, slots=True)
class AskInTurn:
    """The function of a round: requests in, sorted by deployment, results out."""

    asking: AskEngines

    def __call__(self, requests: Iterable[Request]) -> Iterator[RequestResult]:
        gate = self.asking.gate()
        for name, group in groupby(requests, key=attrgetter("model_deployment")):
            yield from self.asking.results(name, group, gate)


class DealtOrder:
    """An order that Spark stages, asked in rounds."""

    def __init__(self, ctx: Context, recipients: InferenceTargets) -> None:
        self._ctx, self._recipients = ctx, recipients
        self._name = order_name(ctx.suite, ctx.holder, new_write_id())
        self._size = 0
        self.stored = 0
        """The number of requests of committed rounds."""

    def make(self, rows: Frame) -> list[OrderedChunk]:
        """Stage the order; returns its chunks, as they are taken."""
        number = NumberChunks(self._ctx.chunk_requests)
        staging = self._ctx.lake.staging
        with plain_errors():
            numbered = map_batches(rows, number, OrderedRequest, NumberedRequest)
            staging.write(self._name, by_spark(numbered))
        return in_order(rows_of(self._ctx.lake.query(LISTED, rows=self._staged()), OrderedChunk))

    def ask(self, chunks: Sequence[OrderedChunk], group: Group, watch: Watch) -> set[str]:
        """Ask the chunks of a group; returns the deployments that stopped answering."""
        down: set[str] = set()
        for stream in group:
            for deployment in stream.deployments:
                left = [each for each in chunks if each.model_deployment == deployment.name]
                self._size = stream.slots.count
                while left and deployment.name not in down:
                    taken, left = left[: self._size], left[self._size :]
                    began = time.monotonic()
                    down |= self._round(taken, stream, watch)
                    self._size = next_size(len(taken), time.monotonic() - began, stream.slots.count)
        return down

    def end(self) -> None:
        """Remove the order."""
        self._ctx.lake.staging.remove(self._name)

    def _staged(self) -> DataFrame:
        return self._ctx.lake.staging.read(self._name, ddl(NumberedRequest))

    def _round(self, chunks: Sequence[OrderedChunk], stream: Stream, watch: Watch) -> set[str]:
        """Ask some chunks by one job and commit the answers."""
        ctx, slots, started_at = self._ctx, stream.slots, now()
        write_id, deployments = new_write_id(), stream.shared
        whole = {name: self._recipients.deployments[name] for name in deployments}
        record_begun(ctx, write_id, chunks, whole, is_ended=True)
        numbers = numbers_for(slots.count)
        dealt = [
            Dealt(file=chunk.file, number=chunk.number, slot=numbers[slot], rank=rank)
            for rank, (chunk, slot) in enumerate(
                zip(chunks, dealt_to(chunks, slots.count), strict=True)
            )
        ]
        here = by_spark(ctx.lake.frame(dealt, Dealt))
        rows = self._staged().join(here, ["file", "number"])
        order = ("model_deployment", "rank", "place")
        ordered = by_spark(sorted_rows(rows, *order, partitions=slots.count, by=("slot",)))
        asking = AskEngines(deployments, self._recipients.policy, ctx.lake.node_addresses)
        requests = ordered.select(*Request.__dataclass_fields__)
        ask = watch(AskInTurn(asking))
        results = by_spark(
            map_rows(
                requests,
                ask,
                Request,
                RequestResult,
                slots.needs,
                own_workers=stream.is_on_gpus,
            )
        )
        count = sum(chunk.requests for chunk in chunks)
        staged = staged_name(ctx.suite, ctx.holder, write_id)
        ctx.lake.append_once("request_results", results, write_id, staged=staged)
        self.stored += count
        count_of_slots = dict.fromkeys(deployments, slots.count)
        seconds = dict.fromkeys(deployments, (now() - started_at).total_seconds())
        outcomes = record_asked(ctx, write_id, started_at, count_of_slots, seconds)
        record_denied(ctx, write_id, outcomes, deployments, self._recipients.policy)
        name = chunks[0].model_deployment
        if not outcomes:
            engine = deployments[name].engine
            raise EngineError(f"engine {engine!r} returned no result for {count} requests.")
        return cut_short({name: count}, outcomes)


def dealt_to(chunks: Sequence[OrderedChunk], slots: int) -> list[int]:
    """For each chunk the slot that has the least work when it is assigned."""
    work = [0] * slots
    found = []
    for chunk in chunks:
        slot = min(range(slots), key=lambda each: (work[each], each))
        work[slot] += max(1, chunk.tokens)
        found.append(slot)
    return found


def next_size(chunks: int, seconds: float, slots: int) -> int:
    """How many chunks the next round has, after one that took so many seconds.

    >>> next_size(2, 3.0, 2), next_size(40, 240.0, 2), next_size(2, 0.1, 2)
    (32, 10, 32)
    """
    factor = min(MOST_GROWTH, ROUND_SECONDS / max(seconds, 0.001))
    return max(slots, round(chunks * factor))
