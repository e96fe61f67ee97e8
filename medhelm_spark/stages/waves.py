"""What each wave of inference came to, kept in `runs`: requests, failures by kind, tokens, time.

A wave's record has the stage `infer` and a unit of its own, so all waves stay readable: tokens per
second of a deployment are summed over them, for MLflow and for the next estimate.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from medhelm_spark.domain.run import RunRecord
from medhelm_spark.stages.context import Context

STAGE = "infer"

OUTCOMES = """
SELECT model_deployment, failure, count(*) AS requests,
       CAST(coalesce(sum(prompt_tokens), 0) AS BIGINT) AS prompt_tokens,
       CAST(coalesce(sum(completion_tokens), 0) AS BIGINT) AS completion_tokens,
       min(completed_at) AS first_at, max(completed_at) AS last_at,
       coalesce(avg(request_time), 0.0) AS request_time
FROM {request_results} WHERE write_id = 'WRITE_ID' GROUP BY model_deployment, failure
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The results of one deployment in a wave that ended alike; `request_time` is a mean, in s."""

    model_deployment: str
    failure: str | None
    requests: int
    prompt_tokens: int
    completion_tokens: int
    first_at: datetime
    last_at: datetime
    request_time: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """What a deployment was asked in a suite so far, and how long that took, in seconds."""

    requests: int = 0
    failures: Mapping[str, int]
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    @property
    def tokens_per_second(self) -> float | None:
        """Prompt and completion tokens together, None where no time or no token was counted."""
        tokens = self.prompt_tokens + self.completion_tokens
        return tokens / self.seconds if tokens and self.seconds else None


def counts_of(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """The outcomes of one deployment's wave, as they stand in its record.

    The time runs from the first answer to the last and a mean request more: what an engine needed
    to start is not in it.
    """
    rows = list(outcomes)
    first, last = min(row.first_at for row in rows), max(row.last_at for row in rows)
    mean = sum(row.request_time * row.requests for row in rows) / sum(row.requests for row in rows)
    return {
        "requests": sum(row.requests for row in rows),
        **{f"failed:{row.failure}": row.requests for row in rows if row.failure},
        "prompt_tokens": sum(row.prompt_tokens for row in rows),
        "completion_tokens": sum(row.completion_tokens for row in rows),
        "milliseconds": round(1000 * ((last - first).total_seconds() + mean)),
    }


def record_wave(ctx: Context, write_id: str, started_at: datetime, fingerprint: str) -> None:
    """Note what the rows of a write came to; nothing where another driver had written them."""
    found = ctx.lake.rows(OUTCOMES.replace("WRITE_ID", write_id), Outcome)
    names = sorted({row.model_deployment for row in found})
    units = {name: f"{name}|{write_id}" for name in names}
    if units:
        counts = {
            unit: counts_of(row for row in found if row.model_deployment == name)
            for name, unit in units.items()
        }
        ctx.record(STAGE, dict.fromkeys(counts, fingerprint), write_id, started_at, counts)


def throughput(records: Iterable[RunRecord], suite: str | None = None) -> dict[str, Throughput]:
    """What waves came to, by deployment; of one suite, or of all."""
    sums: dict[str, Counter[str]] = {}
    for record in records:
        if record.stage == STAGE and suite in (None, record.suite):
            name = record.unit_id.rpartition("|")[0]
            sums.setdefault(name, Counter()).update(record.counts)
    return {
        name: Throughput(
            requests=counts["requests"],
            failures={
                key.removeprefix("failed:"): value
                for key, value in counts.items()
                if key.startswith("failed:")
            },
            prompt_tokens=counts["prompt_tokens"],
            completion_tokens=counts["completion_tokens"],
            seconds=counts["milliseconds"] / 1000,
        )
        for name, counts in sums.items()
    }
