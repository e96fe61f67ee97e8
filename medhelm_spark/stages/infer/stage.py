"""infer: requests not yet settled -> request_results, in durable waves.

The write of a wave is the only action that calls a model, and it goes to a place of its own: what
was answered is committed from there, so that no other writer's commit can cost it (`lake.staging`).
After a crash only the open wave is asked again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.cluster import Slots
from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import FailureKind, Request, RequestResult
from medhelm_spark.domain.stages import INFER
from medhelm_spark.engines import Gate, factory_of
from medhelm_spark.engines.engine_pool import engine_for
from medhelm_spark.engines.retry import Asked, not_set_up, until_fault, until_outage
from medhelm_spark.errors import EngineError, MedhelmSparkError, OutageError, SetupError
from medhelm_spark.lake.condition import one_of
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.lake.lease import LeaseHandle, lease
from medhelm_spark.lake.literals import literals
from medhelm_spark.lake.progress import Watch
from medhelm_spark.lake.rows import map_rows, rows_of
from medhelm_spark.lake.session import node_addresses
from medhelm_spark.lake.staging import staged_name
from medhelm_spark.policy.gate import gate_for
from medhelm_spark.policy.levels import level_sql, strictness_sql
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.infer.capacity import capacity
from medhelm_spark.stages.infer.committed import CommittedAnswers, report_on_interrupt
from medhelm_spark.stages.infer.denied import record_denied
from medhelm_spark.stages.infer.dispatch_log import record_begun
from medhelm_spark.stages.infer.outage import (
    cut_short,
    failures_in_a_row,
    is_rejected,
    left_over,
    outage,
)
from medhelm_spark.stages.infer.pending import (
    InferenceTargets,
    RequestCounts,
    pending_of,
    tallies_of,
)
from medhelm_spark.stages.infer.recovery import commit_interrupted
from medhelm_spark.stages.infer.slots import SLOT, assign_slots
from medhelm_spark.stages.infer.speeds import FIRST_WAVE, speeds_of
from medhelm_spark.stages.infer.waves import WaveOutcome, asked_in, record_wave
from medhelm_spark.stages.states import DataOf, few_asked, prompts_of, requests_of

MAX_WAVE_ROWS = 200_000

# What Spark says of a task whose process ended each time that it was tried.
DEATHS = ("Python worker exited unexpectedly", "ExecutorLostFailure")

PRIVATE = AccessLevel.PRIVATE.strictness

# What failed before comes last: requests that always fail must not keep a run from the others.
SLICE = """
SELECT * FROM (SELECT *,
        sum(estimated_tokens / tokens_per_second) OVER in_order AS seconds,
        row_number() OVER in_order AS place
    FROM {pending} WINDOW in_order AS (
        ORDER BY model_deployment, tries > 0, together, request_id ROWS UNBOUNDED PRECEDING))
WHERE place = 1 OR (place <= {rows} AND seconds <= {limit})
"""

WORK = """
SELECT model_deployment, count(*) AS requests,
       CAST(sum(estimated_tokens) AS BIGINT) AS tokens,
       CAST(sum(estimated_tokens / tokens_per_second) AS DOUBLE) AS seconds,
       CAST(bit_xor(xxhash64(request_id, tries)) AS STRING) AS fingerprint
FROM {wave} GROUP BY model_deployment
"""


DATA_OF = """
SELECT DISTINCT run_spec_id, run_spec['data_version'] AS data_version FROM {run_specs}
WHERE run_spec_id IN (@units)
"""

# What is sent takes the strictest level of the request, its prompt, and every instance that asks
# it; an instance that is not there makes it private.
SOURCE_LEVELS = f"""
SELECT q.request_id, max({strictness_sql("i.access_level")}) AS strictness
FROM {{planned}} q
LEFT JOIN {{data}} s ON s.run_spec_id = q.run_spec_id
LEFT JOIN {{instances}} i ON i.data_version = s.data_version AND i.instance_id = q.instance_id
 AND i.perturbation = q.perturbation
GROUP BY q.request_id
"""

_WITH_SOURCE = f"greatest({strictness_sql('w.access_level')}, coalesce(l.strictness, {PRIVATE}))"
LEVELLED = f"""
SELECT w.* EXCEPT (access_level), {level_sql(_WITH_SOURCE)} AS access_level
FROM {{assigned}} w LEFT JOIN {{levels}} l ON l.request_id = w.request_id
"""

_WITH_PROMPT = f"greatest({strictness_sql('w.access_level')}, {strictness_sql('p.access_level')})"
WITH_TEXT = f"""
SELECT w.* EXCEPT (access_level), p.messages, p.text, {level_sql(_WITH_PROMPT)} AS access_level
FROM {{levelled}} w JOIN {{prompts}} p ON p.prompt_id = w.prompt_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The size of a wave per deployment."""

    model_deployment: str
    requests: int
    tokens: int
    seconds: float
    fingerprint: str


@dataclass(frozen=True, slots=True)
class AskEngines:
    """The function of this stage: requests in, results out, one engine at a time.

    Rows arrive sorted by deployment; a request that stands twice (its prompt was rendered for two
    instances) is asked once. After an outage the rest of a deployment's requests is not asked.
    `nodes` are the addresses of this job's machines.
    """

    deployments: Mapping[str, Deployment]
    policy: Policy
    nodes: tuple[str, ...] = ()

    def __call__(self, requests: Iterable[Request]) -> Iterator[RequestResult]:
        routes = {name: factory_of(each).route(each) for name, each in self.deployments.items()}
        gate = gate_for(self.policy, self.deployments, routes, self.nodes)
        for name, group in groupby(requests, key=attrgetter("model_deployment")):
            deployment = self.deployments[name]
            place = factory_of(deployment).destination(deployment)
            results = _results(deployment, Asked(_once(group)), gate)
            for result in until_outage(results, deployment.failures_in_a_row):
                if result.failure is not FailureKind.DENIED:  # a denied request went nowhere
                    result = replace(result, destination=place, locality=deployment.locality)
                yield result


def _results(deployment: Deployment, asked: Asked, gate: Gate) -> Iterator[RequestResult]:
    """What a deployment's engine gives; a rejected result where this machine cannot build it.

    An error would end the task: Spark would try it again to no avail, and print its traces. Only an
    engine that fills its slot raises one, for a fresh process may be able to load it.
    """
    try:
        engine = engine_for(deployment)
    except SetupError as error:
        if factory_of(deployment).exclusive:
            raise
        yield not_set_up(next(iter(asked)), error, deployment.engine)
        return
    yield from until_fault(engine.answer(asked, gate), asked, engine.fingerprint)


def _once(requests: Iterable[Request]) -> Iterator[Request]:
    return (next(same) for _, same in groupby(requests, key=attrgetter("request_id")))


def infer(ctx: Context, run_spec_ids: Sequence[str], recipients: InferenceTargets) -> int:
    """Ask every unsettled request of these RunSpecs; returns how many requests were planned to be.

    Raises:
        OutageError: a deployment gave no answers; the others were asked to the end.
    """
    to_infer, ctx = recipients.to_infer, ctx.within(INFER)
    if not to_infer or not run_spec_ids:
        return 0
    standing = tallies_of(ctx, run_spec_ids, recipients)
    is_open = any(
        tally.is_open(retry_failed=recipients.retry_failed) for tally in standing.values()
    )
    waves = _Waves(ctx, run_spec_ids, recipients)
    work = waves.work(to_infer) if is_open else []
    total = sum(part.requests for part in work)
    down: set[str] = set()
    if total:
        ctx.lake.ensure("request_results")
        with (
            report_on_interrupt(recipients.label, total, waves.kept),
            lease(
                ctx.lake,
                ctx.suite,
                [part.model_deployment for part in work],
                ctx.holder,
                wave_seconds=ctx.wave_seconds,
                say=ctx.say,
            ) as held,
            ctx.metered(recipients.label, total) as watch,
        ):
            if commit_interrupted(ctx, held.others(), recipients.deployments, recipients.policy):
                work = waves.work(to_infer)
            down = waves.ask(work, held, watch)
        standing = tallies_of(ctx, run_spec_ids, recipients)
    _tell(ctx, recipients, total, down, standing)
    return total


def _tell(
    ctx: Context,
    recipients: InferenceTargets,
    total: int,
    down: set[str],
    tallies: Mapping[str, RequestCounts],
) -> None:
    """Say what stays without an answer; raises where a deployment gives none."""
    down |= {name for name, tally in tallies.items() if tally.is_silent or is_rejected(tally)}
    if down:
        names = {name: _place(recipients.deployments[name]) for name in down}
        raise OutageError(f"{recipients.label}: {outage(names, tallies)}.")
    rest = left_over(tallies.values())
    if not total:
        said = "nothing to ask, 0 model calls"
        ctx.say(f"{recipients.label}: {said}; {rest}" if rest else f"{recipients.label}: {said}")
    elif rest:
        ctx.say(f"{recipients.label}: {rest}")


def _place(deployment: Deployment) -> str:
    place = factory_of(deployment).place(deployment)
    return f"deployment {deployment.name!r}" + (f" at {place}" if place else "")


class _Waves:
    """The waves of one invocation; their write ids tell its own tries from earlier ones."""

    def __init__(
        self, ctx: Context, run_spec_ids: Sequence[str], recipients: InferenceTargets
    ) -> None:
        self._ctx, self._units, self._recipients = ctx, run_spec_ids, recipients
        self._speeds = speeds_of(recipients.to_infer, ctx.ledger.last_waves())
        self.kept = CommittedAnswers()
        self._writes: list[str] = []
        self._in_a_row: dict[str, int] = {}

    def work(self, deployments: Sequence[Deployment]) -> list[Work]:
        """What is still to be asked of these deployments."""
        return _work(self._ctx, self._pending(deployments)) if deployments else []

    def ask(self, work: Sequence[Work], held: LeaseHandle, watch: Watch) -> set[str]:
        """Ask engine by engine until nothing is pending; returns the deployments in an outage.

        An engine that fills its slot cannot stand beside another one: each has waves of its own.
        """
        down: set[str] = set()
        groups: dict[str, list[Work]] = {}
        for part in work:
            deployment = self._recipients.deployments[part.model_deployment]
            is_exclusive = factory_of(deployment).exclusive
            group = f"{deployment.engine} {deployment.name}" if is_exclusive else deployment.engine
            groups.setdefault(group, []).append(part)
        for _, left in sorted(groups.items()):
            down |= self._ask_group(left, held, watch)
        return down

    def _ask_group(self, left: list[Work], held: LeaseHandle, watch: Watch) -> set[str]:
        """Ask wave by wave; a deployment in an outage is left out of the waves to come."""
        down: set[str] = set()
        while left:
            held.check()
            parts = [self._recipients.deployments[part.model_deployment] for part in left]
            pending = self._pending(parts)
            if _fits(self._ctx, left):
                return down | self._wave(pending, left, watch)
            is_known = self._speeds.is_known(part.name for part in parts)
            seconds = self._ctx.wave_seconds * (1.0 if is_known else FIRST_WAVE)
            wave = _slice(self._ctx, pending, seconds)
            stopped = self._wave(wave, _work(self._ctx, wave), watch)
            down |= stopped
            before = left
            left = self.work([part for part in parts if part.name not in down])
            if [part.fingerprint for part in left] == [part.fingerprint for part in before]:
                engine = parts[0].engine
                raise EngineError(f"engine {engine!r} returned no result for a whole wave.")
        return down

    def _pending(self, deployments: Sequence[Deployment]) -> DataFrame:
        slots = capacity(self._ctx, deployments).count
        speeds = {each.name: slots * self._speeds.of(each.name) for each in deployments}
        return pending_of(
            self._ctx, self._units, self._recipients, deployments, speeds, self._writes
        )

    def _wave(self, wave: DataFrame, work: Sequence[Work], watch: Watch) -> set[str]:
        """Ask a wave and commit it; returns the deployments that it stopped asking."""
        write_id = new_write_id()
        room = capacity(
            self._ctx, [self._recipients.deployments[part.model_deployment] for part in work]
        )
        outcomes = _ask(
            self._ctx,
            wave,
            self._units,
            self._recipients,
            work,
            write_id,
            room,
            watch,
            self.kept,
        )
        self._writes.append(write_id)
        tokens = {part.model_deployment: part.tokens / part.requests for part in work}
        for name, (estimated, seconds) in asked_in(outcomes, room.count, tokens).items():
            self._speeds.see(name, estimated, seconds)
        self._in_a_row = failures_in_a_row(self._in_a_row, outcomes)
        known = self._recipients.deployments
        in_a_row = self._in_a_row.items()
        many = {name for name, count in in_a_row if count >= known[name].failures_in_a_row}
        stopped = cut_short({part.model_deployment: part.requests for part in work}, outcomes)
        return stopped | many


def _work(ctx: Context, wave: DataFrame) -> list[Work]:
    work = rows_of(ctx.lake.query(WORK, wave=wave), Work)
    return sorted(work, key=attrgetter("model_deployment"))


def _fits(ctx: Context, work: Sequence[Work]) -> bool:
    return (
        sum(part.seconds for part in work) <= ctx.wave_seconds
        and sum(part.requests for part in work) <= MAX_WAVE_ROWS
    )


def _slice(ctx: Context, rest: DataFrame, seconds: float) -> DataFrame:
    sql = SLICE.replace("{rows}", str(MAX_WAVE_ROWS)).replace("{limit}", str(seconds))
    return ctx.lake.query(sql, pending=rest)


def _ask(
    ctx: Context,
    wave: DataFrame,
    run_spec_ids: Sequence[str],
    recipients: InferenceTargets,
    work: Sequence[Work],
    write_id: str,
    room: Slots,
    watch: Watch,
    kept: CommittedAnswers,
) -> list[WaveOutcome]:
    deployments = {
        part.model_deployment: recipients.deployments[part.model_deployment] for part in work
    }
    slots = room.count
    shared = {name: _share(deployment, slots) for name, deployment in deployments.items()}
    requests = _with_text(ctx, wave, run_spec_ids, recipients, slots)
    record_begun(ctx, write_id, requests, deployments)
    asking = AskEngines(shared, recipients.policy, node_addresses(ctx.lake.spark))
    results = map_rows(requests, watch(asking), Request, RequestResult, room.needs)
    name = "|".join(
        sorted(f"{part.model_deployment}:{part.requests}:{part.fingerprint}" for part in work)
    )
    count = sum(part.requests for part in work)
    ctx.say(f"{recipients.label}: requests {count:,}, asked of {', '.join(deployments)}")
    started_at = now()
    staged = staged_name(ctx.suite, ctx.holder, write_id)
    kept.begin(count)
    with _deaths_as_sentence(recipients.label, deployments.values()):
        ctx.lake.append_once("request_results", results, write_id, staged=staged, at_most=count)
    kept.commit()
    tokens = {part.model_deployment: part.tokens / part.requests for part in work}
    outcomes = record_wave(ctx, write_id, started_at, name, slots, tokens)
    record_denied(ctx, write_id, outcomes, deployments, recipients.policy)
    return outcomes


@contextmanager
def _deaths_as_sentence(label: str, deployments: Iterable[Deployment]) -> Iterator[None]:
    """Turn Spark's report of a process that died over and over into one sentence."""
    try:
        yield
    except MedhelmSparkError:
        raise
    except Exception as error:  # a failed write reaches Python as the JVM's own
        if not any(death in str(error) for death in DEATHS):
            raise
        names = ", ".join(map(_place, deployments))
        raise OutageError(
            f"{label}: {names}: the process that asked died each time it was tried; earlier waves "
            "are kept, and nothing of this one."
        ) from None


def _with_text(
    ctx: Context,
    wave: DataFrame,
    run_spec_ids: Sequence[str],
    recipients: InferenceTargets,
    slots: int,
) -> DataFrame:
    """The wave's requests with their prompts, in one partition per slot.

    Those that may become longest come first, so that short ones fill the engine to the end; among
    equals, prefixes stand together. What failed before comes last.
    """
    units = sorted(run_spec_ids)
    data = ctx.lake.rows(DATA_OF.replace("@units", literals(units)), DataOf)
    versions = sorted({row.data_version for row in data})
    planned = requests_of(ctx, units, recipients.stage, recipients.purpose)
    few = few_asked(ctx, units, recipients.stage, recipients.purpose)
    levels = ctx.lake.query(
        SOURCE_LEVELS,
        planned=planned,
        data=F.broadcast(ctx.lake.frame(data, DataOf)),
        instances=ctx.lake.read("instances", one_of("data_version", versions)),
    )
    # Text joins last and is shuffled once, to its slot.
    levelled = ctx.lake.query(LEVELLED, assigned=assign_slots(ctx.lake, wave, slots), levels=levels)
    prompts = prompts_of(ctx, planned, few)
    rows = ctx.lake.query(WITH_TEXT, levelled=F.broadcast(levelled), prompts=prompts)
    longest = F.col("decoding.max_tokens").desc()
    order = ("text", "messages", "prompt_id", "request_id")
    own = rows.repartition(slots, SLOT)
    failed_before = F.col("tries") > 0
    ordered = own.sortWithinPartitions("model_deployment", failed_before, longest, *order)
    return ordered.select(*Request.__dataclass_fields__)


def _share(deployment: Deployment, slots: int) -> Deployment:
    """The deployment with its part of the concurrency that all tasks together may use."""
    return replace(deployment, max_concurrency=max(1, deployment.max_concurrency // slots))
