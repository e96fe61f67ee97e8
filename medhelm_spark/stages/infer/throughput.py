"""The throughput of each job of inference, in the table `runs`: by deployment and by executor.

Each record has a unit of its own, so all jobs stay readable: tokens per second, busy share and so
on are computed from sums over them, for MLflow and for the next estimate.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

from medhelm_spark.domain.run import RunRecord
from medhelm_spark.domain.stages import INFER
from medhelm_spark.stages.context import Context

EXECUTORS = replace(INFER, name=f"{INFER.name}/executor")
"""The records of single executors."""
FAILED = "failed:"

OUTCOMES = """
SELECT model_deployment, coalesce(executor, '') AS executor, failure, count(*) AS requests,
       CAST(coalesce(sum(prompt_tokens), 0) AS BIGINT) AS prompt_tokens,
       CAST(coalesce(sum(cached_tokens), 0) AS BIGINT) AS cached_tokens,
       CAST(coalesce(sum(completion_tokens), 0) AS BIGINT) AS completion_tokens,
       min(completed_at) AS first_at, max(completed_at) AS last_at,
       coalesce(max(CASE WHEN place = 1 THEN request_time END), 0.0) AS first_time,
       count(engine_start) AS starts, coalesce(sum(engine_start), 0.0) AS start_time
FROM (SELECT *, row_number() OVER (PARTITION BY model_deployment, executor, failure
                                   ORDER BY completed_at) AS place
      FROM {request_results} WHERE write_id = 'WRITE_ID')
GROUP BY model_deployment, executor, failure
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOutcome:
    """Results of one deployment and executor in a write that have the same outcome.

    The first result came `first_at`, after `first_time` seconds, and the last one `last_at`;
    `start_time` is a sum over `starts` engines, in seconds.
    """

    model_deployment: str
    executor: str
    failure: str | None
    requests: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    first_at: datetime
    last_at: datetime
    first_time: float
    starts: int
    start_time: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """The requests of a deployment (or of one of its executors) so far, and their time.

    Times are in seconds. `seconds` runs from a job's first request to its last answer,
    `busy_seconds` is the same summed over executors, and `slot_seconds` the time of all slots from
    the jobs' beginnings to their last commits.
    """

    requests: int = 0
    failures: Mapping[str, int]
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    busy_seconds: float = 0.0
    slot_seconds: float = 0.0
    starts: int = 0
    start_seconds: float = 0.0

    @property
    def tokens_per_second(self) -> float | None:
        """Prompt and completion tokens together, None where no time or no token was counted."""
        tokens = self.prompt_tokens + self.completion_tokens
        return tokens / self.seconds if tokens and self.seconds else None

    @property
    def busy_share(self) -> float | None:
        """The share of its slots' time with requests; the rest is starts and ends of engines."""
        return self.busy_seconds / self.slot_seconds if self.slot_seconds else None

    @property
    def prefix_hit_rate(self) -> float | None:
        """The share of the prompt tokens that the engine read from its cache."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None

    @property
    def mean_start(self) -> float | None:
        """How long an engine took to start."""
        return self.start_seconds / self.starts if self.starts else None


def counts_of(outcomes: Sequence[AskedOutcome]) -> dict[str, int]:
    """The outcomes of one deployment's job or of one executor in it, as `runs` stores them.

    The time runs from the first request to the last answer, without the start of the engine.
    """
    first = min(row.first_at - timedelta(seconds=row.first_time) for row in outcomes)
    last = max(row.last_at for row in outcomes)
    failures: Counter[str] = Counter()
    for row in outcomes:
        if row.failure:
            failures[FAILED + row.failure] += row.requests
    return {
        "requests": sum(row.requests for row in outcomes),
        **failures,
        "prompt_tokens": sum(row.prompt_tokens for row in outcomes),
        "cached_tokens": sum(row.cached_tokens for row in outcomes),
        "completion_tokens": sum(row.completion_tokens for row in outcomes),
        "milliseconds": round(1000 * (last - first).total_seconds()),
        "starts": sum(row.starts for row in outcomes),
        "start_milliseconds": round(1000 * sum(row.start_time for row in outcomes)),
    }


def counts_by_executor(
    outcomes: Iterable[AskedOutcome], slots: Mapping[str, int], seconds: Mapping[str, float]
) -> dict[tuple[str, str], dict[str, int]]:
    """Counts by (deployment, executor), and a deployment's total by (deployment, '').

    `slots` is each deployment's number of slots, `seconds` is how long its jobs took with their
    commits.
    """
    sums: dict[tuple[str, str], dict[str, int]] = {}
    order = attrgetter("model_deployment", "executor")
    rows = sorted(outcomes, key=order)
    for (name, executor), group in groupby(rows, key=order):
        counts = counts_of(list(group))
        slot_ms = round(1000 * seconds[name])
        busy = {"busy_milliseconds": counts["milliseconds"], "slot_milliseconds": slot_ms}
        sums[name, executor or "unknown"] = counts | busy
    for name, group in groupby(rows, key=attrgetter("model_deployment")):
        busy_ms = sum(
            total["milliseconds"] for (deployment, _), total in sums.items() if deployment == name
        )
        slot_ms = slots[name] * round(1000 * seconds[name])
        busy = {"busy_milliseconds": busy_ms, "slot_milliseconds": slot_ms}
        sums[name, ""] = counts_of(list(group)) | busy
    return sums


def outcomes_of(ctx: Context, write_id: str) -> list[AskedOutcome]:
    """The outcomes of the rows of a write."""
    return ctx.lake.rows(OUTCOMES.replace("WRITE_ID", write_id), AskedOutcome)


def record_asked(
    ctx: Context,
    write_id: str,
    started_at: datetime,
    slots: Mapping[str, int],
    seconds: Mapping[str, float],
) -> list[AskedOutcome]:
    """Record the outcomes of the rows of a write, for the deployments in `slots`.

    `seconds` is how long the jobs of each of these deployments took that added rows to the write.
    """
    outcomes = [row for row in outcomes_of(ctx, write_id) if row.model_deployment in slots]
    counts = counts_by_executor(outcomes, slots, seconds)
    for stage, is_whole in ((INFER, True), (EXECUTORS, False)):
        units = {
            "|".join(filter(None, (name, write_id, executor))): sums
            for (name, executor), sums in counts.items()
            if (executor == "") == is_whole
        }
        if units:
            ctx.record(stage, dict.fromkeys(units, write_id), write_id, started_at, units)
    return outcomes


def throughput(records: Iterable[RunRecord], suite: str | None = None) -> dict[str, Throughput]:
    """The throughput of jobs by deployment; of one suite, or of all."""
    return _sums(
        (record.unit_id.rpartition("|")[0], record.counts)
        for record in records
        if record.stage == INFER.name and suite in (None, record.suite)
    )


def by_executor(records: Iterable[RunRecord], deployment: str, suite: str) -> list[Throughput]:
    """The throughput of each executor of a deployment in a suite, in the order of their names."""
    sums = _sums(
        (record.unit_id.rpartition("|")[2], record.counts)
        for record in records
        if record.stage == EXECUTORS.name
        and record.suite == suite
        and record.unit_id.split("|")[:-2] == deployment.split("|")
    )
    return [sums[name] for name in sorted(sums)]


def _sums(records: Iterable[tuple[str, Mapping[str, int]]]) -> dict[str, Throughput]:
    sums: dict[str, Counter[str]] = {}
    for name, counts in records:
        sums.setdefault(name, Counter()).update(counts)
    return {name: _throughput(counts) for name, counts in sums.items()}


def _throughput(counts: Mapping[str, int]) -> Throughput:
    return Throughput(
        requests=counts["requests"],
        failures={
            key.removeprefix(FAILED): value
            for key, value in counts.items()
            if key.startswith(FAILED)
        },
        prompt_tokens=counts["prompt_tokens"],
        cached_tokens=counts["cached_tokens"],
        completion_tokens=counts["completion_tokens"],
        seconds=counts["milliseconds"] / 1000,
        busy_seconds=counts["busy_milliseconds"] / 1000,
        slot_seconds=counts["slot_milliseconds"] / 1000,
        starts=counts["starts"],
        start_seconds=counts["start_milliseconds"] / 1000,
    )
