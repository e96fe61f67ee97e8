"""infer: requests not yet settled -> request_results, in durable waves.

The write of a wave is the only action that calls a model. Its commit is named after the requests
in it, so the same work committed twice is skipped by Delta whoever planned it; after a crash only
the open wave is asked again.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import FailureKind, Purpose, Request, RequestResult
from medhelm_spark.engines import factory_of
from medhelm_spark.engines.host import engine_for
from medhelm_spark.errors import EngineError
from medhelm_spark.governance.policy import gate_for
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.lease import lease
from medhelm_spark.lake.progress import Watch
from medhelm_spark.lake.rows import map_rows, rows_of
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.dealing import SLOT, dealt
from medhelm_spark.stages.decide import NEVER_ASKED
from medhelm_spark.stages.states import requests_of
from medhelm_spark.stages.waves import STAGE, record_wave

MAX_WAVE_ROWS = 200_000

# A set of kinds as a number: SQL has no cheap aggregate that gathers a set of texts.
BITS = {kind: 1 << place for place, kind in enumerate(FailureKind)}
_CASES = " ".join(f"WHEN '{kind.value}' THEN {bit}" for kind, bit in BITS.items())

# What has been tried per request, whatever became of it. No text is read.
TRIED = f"""
SELECT request_id, max(attempts) AS attempts, count(*) AS tries,
       bool_or(failure IS NULL) AS answered,
       bit_or(CASE failure {_CASES} ELSE 0 END) AS failures
FROM {{request_results}} GROUP BY request_id
"""

# Judges' requests about one answer are kept `together`: they begin with the same text, which an
# engine with a prefix cache then reads once. A prompt's id is a hash and would scatter them.
PENDING = f"""
SELECT r.request_id, r.prompt_id, r.model_deployment, r.decoding, r.access_level,
       r.estimated_tokens, d.tokens_per_second,
       CASE WHEN {{retry}} THEN 0 ELSE coalesce(t.attempts, 0) END AS attempts,
       coalesce(t.tries, 0) AS tries,
       min(CASE WHEN r.judged_request_id = '' THEN r.request_id ELSE r.judged_request_id END)
       AS together
FROM {{planned}} r JOIN {{askable}} d ON d.name = r.model_deployment
LEFT JOIN ({TRIED}) t ON t.request_id = r.request_id
WHERE t.request_id IS NULL OR (NOT t.answered AND
      ({{retry}} OR (t.failures & d.given_up = 0 AND t.attempts < d.max_attempts)))
GROUP BY ALL
"""

SLICE = """
SELECT * FROM (SELECT *,
        sum(estimated_tokens / tokens_per_second) OVER in_order AS seconds,
        row_number() OVER in_order AS place
    FROM {pending} WINDOW in_order AS (ORDER BY model_deployment, together, request_id
                                       ROWS UNBOUNDED PRECEDING))
WHERE place = 1 OR (place <= {rows} AND seconds <= {limit})
"""

WORK = """
SELECT model_deployment, count(*) AS requests,
       CAST(sum(estimated_tokens) AS BIGINT) AS tokens,
       CAST(sum(estimated_tokens / tokens_per_second) AS DOUBLE) AS seconds,
       CAST(bit_xor(xxhash64(request_id, tries)) AS STRING) AS fingerprint
FROM {wave} GROUP BY model_deployment
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Askable:
    """A deployment that pending requests may be sent to, as a row to join with.

    `given_up` are the kinds of failure that settle a request, as a sum of `BITS`.
    """

    name: str
    max_attempts: int
    given_up: int
    tokens_per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The size of a wave per deployment."""

    model_deployment: str
    requests: int
    tokens: int
    seconds: float
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Ask:
    """The function of this stage: requests in, results out, one engine at a time.

    Rows arrive sorted by deployment; a request that stands twice (its prompt was rendered for two
    instances) is asked once.
    """

    deployments: Mapping[str, Deployment]
    policy: Policy

    def __call__(self, requests: Iterable[Request]) -> Iterator[RequestResult]:
        gate = gate_for(self.policy, self.deployments)
        for name, group in groupby(requests, key=attrgetter("model_deployment")):
            engine = engine_for(self.deployments[name])
            yield from engine.answer(_once(group), gate)


def _once(requests: Iterable[Request]) -> Iterator[Request]:
    return (next(same) for _, same in groupby(requests, key=attrgetter("request_id")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Whom to ask, under which policy, and whether settled failures are reopened.

    `stage` planned the requests, `label` names the work to whoever watches.
    """

    deployments: Mapping[str, Deployment]
    policy: Policy
    purpose: Purpose = Purpose.EVALUATE
    stage: str = "plan"
    label: str = STAGE
    retry_failed: bool = False


def infer(ctx: Context, run_spec_ids: Sequence[str], asking: Asking) -> int:
    """Ask every unsettled request of these RunSpecs; returns how many requests were sent."""
    askable = [d for d in asking.deployments.values() if d.engine != NEVER_ASKED]
    if not askable or not run_spec_ids:
        return 0
    pending = pending_of(ctx, run_spec_ids, asking, askable)
    work = _work(ctx, pending)
    total = sum(part.requests for part in work)
    if not total:
        ctx.say(f"{asking.label}: nothing to ask, 0 model calls")
        return 0
    ctx.lake.ensure("request_results")
    with (
        lease(ctx.lake, ctx.suite, [part.model_deployment for part in work], ctx.holder),
        ctx.metered(asking.label, total) as watch,
    ):
        _waves(ctx, run_spec_ids, asking, work, watch)
    return total


def _waves(
    ctx: Context, run_spec_ids: Sequence[str], asking: Asking, work: Sequence[Work], watch: Watch
) -> None:
    """Ask engine by engine, wave by wave, until nothing is pending."""
    engines = {name: deployment.engine for name, deployment in asking.deployments.items()}
    for engine in sorted({engines[part.model_deployment] for part in work}):
        left = [part for part in work if engines[part.model_deployment] == engine]
        askable = [asking.deployments[part.model_deployment] for part in left]
        while left:
            pending = pending_of(ctx, run_spec_ids, asking, askable)
            if _fits(ctx, left):
                _ask(ctx, pending, asking, left, watch)
                break
            wave = _slice(ctx, pending)
            _ask(ctx, wave, asking, _work(ctx, wave), watch)
            before, left = left, _work(ctx, pending_of(ctx, run_spec_ids, asking, askable))
            if left == before:
                raise EngineError(f"engine {engine!r} returned no result for a whole wave.")


def _work(ctx: Context, wave: DataFrame) -> list[Work]:
    found = rows_of(ctx.lake.query(WORK, wave=wave), Work)
    return sorted(found, key=attrgetter("model_deployment"))


def _fits(ctx: Context, work: Sequence[Work]) -> bool:
    return (
        sum(part.seconds for part in work) <= ctx.wave_seconds
        and sum(part.requests for part in work) <= MAX_WAVE_ROWS
    )


def _slice(ctx: Context, rest: DataFrame) -> DataFrame:
    sql = SLICE.replace("{rows}", str(MAX_WAVE_ROWS)).replace("{limit}", str(ctx.wave_seconds))
    return ctx.lake.query(sql, pending=rest)


def _ask(ctx: Context, wave: DataFrame, asking: Asking, work: Sequence[Work], watch: Watch) -> None:
    deployments = {
        part.model_deployment: asking.deployments[part.model_deployment] for part in work
    }
    slots = slots_for(ctx, deployments.values())
    shared = {name: _share(deployment, slots) for name, deployment in deployments.items()}
    requests = _with_text(ctx, wave, slots)
    results = map_rows(requests, watch(Ask(shared, asking.policy)), Request, RequestResult)
    name = "|".join(
        sorted(f"{part.model_deployment}:{part.requests}:{part.fingerprint}" for part in work)
    )
    count = sum(part.requests for part in work)
    ctx.say(f"{asking.label}: requests {count:,}, asked of {', '.join(deployments)}")
    started_at, write_id = now(), new_write_id()
    ctx.lake.append("request_results", results, write_id, txn=(name, 1))
    record_wave(ctx, write_id, started_at, name, slots)


def _with_text(ctx: Context, wave: DataFrame, slots: int) -> DataFrame:
    """The wave's requests with their prompts, in one partition per slot.

    Those that may become longest come first, so that short ones fill the engine to the end; among
    equals, prefixes stand together.
    """
    prompts = ctx.lake.read("prompts").select("prompt_id", "messages", "text")
    rows = F.broadcast(dealt(ctx.lake, wave, slots)).join(prompts, "prompt_id")
    longest = F.col("decoding.max_tokens").desc()
    order = ("text", "messages", "prompt_id", "request_id")
    own = rows.repartition(slots, SLOT)
    ordered = own.sortWithinPartitions("model_deployment", longest, *order)
    return ordered.select(*Request.__dataclass_fields__)


def slots_for(ctx: Context, deployments: Iterable[Deployment]) -> int:
    """How many tasks may ask at once: one per slot for an engine that owns its machine or GPU."""
    if any(factory_of(deployment).exclusive for deployment in deployments):
        return ctx.slots
    return max(1, min(ctx.cores, *(deployment.max_concurrency for deployment in deployments)))


def _share(deployment: Deployment, slots: int) -> Deployment:
    """The deployment with its part of the concurrency that all tasks together may use."""
    return replace(deployment, max_concurrency=max(1, deployment.max_concurrency // slots))


def pending_of(
    ctx: Context, run_spec_ids: Sequence[str], asking: Asking, askable: Sequence[Deployment]
) -> DataFrame:
    """The requests of these RunSpecs that are not settled, each once, without text."""
    rows = [
        Askable(
            name=deployment.name,
            max_attempts=deployment.max_attempts,
            given_up=sum(BITS[kind] for kind in deployment.given_up),
            tokens_per_second=deployment.tokens_per_second or math.inf,
        )
        for deployment in askable
    ]
    planned = requests_of(ctx, run_spec_ids, asking.stage, asking.purpose)
    tried = ctx.lake.read("request_results").where(
        F.col("model_deployment").isin([row.name for row in rows])
    )
    sql = PENDING.replace("{retry}", "true" if asking.retry_failed else "false")
    return ctx.lake.query(
        sql,
        planned=planned,
        request_results=tried,
        askable=F.broadcast(ctx.lake.frame(rows, Askable)),
    )
