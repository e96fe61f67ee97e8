"""Which requests are settled, which are still to be sent, and their outcomes so far.

A request is settled by an answer, or by a kind of failure that its deployment does not retry: the
latter until --retry-failed. Every other failure is infrastructure's: each invocation asks again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from medhelm_spark.domain.deployment import Deployment
from medhelm_spark.domain.policy import Policy
from medhelm_spark.domain.request import FailureKind, Purpose
from medhelm_spark.domain.stages import INFER, PLAN, Stage
from medhelm_spark.engines import IMPORTED
from medhelm_spark.engines.engine import EarlyStart
from medhelm_spark.lake.rows import Frame
from medhelm_spark.policy.levels import level_sql, strictness_sql
from medhelm_spark.stages.context import Context
from medhelm_spark.stages.states import few_asked, planned_sql, requests_of, results_sql

# A set of kinds as a number: SQL has no cheap aggregate that gathers a set of texts.
BITS = {kind: 1 << index for index, kind in enumerate(FailureKind)}
_CASES = " ".join(f"WHEN '{kind.value}' THEN {bit}" for kind, bit in BITS.items())
_BIT = f"CASE failure {_CASES} ELSE 0 END"

# The results of each request so far. No text is read.
TRIED = f"""
SELECT request_id, count(*) AS tries, bool_or(failure IS NULL) AS answered,
       bit_or({_BIT}) AS failures, bool_or(write_id = '@asked_in') AS is_asked
FROM {{request_results}} GROUP BY request_id
"""

# Judges' requests about one answer stay `together`: they begin with the same text, which an engine
# with a prefix cache then reads once. A prompt's id is a hash and would scatter them. Others are
# alone; an aggregate of text would make Spark sort them.
TOGETHER = {Purpose.EVALUATE: "r.request_id", Purpose.JUDGE: "min(r.judged_request_id)"}

PENDING = f"""
SELECT r.request_id, r.prompt_id, r.model_deployment, r.decoding,
       {level_sql(f"max({strictness_sql('r.access_level')})")} AS access_level,
       r.estimated_tokens, coalesce(t.tries, 0) AS tries,
       @together AS together
FROM {{planned}} r JOIN {{to_infer}} d ON d.name = r.model_deployment
LEFT JOIN ({TRIED}) t ON t.request_id = r.request_id
WHERE t.request_id IS NULL
   OR (NOT t.answered AND NOT t.is_asked AND ({{retry}} OR t.failures & d.not_retried = 0))
GROUP BY ALL
"""

# Alike in Spark SQL and DataFusion.
STANDING = f"""
SELECT r.model_deployment, coalesce(t.answered, false) AS answered,
       coalesce(t.failures, 0) AS failures, t.last_failure, count(*) AS requests,
       max(t.reason) AS reason
FROM (SELECT DISTINCT request_id, model_deployment FROM (@planned) p) r
LEFT JOIN (
    SELECT request_id, bool_or(failure IS NULL) AS answered, bit_or({_BIT}) AS failures,
           max(CASE WHEN age = 1 THEN failure END) AS last_failure,
           max(CASE WHEN age = 1 THEN reason END) AS reason
    FROM (SELECT request_id, failure, reason, row_number() OVER (
              PARTITION BY request_id ORDER BY completed_at DESC, write_id) AS age
          FROM (@results) a)
    GROUP BY request_id) t ON t.request_id = r.request_id
GROUP BY r.model_deployment, coalesce(t.answered, false), coalesce(t.failures, 0), t.last_failure
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceTargets:
    """The deployments to ask, the policy, and whether settled failures are asked again.

    `stage` planned the requests, `label` names the work in progress messages. Requests of the order
    `asked_in` are not sent again; `down` are deployments that stopped answering there. `started` is
    an engine of one of them that is starting.
    """

    deployments: Mapping[str, Deployment]
    policy: Policy
    purpose: Purpose = Purpose.EVALUATE
    stage: Stage = PLAN
    label: str = INFER.name
    retry_failed: bool = False
    asked_in: str = ""
    down: frozenset[str] = frozenset()
    started: EarlyStart | None = None

    @property
    def to_infer(self) -> list[Deployment]:
        """The deployments that can be asked; the others only have imported answers."""
        return [
            deployment for deployment in self.deployments.values() if deployment.engine != IMPORTED
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceDeployment:
    """A deployment that pending requests may be sent to, as a row to join with.

    `not_retried` are the kinds of failure that settle a request, as a sum of `BITS`.
    """

    name: str
    not_retried: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestStates:
    """Requests of one deployment with the same outcome: `failures` is a sum of `BITS`.

    `reason` is that of the last failure of one of them.
    """

    model_deployment: str
    answered: bool
    failures: int
    last_failure: FailureKind | None
    requests: int
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestCounts:
    """The outcomes of a deployment's requests, in numbers of requests.

    `settled` failed for good, `failed` will be sent again by the next run; both by kind. `reasons`
    has a known reason of each kind.
    """

    answered: int = 0
    not_asked: int = 0
    settled: Mapping[FailureKind, int] = field(default_factory=dict)
    failed: Mapping[FailureKind, int] = field(default_factory=dict)
    reasons: Mapping[FailureKind, str] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        """All of them."""
        failures = sum(self.settled.values()) + sum(self.failed.values())
        return self.answered + self.not_asked + failures

    @property
    def coverage(self) -> float:
        """The share that has an answer, 0 to 1; 1 where there are no requests."""
        return self.answered / self.requests if self.requests else 1.0

    def is_open(self, *, retry_failed: bool) -> bool:
        """Whether the next run may send some of them."""
        return bool(self.not_asked or self.failed or (retry_failed and self.settled))

    @property
    def is_silent(self) -> bool:
        """Whether all sent requests failed for infrastructure: no reply ever came."""
        reply = self.answered or any(kind is not FailureKind.DENIED for kind in self.settled)
        return bool(self.failed) and not reply


def pending_of(
    ctx: Context,
    run_spec_ids: Sequence[str],
    recipients: InferenceTargets,
    to_infer: Sequence[Deployment],
    levelled: Frame | None = None,
) -> Frame:
    """The requests of these RunSpecs that are not settled, each once, without text.

    `levelled` are the planned requests with other levels.
    """
    rows = [
        InferenceDeployment(
            name=deployment.name, not_retried=sum(BITS[kind] for kind in deployment.not_retried)
        )
        for deployment in to_infer
    ]
    planned = requests_of(ctx, run_spec_ids, recipients.stage, recipients.purpose)
    few = few_asked(ctx, run_spec_ids, recipients.stage, recipients.purpose)
    tried = ctx.tried([row.name for row in rows], planned, few.request_ids if few else None)
    return ctx.lake.query(
        PENDING.replace("{retry}", "true" if recipients.retry_failed else "false")
        .replace("@asked_in", recipients.asked_in)
        .replace("@together", TOGETHER[recipients.purpose]),
        planned=planned if levelled is None else levelled,
        request_results=tried,
        to_infer=ctx.lake.frame(rows, InferenceDeployment),
    )


def tallies_of(
    ctx: Context, run_spec_ids: Sequence[str], recipients: InferenceTargets
) -> dict[str, RequestCounts]:
    """The outcomes of the requests of these RunSpecs, by deployment that can be asked."""
    not_retried = {deployment.name: deployment.not_retried for deployment in recipients.to_infer}
    if not not_retried or not run_spec_ids:
        return {}
    stage, purpose = recipients.stage, recipients.purpose
    sql = STANDING.replace("@planned", planned_sql(ctx, run_spec_ids, stage, purpose))
    results = results_sql(ctx, run_spec_ids, stage, purpose, not_retried)
    rows = ctx.lake.rows(sql.replace("@results", results), RequestStates)
    return tallies((row for row in rows if row.model_deployment in not_retried), not_retried)


def tallies(
    rows: Iterable[RequestStates], not_retried: Mapping[str, frozenset[FailureKind]]
) -> dict[str, RequestCounts]:
    """Counts by deployment; failures by the kind that is not retried, else by the last kind."""
    by_name: dict[str, list[RequestStates]] = {}
    for row in rows:
        by_name.setdefault(row.model_deployment, []).append(row)
    return {name: _tally(part, not_retried[name]) for name, part in by_name.items()}


def _tally(rows: Iterable[RequestStates], not_retried: frozenset[FailureKind]) -> RequestCounts:
    counts: Counter[str] = Counter()
    settled: Counter[FailureKind] = Counter()
    failed: Counter[FailureKind] = Counter()
    reasons: dict[FailureKind, str] = {}
    for row in rows:
        final = [kind for kind in FailureKind if kind in not_retried and row.failures & BITS[kind]]
        if row.answered or row.last_failure is None:
            counts["answered" if row.answered else "not_asked"] += row.requests
        elif final:
            settled[final[0]] += row.requests
        else:
            failed[row.last_failure] += row.requests
        if row.last_failure and row.reason and not row.answered:
            reasons[row.last_failure] = max(reasons.get(row.last_failure, ""), row.reason)
    return RequestCounts(
        answered=counts["answered"],
        not_asked=counts["not_asked"],
        settled=dict(settled),
        failed=dict(failed),
        reasons=reasons,
    )
