"""The send order: every pending request once, with its prompt and level, in chunks.

One Spark job makes it when inference begins, and nothing is planned again until it is done. The
requests of a chunk are together in a file; the driver has only the list of the chunks.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.judged import JudgedInstance
from medhelm_spark.domain.request import Purpose, Request
from medhelm_spark.lake.condition import one_of
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.rows import DESCENDING, Frame, sorted_rows
from medhelm_spark.policy.levels import strictest_sql
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.infer.dispatcher import Chunk
from medhelm_spark.stages.infer.pending import InferenceTargets, pending_of
from medhelm_spark.stages.states import DataOf, few_asked, requests_of

ROWS_OF_A_TASK = 10_000
"""Requests that one task of the job writes: with their texts some ten MB."""

BROADCAST_ROWS = 100_000
"""Requests without text that each executor may be given whole: some 30 MB."""

DATA_OF = """
SELECT DISTINCT run_spec_id, run_spec['data_version'] AS data_version FROM {run_specs}
WHERE run_spec_id IN (@units)
"""

# A request has the strictest level of itself, its prompt and all its instances; an instance that is
# missing makes it private.
LEVELLED = f"""
SELECT q.* EXCEPT (access_level),
       {strictest_sql("q.access_level", "i.access_level")} AS access_level
FROM {{planned}} q
LEFT JOIN {{data}} s ON s.run_spec_id = q.run_spec_id
LEFT JOIN {{instances}} i ON i.data_version = s.data_version AND i.instance_id = q.instance_id
 AND i.perturbation = q.perturbation
"""

WITH_TEXT = f"""
SELECT @join w.* EXCEPT (access_level), p.messages, p.text,
       {strictest_sql("w.access_level", "p.access_level")} AS access_level,
       CAST(0 AS BIGINT) AS attempts
FROM (SELECT @parts * FROM {{pending}}) w
JOIN (SELECT @parts prompt_id, access_level, messages, text FROM {{prompts}}) p
  ON p.prompt_id = w.prompt_id
"""

_JUDGED = ", ".join(f"'{each.name}', {each.name}" for each in fields(JudgedInstance))
WITH_JUDGED = f"""
SELECT w.*, j.judged FROM {{rows}} w LEFT JOIN (
    SELECT request_id, collect_list(named_struct({_JUDGED})) AS judged
    FROM {{judged}} GROUP BY request_id) j ON j.request_id = w.request_id
"""

ORDER_COLUMNS = (
    "model_deployment",
    "tries > 0",
    f"decoding.max_tokens{DESCENDING}",
    "text",
    "messages",
    "prompt_id",
    "request_id",
)
"""What the position of a request in the order depends on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedRequest(Request):
    """A request with the fields that decide its position; `tries` counts earlier ones."""

    estimated_tokens: int
    tries: int
    together: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRequest(OrderedRequest):
    """A request with the instances whose answers judges read; None if no judge is asked."""

    judged: tuple[JudgedInstance, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedChunk:
    """A chunk of the order as the driver lists it, without text.

    Its requests are record batch `number` of `file`. `longest` is the largest `max_tokens` among
    them; `was_tried` says that they failed before. Three fields count requests by level. `judged`
    counts the instances that judges read with the answers. If `is_follow_up`, answers brought it
    into the order.
    """

    file: str
    number: int
    model_deployment: str
    requests: int
    tokens: int
    longest: int
    was_tried: bool
    public: int
    gated: int
    private: int
    judged: int = 0
    is_follow_up: bool = False

    @property
    def whole(self) -> Chunk:
        """The chunk with all its requests, as a slot takes it."""
        return Chunk(
            file=self.file,
            number=self.number,
            rows=range(self.requests),
            model_deployment=self.model_deployment,
            tokens=float(self.tokens),
            is_follow_up=self.is_follow_up,
        )

    def count(self, level: AccessLevel) -> int:
        """Its requests of a level."""
        return int(getattr(self, level.value))


def ordered_requests(
    ctx: Context,
    run_spec_ids: Sequence[str],
    recipients: InferenceTargets,
    deployments: Sequence[Deployment],
    at_most: int,
    judged: Frame | None = None,
) -> Frame:
    """The pending requests with their prompts, in partitions whose rows are in order.

    Those with the largest `max_tokens` come first, so that short ones fill the engine to the end;
    among equals, equal prefixes are together. Requests that failed before come last, so that they
    do not delay the others. With `judged`, rows of JudgedInstance, they are rows of JudgedRequest.
    """
    units = sorted(run_spec_ids)
    data = ctx.lake.rows(DATA_OF.replace("@units", literals(units)), DataOf)
    versions = sorted({row.data_version for row in data})
    planned = requests_of(ctx, units, recipients.stage, recipients.purpose)
    few = few_asked(ctx, units, recipients.stage, recipients.purpose)
    levelled = ctx.lake.query(
        LEVELLED,
        planned=planned,
        data=ctx.lake.frame(data, DataOf),
        instances=ctx.lake.read(
            "instances",
            one_of("data_version", versions),
            only=("data_version", "instance_id", "perturbation", "access_level"),
        ),
    )
    pending = pending_of(ctx, run_spec_ids, recipients, deployments, levelled)
    partitions, are_few = 1 + at_most // ROWS_OF_A_TASK, at_most <= BROADCAST_ROWS
    # The hash table has the rows without text: a sort of rows with text takes longer.
    join = "/*+ BROADCAST(w) */ " if are_few else "/*+ SHUFFLE_HASH(w) */ "
    parts = "" if are_few else f"/*+ REPARTITION({partitions}, prompt_id) */ "
    with_text = WITH_TEXT.replace("@join ", join).replace("@parts ", parts)
    ids = few.prompt_ids if few else ctx.ids_here("prompts", pending, "prompt_id")
    among = None if ids is None else one_of("prompt_id", ids, len(ids))
    rows = ctx.lake.query(with_text, pending=pending, prompts=ctx.lake.read("prompts", among))
    if judged is not None:
        rows = ctx.lake.query(WITH_JUDGED, rows=rows, judged=judged)
    # Judges' requests about one answer go to one partition; other text is shuffled once, by the
    # key of its join.
    key = "together" if recipients.purpose is Purpose.JUDGE else "prompt_id"
    return sorted_rows(rows, *ORDER_COLUMNS, partitions=partitions, by=(key,))


def chunks_of(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.Table]:
    """Rows of OrderedRequest in order as chunks, each of one deployment, all or none tried before.

    A chunk has `most` requests, or up to twice as many, so that requests with the same `together`
    stay in one chunk. A request that occurs twice (its prompt was rendered for two instances) is in
    it once.
    """
    parts: list[pa.RecordBatch] = []
    size, last = 0, None
    for batch in batches:
        start = 0
        for index, request in enumerate(_chunk_fields(batch)):
            is_twice = last is not None and last.request_id == request.request_id
            is_next = last is not None and not is_twice and _is_cut(last, request, size, most)
            if is_twice or is_next:
                parts.append(batch.slice(start, index - start))
                start = index + is_twice
            if is_next:
                yield pa.Table.from_batches(parts)
                parts, size = [], 0
            if not is_twice:
                size, last = size + 1, request
        parts.append(batch.slice(start))
    if size:
        yield pa.Table.from_batches(parts)


class _ChunkFields(NamedTuple):
    """The fields of a request that decide its chunk."""

    request_id: str
    model_deployment: str
    tries: int
    together: str


def _chunk_fields(batch: pa.RecordBatch) -> Iterator[_ChunkFields]:
    columns = (batch.column(name).to_pylist() for name in _ChunkFields._fields)
    return map(_ChunkFields, *columns)


def _is_cut(last: _ChunkFields, request: _ChunkFields, size: int, most: int) -> bool:
    """Whether a chunk of so many requests ends between two requests."""
    return (
        last.model_deployment != request.model_deployment
        or (last.tries > 0) != (request.tries > 0)
        or size >= 2 * most
        or (size >= most and last.together != request.together)
    )


def listed(chunk: pa.Table, file: str, number: int, *, is_follow_up: bool = False) -> OrderedChunk:
    """A chunk as the driver lists it."""
    levels = chunk["access_level"].to_pylist()
    longest = pc.max(pc.struct_field(chunk["decoding"], "max_tokens"))
    judged = pa.array([0])
    if "judged" in chunk.column_names:
        judged = pc.list_value_length(chunk["judged"])
    return OrderedChunk(
        file=file,
        number=number,
        model_deployment=chunk["model_deployment"][0].as_py(),
        requests=len(chunk),
        tokens=pc.sum(chunk["estimated_tokens"]).as_py(),
        longest=longest.as_py(),
        was_tried=chunk["tries"][0].as_py() > 0,
        public=levels.count(AccessLevel.PUBLIC),
        gated=levels.count(AccessLevel.GATED),
        private=levels.count(AccessLevel.PRIVATE),
        judged=pc.sum(judged).as_py() or 0,
        is_follow_up=is_follow_up,
    )


def in_order(chunks: Iterable[OrderedChunk]) -> list[OrderedChunk]:
    """Chunks as they are taken: those not tried before first, the longest first."""
    first = sorted(chunks, key=attrgetter("file", "number"))
    return sorted(first, key=lambda chunk: (chunk.was_tried, -chunk.longest))
