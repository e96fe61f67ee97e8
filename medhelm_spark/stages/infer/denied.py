"""Records the requests that the gate denied just before they were sent, in `policy_decisions`."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from medhelm_spark.domain.access import AccessLevel
from medhelm_spark.domain.deployment import UNKNOWN
from medhelm_spark.domain.policy import Policy, PolicyDecision
from medhelm_spark.domain.request import FailureKind, Purpose
from medhelm_spark.domain.stages import INFER
from medhelm_spark.lake.lake import new_write_id
from medhelm_spark.policy.policy import decide
from medhelm_spark.stages.context import Context, now
from medhelm_spark.stages.infer.throughput import AskedOutcome

DENIALS = replace(
    INFER,
    name=f"{INFER.name}/denied",
    reads=("requests", "request_results", "run_specs", "policy_decisions"),
    writes=("policy_decisions",),
)
"""Runs only after a job in which a request was denied."""

# The runs that have denied requests in a write.
DENIED = f"""
SELECT DISTINCT s.suite, s.name AS run_name, r.purpose, q.model_deployment, q.access_level
FROM {{request_results}} q
JOIN {{requests}} r ON r.request_id = q.request_id AND r.model_deployment = q.model_deployment
JOIN {{run_specs}} s ON s.run_spec_id = r.run_spec_id
WHERE q.write_id = 'WRITE_ID' AND q.failure = '{FailureKind.DENIED}'
"""
# The newest decision on each model and judge.
DECIDED = """
SELECT suite, model_deployment AS name, subject AS model, locality
FROM (SELECT *, row_number() OVER (
          PARTITION BY suite, model_deployment ORDER BY decided_at DESC) AS age
      FROM {policy_decisions} WHERE role IN ('model', 'judge')) d
WHERE age = 1
"""
ROLES: Mapping[Purpose, str] = {Purpose.EVALUATE: "model", Purpose.JUDGE: "judge"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """A deployment that was not sent a run's text of a level."""

    suite: str
    run_name: str
    purpose: Purpose
    model_deployment: str
    access_level: AccessLevel


class Recipient(Protocol):
    """What a decision names of a deployment."""

    @property
    def name(self) -> str:
        """The deployment's name."""

    @property
    def model(self) -> str:
        """Its model."""

    @property
    def locality(self) -> str | None:
        """Where it runs; None where nobody stated it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedRecipient:
    """A deployment as the newest decision on it names it."""

    suite: str
    name: str
    model: str
    locality: str | None


def decided_recipients(ctx: Context) -> dict[str, DecidedRecipient]:
    """The deployments of the suite by name, as `policy_decisions` has them."""
    rows = ctx.within(DENIALS).lake.rows(DECIDED, DecidedRecipient)
    return {row.name: row for row in rows if row.suite == ctx.suite}


def record_denied(
    ctx: Context,
    write_id: str,
    outcomes: Sequence[AskedOutcome],
    deployments: Mapping[str, Recipient],
    policy: Policy,
    purposes: Collection[Purpose] = tuple(Purpose),
) -> None:
    """Add a row to `policy_decisions` for each run and deployment with a denied request.

    A write may have denied requests of other deployments, which another call records. Counts
    requests with these `purposes`: judges' requests are planned after they joined an order.
    """
    if not any(outcome.failure == FailureKind.DENIED for outcome in outcomes):
        return
    ctx = ctx.within(DENIALS)
    denied = ctx.lake.rows(DENIED.replace("WRITE_ID", write_id), Denied)
    rows = [
        _decision(ctx, row, deployments[row.model_deployment], policy)
        for row in denied
        if row.suite == ctx.suite
        and row.purpose in purposes
        and row.model_deployment in deployments
    ]
    ctx.lake.append_rows("policy_decisions", rows, new_write_id())


def _decision(ctx: Context, row: Denied, deployment: Recipient, policy: Policy) -> PolicyDecision:
    decision = decide(policy, row.access_level, deployment.locality)
    return PolicyDecision(
        suite=ctx.suite,
        run_name=row.run_name,
        role=ROLES[row.purpose],
        subject=deployment.model,
        model_deployment=deployment.name,
        locality=deployment.locality or UNKNOWN,
        access_level=row.access_level,
        allowed=False,
        rule=f"held back before it was sent; {decision.rule}",
        policy_version=policy.version,
        decided_at=now(),
        run_by=ctx.user,
    )
